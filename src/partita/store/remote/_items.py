"""Requests for items: each is one call, and its answer one response."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import msgspec

from partita._aws import Attempts, Call, Steps
from partita.errors import ValidationFailed
from partita.expressions import Path
from partita.store import _requests as rq
from partita.store._dynamodb_json import Json, api_call
from partita.store.remote import _responses as wire
from partita.values import Item, equal

T = TypeVar("T")

MAX_EXPRESSION_BYTES: Final = 4096
_READS: Final = (rq.GetItem, rq.QueryTable, rq.ScanTable, rq.BatchGetItem, rq.TransactGetItems)
_encode: Final = msgspec.json.Encoder().encode


def call_for(request: rq.Request[Any]) -> Call:
    """The call that a request for items becomes.

    Raises:
        ValidationFailed: an expression is longer than DynamoDB takes.
    """
    name, parameters = api_call(request)
    _check_expressions(parameters)
    parameters["ReturnConsumedCapacity"] = "INDEXES"
    reads = isinstance(request, _READS)
    return Call(name, _encode(parameters), repeatable=reads or "ClientRequestToken" in parameters, writes=not reads)


def _check_expressions(parameters: Json) -> None:
    for name, value in parameters.items():
        if name == "TransactItems":
            for action in value:
                for part in action.values():
                    _check_expressions(part)
        elif name.endswith("Expression") and len(value.encode()) > MAX_EXPRESSION_BYTES:
            message = f"Invalid {name}: Expression size has exceeded the maximum allowed size of 4096 bytes"
            raise ValidationFailed(message, hint="It has too many names, values or operators: split it.")


def _decoder(shape: type[T]) -> Callable[[Any], T]:
    return msgspec.json.Decoder(shape).decode


_got: Final = _decoder(wire.GetAnswer)
_written: Final = _decoder(wire.WriteAnswer)
_paged: Final = _decoder(wire.PageAnswer)
_batch_got: Final = _decoder(wire.BatchGetAnswer)
_batch_written: Final = _decoder(wire.BatchWriteAnswer)
_transact_got: Final = _decoder(wire.TransactGetAnswer)
_transact_written: Final = _decoder(wire.TransactWriteAnswer)


def get_item(attempts: Attempts, request: rq.GetItem) -> Steps[rq.ItemResponse]:
    """Read one item."""
    answer = _got((yield from attempts.send(call_for(request))))
    capacity = wire.capacity_of(answer.consumed_capacity, request.table, "read")
    return rq.ItemResponse(wire.optional_item(answer.item), capacity)


def write_item(attempts: Attempts, request: rq.PutItem | rq.UpdateItem | rq.DeleteItem) -> Steps[rq.WriteResponse]:
    """Put, update or delete one item."""
    answer = _written((yield from attempts.send(call_for(request))))
    capacity = wire.capacity_of(answer.consumed_capacity, request.table, "write")
    return rq.WriteResponse(wire.plain(answer.attributes) if answer.attributes else None, capacity)


def read_page(attempts: Attempts, request: rq.QueryTable | rq.ScanTable) -> Steps[rq.PageResponse]:
    """Read one page of a query or scan."""
    answer = _paged((yield from attempts.send(call_for(request))))
    return rq.PageResponse(
        items=[wire.plain(item) for item in answer.items],
        count=answer.count,
        scanned=answer.scanned_count,
        last_key=wire.optional_item(answer.last_evaluated_key),
        capacity=wire.capacity_of(answer.consumed_capacity, request.table, "read"),
    )


def batch_get(attempts: Attempts, request: rq.BatchGetItem) -> Steps[rq.BatchGetResponse]:
    """Read items of several keys; they come in any order, and are put into that of the gets."""
    _check_that_tables_are_asked_in_one_way(request.gets)
    asked = [_with_its_key(get) for get in request.gets]
    answer = _batch_got((yield from attempts.send(call_for(rq.BatchGetItem(tuple(asked))))))
    names = {get.table: tuple(get.key) for get in request.gets}
    found = {
        _identity(table, names[table], item): item
        for table, items in answer.responses.items()
        for item in map(wire.plain, items)
    }
    left = {
        _identity(table, names[table], wire.plain(key))
        for table, part in answer.unprocessed_keys.items()
        for key in part.keys
    }
    identities = [_identity(get.table, names[get.table], get.key) for get in request.gets]
    return rq.BatchGetResponse(
        items=[_as_asked(get, found.get(each)) for get, each in zip(request.gets, identities, strict=True)],
        unprocessed=tuple(get for get, each in zip(request.gets, identities, strict=True) if each in left),
        capacity=wire.capacities_of(answer.consumed_capacity, "read"),
    )


def _check_that_tables_are_asked_in_one_way(gets: tuple[rq.GetItem, ...]) -> None:
    ways = {get.table: (get.consistent, get.projection) for get in gets}
    if any(ways[get.table] != (get.consistent, get.projection) for get in gets):
        message = "A batch reads all items of a table with one projection and one consistency."
        raise ValidationFailed(message, hint="Send the others in a batch of their own.")


def _with_its_key(get: rq.GetItem) -> rq.GetItem:
    """The same get, with the key in its projection: without it nobody could tell whose item an answer is."""
    if get.projection is None:
        return get
    return msgspec.structs.replace(get, projection=(*get.projection, *map(_path, _unasked(get))))


def _path(name: str) -> Path:
    return Path((name,))


def _unasked(get: rq.GetItem) -> list[str]:
    projected = {path.parts[0] for path in get.projection or ()}
    return [] if get.projection is None else [name for name in get.key if name not in projected]


def _as_asked(get: rq.GetItem, item: Item | None) -> Item | None:
    if item is not None:
        for name in _unasked(get):
            del item[name]
    return item


def _identity(table: str, names: Iterable[str], item: Item) -> tuple[Any, ...]:
    return (table, *(item[name] for name in names))


def batch_write(attempts: Attempts, request: rq.BatchWriteItem) -> Steps[rq.BatchWriteResponse]:
    """Put and delete several items; what the endpoint did not get to is passed on."""
    answer = _batch_written((yield from attempts.send(call_for(request))))
    left = [_left_over(table, entry) for table, entries in answer.unprocessed_items.items() for entry in entries]
    return rq.BatchWriteResponse(
        unprocessed=tuple(write for write in request.writes if any(_is_same(write, *each) for each in left)),
        capacity=wire.capacities_of(answer.consumed_capacity, "write"),
    )


def _left_over(table: str, entry: wire.Write) -> tuple[str, type, Item]:
    if entry.put_request is not None:
        return table, rq.PutItem, wire.plain(entry.put_request.item)
    return table, rq.DeleteItem, {} if entry.delete_request is None else wire.plain(entry.delete_request.key)


def _is_same(write: rq.PutItem | rq.DeleteItem, table: str, kind: type, subject: Item) -> bool:
    own = write.item if isinstance(write, rq.PutItem) else write.key
    return write.table == table and type(write) is kind and equal(own, subject)


def transact_get(attempts: Attempts, request: rq.TransactGetItems) -> Steps[rq.TransactGetResponse]:
    """Read several items of one instant."""
    answer = _transact_got((yield from attempts.send(call_for(request))))
    return rq.TransactGetResponse(
        items=[wire.optional_item(each.item) for each in answer.responses],
        capacity=wire.capacities_of(answer.consumed_capacity, "read"),
    )


def transact_write(
    attempts: Attempts, request: rq.TransactWriteItems, new_token: Callable[[], str]
) -> Steps[rq.TransactWriteResponse]:
    """Write several items, all or nothing. There is always a token, so that a lost answer can be asked for again."""
    if request.token is None:
        request = msgspec.structs.replace(request, token=new_token())
    answer = _transact_written((yield from attempts.send(call_for(request))))
    capacity = wire.capacities_of(answer.consumed_capacity, "write")
    return rq.TransactWriteResponse(capacity, replayed=any(each.total_read for each in capacity))
