"""Batches: many gets, or many puts and deletes, in as few requests as DynamoDB allows. Not atomic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, overload

from pydantic import BaseModel

from partita.errors import OperationError, Unprocessed
from partita.operations._get import Get
from partita.operations._operation import Context, Operation, Requests
from partita.operations._transact import check_gets
from partita.operations.writes import Delete, Put
from partita.runtime import Together, chunks
from partita.store import (
    BatchGetItem,
    BatchGetResponse,
    BatchWriteItem,
    BatchWriteResponse,
    DeleteItem,
    PutItem,
)
from partita.values import Item

M = TypeVar("M", bound=BaseModel)

_Identity: TypeAlias = tuple[Any, ...]
"""What one request may contain only once: an item, and how it is read."""

MAX_GETS = 100
MAX_WRITES = 25


class BatchGet(Operation[tuple[M | None, ...]], Generic[M], frozen=True):
    """Read many items by key, 100 in a request and several requests at once; the results align with the gets."""

    sends = (BatchGetItem,)

    gets: tuple[Get[M], ...]

    def requests(self, context: Context) -> Requests[tuple[M | None, ...]]:
        """Send all chunks concurrently, and the unprocessed gets of each again."""
        wanted = [_identity(get) for get in self.gets]
        distinct = dict(zip(wanted, self.gets, strict=True))
        parts = [part for group in _uniform_groups(distinct) for part in chunks(group, MAX_GETS)]
        found: dict[_Identity, Item | None] = {}
        if len(parts) == 1:
            found = yield from self._read(parts[0], distinct, context)
        else:
            reads = tuple(self._read(part, distinct, context) for part in parts)
            for part in (yield Together(reads)) if reads else ():
                found |= part
        return tuple(get.result(found[identity], context) for identity, get in zip(wanted, self.gets, strict=True))

    def _read(
        self, identities: Sequence[_Identity], gets: dict[_Identity, Get[M]], context: Context
    ) -> Requests[dict[_Identity, Item | None]]:
        requests = {identity: gets[identity].request() for identity in identities}
        found: dict[_Identity, Item | None] = dict.fromkeys(identities)
        for attempt in range(context.retry.tries):
            if attempt:
                yield context.retry.pause_before(attempt, context.random)
            response: BatchGetResponse = yield BatchGetItem(tuple(requests.values()))
            read = zip(requests, response.items, strict=True)
            found |= {identity: item for identity, item in read if item is not None}
            requests = {identity: each for identity, each in requests.items() if each in response.unprocessed}
            if not requests:
                return found
        left = [gets[identity] for identity in requests]
        raise Unprocessed(f"{len(left)} of {len(identities)} reads were left unprocessed.", operations=left)


def _identity(get: Get[Any]) -> _Identity:
    key = tuple(sorted(get.key.items()))
    return get.schema.table.name, key, get.is_consistent, get.projection


def _uniform_groups(gets: Mapping[_Identity, Get[Any]]) -> list[list[_Identity]]:
    """The identities of the gets in groups, each of which reads a table with one consistency and one projection."""
    options_of: dict[str, list[Any]] = {}  # of each table; the n-th combination of a table belongs to the n-th group
    groups: list[list[_Identity]] = []
    for identity, get in gets.items():
        of_table = options_of.setdefault(get.schema.table.name, [])
        options = get.is_consistent, get.projection
        if options not in of_table:
            of_table.append(options)
        number = of_table.index(options)
        if number == len(groups):
            groups.append([])
        groups[number].append(identity)
    return groups


class BatchWrite(Operation[None], frozen=True):
    """Write and delete many items, each independently, in any order."""

    sends = (BatchWriteItem,)

    writes: tuple[Put[Any] | Delete[Any], ...]

    def requests(self, context: Context) -> Requests[None]:
        """Send each chunk, and its unprocessed writes again."""
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


# Gets of one entity also match the second overload; the first one has the more precise type.
@overload
def batch_get(gets: Sequence[Get[M]]) -> BatchGet[M]: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def batch_get(gets: Sequence[Get[Any]]) -> BatchGet[BaseModel]: ...
def batch_get(gets: Sequence[Get[Any]]) -> BatchGet[Any]:
    """Read many items by key: 100 in one request, and several requests at once.

    Raises:
        OperationError: one of them is not a get.
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
            message = f"{type(write).__name__} is neither a put nor a delete, and a batch can contain nothing else."
            raise OperationError(message, hint="Use transact() for updates; write an entity with put().")
        if write.condition is not None or write.expected is not None or getattr(write, "only_new", False):
            message = f"{write.name} is conditional, and a batch cannot check conditions."
            raise OperationError(message, hint="Use transact() for up to 100 conditional writes.")
    return BatchWrite(tuple(writes))
