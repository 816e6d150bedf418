"""Deleting all items of a query, including expired ones, 25 at a time; after an interruption it can run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.model import Entity
from partita.operations import BatchWrite, Context, Delete, Operation, Procedure, Query, Requests, batch_write
from partita.store import PageResponse

__all__ = ["Removal", "remove_all", "remove_some"]

E = TypeVar("E", bound=Entity)

PAGE: Final = 25
"""The number of items that one batch deletes."""


class Removal(Struct, frozen=True):
    """How many items were removed, and whether there may be more."""

    removed: int
    more: bool


def remove_all(query: Query[Any], delete: Callable[[Sequence[Delete[E]]], BatchWrite] = batch_write) -> Procedure[int]:
    """Delete all items of the query's entity in its range, including expired ones, and return their number.

    Only keys are read, even if the query has a view. Items written in the meantime may remain, so stop writers first.
    `delete` is the access pattern of one batch.
    """
    return (yield from remove_some(query, delete, limit=None)).removed


def remove_some(
    query: Query[Any],
    delete: Callable[[Sequence[Delete[E]]], BatchWrite] = batch_write,
    *,
    limit: int | None,
) -> Procedure[Removal]:
    """Like `remove_all`, but up to about `limit` items: for a request that must end in time and can be repeated."""
    removed = 0
    start: dict[str, Any] | None = None
    while limit is None or removed < limit:
        found, start = yield from _Stored(query, start, pattern=query.pattern)
        if found:
            yield from delete(found)
            removed += len(found)
        if start is None:
            return Removal(removed, more=False)
    return Removal(removed, more=True)


class _Stored(Operation[tuple[list[Delete[E]], dict[str, Any] | None]], Generic[E], frozen=True):
    """One page of the stored items in a range, expired or not, as deletes; and the start of the next page."""

    query: Query[E]
    start: dict[str, Any] | None

    def default_name(self) -> str:
        """The name of the query."""
        return self.query.name

    def requests(self, context: Context) -> Requests[tuple[list[Delete[E]], dict[str, Any] | None]]:  # noqa: ARG002
        """Read one page of keys; consistently, except on a global index, which does not support that."""
        schema = self.query.schema
        request = replace(
            self.query.request(),
            limit=PAGE,
            start=self.start,
            projection=schema.key_projection(schema.primary),
            consistent=not schema.table.schema.is_global(self.query.key.index),
        )
        response: PageResponse = yield request
        names = [attribute.name for attribute, _ in schema.primary.attributes]
        keys = [{name: item[name] for name in names} for item in self.query.owned(response.items)]
        return [Delete(schema, key) for key in keys], response.last_key
