"""Tables and indexes that can be used only some time after their creation."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from partita.errors import TableInUse, TableNotFound, ValidationFailed
from partita.runtime import Clock
from partita.store import (
    CreateIndex,
    CreateTable,
    CreateVectorIndex,
    DeleteIndex,
    DeleteTable,
    DeleteVectorIndex,
    QueryTable,
    Request,
    ScanTable,
    SearchVectors,
    SetStream,
    SetTimeToLive,
    TableDescription,
)
from partita.testing.realism._parts import tables_of

_CHANGES = (
    DeleteTable,
    CreateIndex,
    DeleteIndex,
    CreateVectorIndex,
    DeleteVectorIndex,
    SetStream,
    SetTimeToLive,
)


class Activation:
    """Records when created tables and indexes become usable."""

    def __init__(self, seconds: float, clock: Clock) -> None:
        self._seconds = seconds
        self._clock = clock
        self._tables: dict[str, float] = {}
        self._indexes: dict[tuple[str, str], float] = {}

    def refuse(self, request: Request[Any]) -> None:
        """Refuse to use or change a table or index that is being created.

        Raises:
            TableNotFound: a request for items of such a table. TableInUse: a change of such a table.
            ValidationFailed: a read of an index that is being filled.
        """
        for table in tables_of(request):
            if self._is_waiting(self._tables, table):
                raise TableNotFound(f"Requested resource not found: Table: {table} not found")
        index = request.index if isinstance(request, QueryTable | ScanTable | SearchVectors) else None
        if index is not None and self._is_waiting(self._indexes, (next(tables_of(request)), index)):
            if isinstance(request, SearchVectors):
                raise ValidationFailed(f"Cannot search backfilling vector index: {index}")
            raise ValidationFailed(f"Cannot read from backfilling global secondary index: {index}")
        if isinstance(request, _CHANGES):
            self._refuse_change(request.table)

    def _refuse_change(self, table: str) -> None:
        in_use = "Attempt to change a resource which is still in use: Table is being"
        if self._is_waiting(self._tables, table):
            raise TableInUse(f"{in_use} created: {table}")
        if any(name == table and self._is_waiting(self._indexes, (name, index)) for name, index in self._indexes):
            raise TableInUse(f"{in_use} updated: {table}")

    def _is_waiting(self, known: dict[Any, float], name: Any) -> bool:
        ready = known.get(name)
        if ready is None or ready <= self._clock():
            known.pop(name, None)
            return False
        return True

    def made(self, request: Request[Any]) -> None:
        """Record the creation or deletion of a table or index."""
        ready = self._clock() + self._seconds
        if isinstance(request, CreateTable):
            self._tables[request.schema.name] = ready
        elif isinstance(request, CreateIndex | CreateVectorIndex):
            self._indexes[request.table, request.index.name] = ready
        elif isinstance(request, DeleteTable):
            self._tables.pop(request.table, None)

    def described(self, description: TableDescription) -> TableDescription:
        """The description, with the status of tables and indexes that are not usable yet."""
        name = description.schema.name
        waiting = [index for table, index in list(self._indexes) if table == name]
        building = tuple(index for index in waiting if self._is_waiting(self._indexes, (name, index)))
        if self._is_waiting(self._tables, name):
            schema = description.schema
            local = {index.name for index in schema.indexes if index.local}
            whole = tuple(name for name in schema.index_names if name not in local)
            return replace(description, status="CREATING", building=whole)
        return replace(description, status="UPDATING" if building else "ACTIVE", building=building)
