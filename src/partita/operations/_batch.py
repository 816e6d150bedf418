"""Batches: many gets, or many puts and deletes, in as few requests as DynamoDB allows. Not atomic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from partita.errors import OperationError, Unprocessed
from partita.model import Entity
from partita.operations._get import Get
from partita.operations._operation import Context, Operation, Requests
from partita.operations._transact import check_gets
from partita.operations.writes import Delete, Put
from partita.store import (
    BatchGetItem,
    BatchGetResponse,
    BatchWriteItem,
    BatchWriteResponse,
    DeleteItem,
    GetItem,
    PutItem,
)
from partita.values import Item

E = TypeVar("E", bound=Entity)
T = TypeVar("T")

MAX_GETS = 100
MAX_WRITES = 25


class BatchGet(Operation[tuple[E | None, ...]], Generic[E], frozen=True):
    """Read many items by key; the results align with the gets."""

    sends = (BatchGetItem,)

    gets: tuple[Get[E], ...]

    def requests(self, context: Context) -> Requests[tuple[E | None, ...]]:
        """Send each chunk, and what it leaves unprocessed again."""
        found: dict[int, E | None] = {}
        for consistent in (False, True):  # one request reads a table with one consistency
            positions = [i for i, get in enumerate(self.gets) if get.is_consistent is consistent]
            for chunk in chunks(positions, MAX_GETS):
                items = yield from self._read([self.gets[i] for i in chunk], context)
                found |= {i: self.gets[i].result(item, context) for i, item in zip(chunk, items, strict=True)}
        return tuple(found[i] for i in range(len(self.gets)))

    def _read(self, gets: Sequence[Get[E]], context: Context) -> Requests[list[Item | None]]:
        requests = [get.request() for get in gets]
        items: list[Item | None] = [None] * len(requests)
        waiting: tuple[GetItem, ...] = tuple(requests)
        for attempt in range(context.retry.tries):
            if attempt:
                yield context.retry.pause_before(attempt, context.random)
            response: BatchGetResponse = yield BatchGetItem(waiting)
            for request, item in zip(waiting, response.items, strict=True):
                if item is not None:
                    items[requests.index(request)] = item
            waiting = response.unprocessed
            if not waiting:
                return items
        left = [get for get, request in zip(gets, requests, strict=True) if request in waiting]
        raise Unprocessed(f"{len(left)} of {len(gets)} reads were left unprocessed.", operations=left)


class BatchWrite(Operation[None], frozen=True):
    """Write and delete many items, each by itself, in any order."""

    sends = (BatchWriteItem,)

    writes: tuple[Put[Any] | Delete[Any], ...]

    def requests(self, context: Context) -> Requests[None]:
        """Send each chunk, and what it leaves unprocessed again."""
        for start in range(0, len(self.writes), MAX_WRITES):
            yield from self._write(start, context)

    def _write(self, start: int, context: Context) -> Requests[None]:
        chunk = self.writes[start : start + MAX_WRITES]
        actions = [write.action(context) for write in chunk]
        waiting: tuple[PutItem | DeleteItem, ...] = tuple(actions)
        for attempt in range(context.retry.tries):
            if attempt:
                yield context.retry.pause_before(attempt, context.random)
            response: BatchWriteResponse = yield BatchWriteItem(waiting)
            waiting = response.unprocessed
            if not waiting:
                return
        left = [write for write, action in zip(chunk, actions, strict=True) if action in waiting]
        left += self.writes[start + MAX_WRITES :]
        raise Unprocessed(f"{len(left)} of {len(self.writes)} writes were left unprocessed.", operations=left)


# Gets of one entity are gets of any, too: the first that fits says more of them.
@overload
def batch_get(gets: Sequence[Get[E]]) -> BatchGet[E]: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def batch_get(gets: Sequence[Get[Any]]) -> BatchGet[Entity]: ...
def batch_get(gets: Sequence[Get[Any]]) -> BatchGet[Any]:
    """Read many items by key, 100 at a time.

    Raises:
        OperationError: something among them is not a get.
    """
    check_gets(gets)
    return BatchGet(tuple(gets))


def batch_write(writes: Sequence[Put[Any] | Delete[Any]]) -> BatchWrite:
    """Put and delete many items, 25 at a time.

    Raises:
        OperationError: a write has a condition or a version, which a batch cannot check, or is an update.
    """
    for write in writes:
        if not isinstance(write, Put | Delete):
            message = f"{type(write).__name__} is neither a put nor a delete, and a batch can do nothing else."
            raise OperationError(message, hint="Use transact() for updates; write an entity with put().")
        if write.condition is not None or write.expected is not None or getattr(write, "only_new", False):
            message = f"{write.name} is conditional, and a batch cannot check conditions."
            raise OperationError(message, hint="Use transact() for up to 100 conditional writes.")
    return BatchWrite(tuple(writes))


def chunks(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The values in runs of at most `size`."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
