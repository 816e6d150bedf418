"""The lake: a log of all changes of a table, and the current items of each entity, as Delta tables.

    <place>/<table>/changes/             every change, never rewritten, by entity and date
    <place>/<table>/current/<entity>/    one row per item, including removed ones

A batch is written to the current tables first and to the log last. The log's positions are those of the lake: if the
process is killed in between, the batch is read again, and the tables that have it already skip it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

import pyarrow as pa
from msgspec import Struct

from partita.change._change import ItemChange
from partita.change._sink import Advance, further
from partita.change._snapshot import Snapshot
from partita.change._stream import ChangeStream, Lag
from partita.change.lake._columns import Column, Values, columns_of, fitted
from partita.change.lake._delta import CommitConflict, LakeTable, TableState, reached_in, retry_commit
from partita.change.lake._erasure import LakeErasure, OwnedRows, erase_rows, pending
from partita.change.lake._location import LakeLocation, Place, location_of
from partita.change.lake._rows import CURRENT, LOG, Own, Row, batch_of, row_of, schema_of_own
from partita.errors import LeaseLost
from partita.model import EntitySchema, Table, snake
from partita.runtime import chunks
from partita.store import Store

LOG_FOLDER: Final = "changes"
CURRENT_FOLDER: Final = "current"
_CHUNK: Final = 5_000
"""How many items of a snapshot are in memory at once."""

OpenTable = Callable[[LakeLocation, pa.Schema, Sequence[str]], LakeTable]


class _Part(Struct, frozen=True):
    """The current table of one entity, and the entity's columns in that table and in the log."""

    schema: EntitySchema[Any]
    table: LakeTable
    columns: tuple[Column, ...]
    values: Values
    arrow: pa.Schema
    in_log: tuple[Column, ...]

    def batch(self, rows: Sequence[Row]) -> pa.RecordBatch:
        """Return rows as a batch for the current table, without those that do not fit their entity."""
        return batch_of([row for row in rows if row.problem is None], CURRENT, self.columns, self.arrow)


class Lake:
    """A sink that writes Delta tables. It may be open in one writer at a time, or in all that share one stream."""

    def __init__(
        self,
        place: Place,
        table: Table,
        *,
        erasure: LakeErasure | None = None,
        shared_by: str | None = None,
        open_table: OpenTable = LakeTable,
    ) -> None:
        """Open the lake of a table, and create it if needed.

        Args:
            place: the location of lakes: a folder, or `s3://bucket/prefix`. Each table has a folder of its own in it.
            table: the declared table. Entities that declare `in_lake: ClassVar = False` are not included.
            erasure: the entities by which `erase_users` finds erased users.
            shared_by: a name that all writers of a shared lake have in common, such as that of their stream.
            open_table: opens each Delta table; tests pass their own.

        Raises:
            StoreBusy: another process fills this lake. OperationError: the URL is not valid.
            BucketNotFound: there is no such bucket. AccessDenied: the credentials are refused.
        """
        self.location = location_of(place).child(table.name)
        self._hold = self.location.hold(shared_by)
        self._erasure = erasure
        self._may_erase = erasure is not None
        try:
            schemas = [schema for schema in table.entities if in_lake(schema)]
            new_log, _ = _layout(LOG, schemas, {})
            self._log = open_table(self.location.child(LOG_FOLDER), new_log, ("entity", "date"))
            self._log_schema, in_log = _layout(LOG, schemas, self._log.columns)
            self._parts = {schema.name: self._part(schema, in_log[schema.name], open_table) for schema in schemas}
        except BaseException:
            self._hold.abandon()
            raise

    @property
    def incomplete(self) -> bool:
        """Whether an entity was declared after the lake was loaded, so that a rebuild must add its items."""
        return bool(self.positions()) and not all(part.table.positions for part in self._parts.values())

    def positions(self) -> Mapping[str, int]:
        """Return the lake's positions, which are those of the log, because it is written last."""
        return self._log.positions

    def refresh(self) -> None:
        """Read what other writers of a shared lake have written."""
        for table in (self._log, *(part.table for part in self._parts.values())):
            table.refresh()

    def fences(self) -> Mapping[str, int]:
        """Return the highest fence (number of a lease) under which each shard was written to any of the tables."""
        found: dict[str, int] = {}
        for table in (self._log, *(part.table for part in self._parts.values())):
            found |= {shard: max(fence, found.get(shard, 0)) for shard, fence in table.reached.fences.items()}
        return found

    def apply(self, batch: Sequence[ItemChange], positions: Mapping[str, int]) -> None:
        """Apply a batch: merge it into the current tables, then add it to the log."""
        self._apply(batch, lambda there: TableState(further(positions, there.positions), there.fences))

    def apply_fenced(self, batch: Sequence[ItemChange], advance: Advance) -> None:
        """Apply a batch of some shards under their fences.

        Raises:
            LeaseLost: a shard was written under a higher fence.
        """
        self.refresh()  # a commit on an old version would be refused
        self._apply(batch, lambda there: TableState(*advance.after(there.positions, there.fences)))

    def _apply(self, batch: Sequence[ItemChange], reaching: Callable[[TableState], TableState]) -> None:
        rows = self._rows(batch)
        self._may_erase |= self._erasure is not None and any(
            row.change.schema is not None and row.change.schema.name == self._erasure.record for row in rows
        )
        for part in self._parts.values():
            own = [row for row in rows if row.change.schema is part.schema]
            if own and part.table.positions:  # else the next load will add all items
                self._commit(part.table, partial(_merge, part, own, reaching))
        self._commit(self._log, partial(self._append, rows, reaching))

    def load(self, snapshot: Snapshot) -> None:
        """Rebuild the current tables from the snapshot, and add its items to the log."""
        self._hold.check()
        try:
            for part in self._parts.values():
                batches = (part.batch(self._rows(chunk)) for chunk in chunks(snapshot.of(part.schema), _CHUNK))
                part.table.replace(part.arrow, batches, TableState(snapshot.positions, part.table.reached.fences))
            batches_of_log = (self._log_batches(self._rows(chunk)) for chunk in chunks(snapshot, _CHUNK))
            reached = TableState(snapshot.positions, self._log.reached.fences)
            self._log.append(self._log_schema, chain.from_iterable(batches_of_log), reached)
        except CommitConflict as error:  # the other writer's data may be newer than the snapshot
            raise LeaseLost(f"Another writer fills the lake {self.location}.") from error

    def _commit(self, table: LakeTable, write: Callable[[TableState], None]) -> None:
        """Write to a table; if another writer was faster, read the new state and try again."""
        self._hold.check()
        retry_commit(self.location, lambda: write(table.reached))

    def _append(self, rows: Sequence[Row], reaching: Callable[[TableState], TableState], there: TableState) -> None:
        new = _after(there.positions, rows)
        self._log.append(self._log_schema, self._log_batches(new), reaching(there))

    def has_users_to_erase(self) -> bool:
        """Whether the lake may still have rows of users who were erased."""
        if not self._may_erase or self._erasure is None or not self.positions():
            return False
        record = self._owned(self._erasure.record, "user_id")
        if record is not None:
            record.table.refresh()
        self._may_erase = record is not None and bool(pending(record.table))
        return self._may_erase

    def erase_users(self) -> int:
        """Erase the rows of users who were erased from the table; return the number of these users.

        Call this when all changes were read: changes of such a user that are read later stay until the next call.
        """
        if not self._may_erase or self._erasure is None or not self.positions():
            return 0
        record = self._owned(self._erasure.record, "user_id")
        users = [] if record is None else pending(record.table)
        if users and record is not None:
            named = (self._owned(name, owner) for name, owner in self._erasure.owners.items())
            self._hold.check()
            owned = [each for each in named if each is not None]
            erase_rows(self.location, users, owned, record, self._log)
        self._may_erase = False
        return len(users)

    def close(self) -> None:
        """Release the lake for other processes."""
        self._hold.close()

    def _owned(self, entity: str, owner: str) -> OwnedRows | None:
        """Return the rows of an entity; None if the entity is not in the lake, or belongs to another table."""
        part = self._parts.get(entity)
        return None if part is None else OwnedRows(part.schema, owner, part.table, part.columns, part.in_log)

    def _part(self, schema: EntitySchema[Any], in_log: tuple[Column, ...], open_table: OpenTable) -> _Part:
        new, _ = _layout(CURRENT, [schema], {})
        table = open_table(self.location.child(CURRENT_FOLDER, snake(schema.name)), new, ("date",))
        arrow, columns = _layout(CURRENT, [schema], table.columns)
        return _Part(schema, table, columns[schema.name], Values(columns[schema.name]), arrow, in_log)

    def _rows(self, changes: Iterable[ItemChange]) -> list[Row]:
        """Return the rows of all changes except those of entities that are not in the lake."""
        rows = []
        for change in changes:
            part = None if change.schema is None else self._parts.get(change.schema.name)
            if part is not None or change.schema is None:
                rows.append(row_of(change, None if part is None else part.values))
        return rows

    def _log_batches(self, rows: Sequence[Row]) -> Iterator[pa.RecordBatch]:
        for part in self._parts.values():
            if own := [row for row in rows if row.change.schema is part.schema]:
                yield batch_of(own, LOG, part.in_log, self._log_schema)
        if undeclared := [row for row in rows if row.change.schema is None]:
            yield batch_of(undeclared, LOG, (), self._log_schema)


def _merge(part: _Part, rows: Sequence[Row], reaching: Callable[[TableState], TableState], there: TableState) -> None:
    if last := _last_of_each_key(_after(there.positions, rows)):
        part.table.merge(pa.table(part.batch(last)), reaching(there))


def lake_lag(place: Place, table: Table, store: Store, now: float) -> Lag | None:
    """Return the lag of a table's lake, whichever process fills it; None if it was never filled.

    Raises:
        RebuildRequired: changes were missed.
    """
    positions = lake_positions(place, table)
    return ChangeStream(store, table).lag(positions, now) if positions else None


def lake_lags(place: Place, table: Table, store: Store, now: float) -> dict[str, Lag] | None:
    """Return the same for each shard.

    Raises:
        RebuildRequired: changes were missed.
    """
    positions = lake_positions(place, table)
    return ChangeStream(store, table).lags(positions, now) if positions else None


def lake_positions(place: Place, table: Table) -> Mapping[str, int]:
    """Return the positions of a table's lake, whichever process fills it; empty if it was never filled."""
    return reached_in(location_of(place).child(table.name, LOG_FOLDER)).positions


def in_lake(schema: EntitySchema[Any]) -> bool:
    """Whether an entity's items are written to the lake; `in_lake: ClassVar = False` in its class excludes them."""
    return bool(schema.cls.in_lake)


def _layout(
    own: Sequence[Own], schemas: Sequence[EntitySchema[Any]], there: Mapping[str, pa.DataType]
) -> tuple[pa.Schema, dict[str, tuple[Column, ...]]]:
    """Return a table's schema, its own columns and those of the entities, and the columns of each entity.

    The names are chosen to fit the existing columns (`there`).
    """
    arrow = schema_of_own(own)
    reserved = frozenset(arrow.names)
    columns = {}
    for schema in schemas:
        known = {**there, **{field.name: field.type for field in arrow}}
        columns[schema.name] = fitted(columns_of(schema), known, reserved)
        added = [column for column in columns[schema.name] if column.name not in arrow.names]
        arrow = pa.schema([*arrow, *(pa.field(column.name, column.type) for column in added)])
    return arrow, columns


def _after(positions: Mapping[str, int], rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row.change.sequence > positions.get(row.change.shard, 0)]


def _last_of_each_key(rows: Iterable[Row]) -> list[Row]:
    """Return the last row of each key, because a merge accepts each key once; invalid rows are left out."""
    return list({row.key: row for row in rows if row.problem is None}.values())
