"""A store whose tables have other names than the declared ones: it renames tables in requests and responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from msgspec.structs import replace

from partita.errors import StoreError
from partita.store import _points
from partita.store import _requests as rq
from partita.store import _vector_requests as vrq
from partita.store._interface import KnowsDisk, Store, past_of
from partita.store._names import TableNames

R = TypeVar("R")

Rename: TypeAlias = Callable[[str], str]
"""Maps the name of a table to its other name."""


def named_store(store: Store, names: TableNames | None) -> Store:
    """The store with the declared tables under these names; the store itself if the names change nothing."""
    return store if names is None or names.changes_nothing else NamedStore(store, names)


def stored_request(request: rq.Request[R], names: TableNames | None) -> rq.Request[R]:
    """The request with the stored names of its tables.

    Raises:
        OperationError: a table has no stored name.
    """
    rename = REQUESTS.get(type(request))
    if rename is None:
        raise TypeError(f"{type(request).__name__} is not a request that the store can execute.")
    return request if names is None else rename(request, names.stored)


class NamedStore:
    """Executes requests about declared tables on a store that has them under other names.

    Error messages come from the store and contain its own table names. Closing this closes the store.
    """

    def __init__(self, store: Store, names: TableNames) -> None:
        self._store = store
        self._names = names

    def __repr__(self) -> str:
        return f"NamedStore({self._store!r}, {self._names!r})"

    def execute(self, request: rq.Request[R]) -> R:
        """Execute the request.

        Raises:
            RequestError: the request was refused and changed nothing. StoreError: the store itself failed.
            OperationError: a table has no name in the store.
        """
        return self._declared(request, self._store.execute(stored_request(request, self._names)))

    async def execute_async(self, request: rq.Request[R]) -> R:
        """Execute the request without blocking the event loop."""
        return self._declared(request, await self._store.execute_async(stored_request(request, self._names)))

    def as_of(self, instant: float) -> Store:
        """The store as it was at an instant, with the same table names.

        Raises:
            RecoveryDisabled: the store does not keep past states.
        """
        return NamedStore(past_of(self._store, instant), self._names)

    def why_unwritable(self) -> StoreError | None:
        """Why writes fail, if they do."""
        return self._store.why_unwritable() if isinstance(self._store, KnowsDisk) else None

    def close(self) -> None:
        """Close the store. Closing twice does nothing."""
        self._store.close()

    def _declared(self, request: rq.Request[R], response: R) -> R:
        if isinstance(request, rq.ListTables):
            found = (self._names.declared(name) for name in response)  # type: ignore[attr-defined]
            return tuple(sorted(name for name in found if name is not None))  # type: ignore[return-value]
        back: R = RESPONSES[type(response)](response, self._declared_name)
        return back

    def _declared_name(self, stored: str) -> str:
        declared = self._names.declared(stored)
        return stored if declared is None else declared


def _table(part: Any, rename: Rename) -> Any:
    return replace(part, table=rename(part.table))


def _same(part: Any, rename: Rename) -> Any:  # noqa: ARG001 - the part names no table
    return part


def _schema(part: Any, rename: Rename) -> Any:
    return replace(part, schema=replace(part.schema, name=rename(part.schema.name)))


def _each_in(field: str) -> Callable[[Any, Rename], Any]:
    def rename_each(part: Any, rename: Rename) -> Any:
        return replace(part, **{field: tuple(_table(each, rename) for each in getattr(part, field))})

    return rename_each


def _consumed(part: Any, rename: Rename) -> Any:
    return replace(part, capacity=_table(part.capacity, rename))


def _consumed_and_unprocessed(part: Any, rename: Rename) -> Any:
    return _each_in("unprocessed")(_each_in("capacity")(part, rename), rename)


REQUESTS: Final[Mapping[type, Callable[[Any, Rename], Any]]] = {
    rq.GetItem: _table,
    rq.PutItem: _table,
    rq.UpdateItem: _table,
    rq.DeleteItem: _table,
    rq.QueryTable: _table,
    rq.ScanTable: _table,
    vrq.SearchVectors: _table,
    rq.BatchGetItem: _each_in("gets"),
    rq.BatchWriteItem: _each_in("writes"),
    rq.TransactGetItems: _each_in("gets"),
    rq.TransactWriteItems: _each_in("actions"),
    rq.CreateTable: _schema,
    rq.DescribeTable: _table,
    rq.DeleteTable: _table,
    rq.ListTables: _same,
    rq.CreateIndex: _table,
    rq.DeleteIndex: _table,
    vrq.CreateVectorIndex: _table,
    vrq.DeleteVectorIndex: _table,
    rq.SetTimeToLive: _table,
    rq.SetStream: _table,
    rq.DescribeStream: _table,
    rq.ReadStream: _table,
    rq.FindInStream: _table,
    _points.SetRecovery: _table,
    _points.DescribeRecovery: _table,
    _points.RestoreTable: lambda part, rename: _table(_schema(part, rename), rename),
}
"""How to rename the tables of each type of request."""

RESPONSES: Final[Mapping[type, Callable[[Any, Rename], Any]]] = {
    rq.ItemResponse: _consumed,
    rq.WriteResponse: _consumed,
    rq.PageResponse: _consumed,
    vrq.SearchResponse: _consumed,
    rq.BatchGetResponse: _consumed_and_unprocessed,
    rq.BatchWriteResponse: _consumed_and_unprocessed,
    rq.TransactGetResponse: _each_in("capacity"),
    rq.TransactWriteResponse: _each_in("capacity"),
    rq.TableDescription: _schema,
    rq.StreamDescription: _same,
    rq.StreamPage: _same,
    rq.StreamPosition: _same,
    _points.RecoveryDescription: _same,
}
"""How to rename the tables of each type of response."""
