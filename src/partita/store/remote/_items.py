"""Requests for items, each of which is sent as one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, TypeVar

import msgspec

from partita._aws import ApiCall, ApiClient, Calls
from partita.errors import TransactionCancelled, ValidationFailed
from partita.expressions import Path
from partita.store import _requests as rq
from partita.store import _vector_requests as vrq
from partita.store._dynamodb_json import Json, api_call
from partita.store._received import plain
from partita.store.remote import _responses as wire
from partita.store.remote._pages import PageDecoder
from partita.values import Item, equal

T = TypeVar("T")

MAX_EXPRESSION_BYTES: Final = 4096
_IN_KEYS: Final = (str, int, Decimal, bytes)
_READS: Final = (
    rq.GetItem,
    rq.QueryTable,
    rq.ScanTable,
    vrq.SearchVectors,
    rq.BatchGetItem,
    rq.TransactGetItems,
)
_encode: Final = msgspec.json.Encoder().encode


def call_for(request: rq.Request[Any]) -> ApiCall:
    """The API call for a request for items.

    Raises:
        ValidationFailed: an expression is longer than DynamoDB allows.
    """
    name, parameters = api_call(request)
    _check_expressions(parameters)
    parameters["ReturnConsumedCapacity"] = "INDEXES"
    reads = isinstance(request, _READS)
    repeatable = reads or "ClientRequestToken" in parameters
    searches = isinstance(request, vrq.SearchVectors)
    return ApiCall(name, _encode(parameters), repeatable=repeatable, writes=not reads, searches=searches)


def _check_expressions(parameters: Json) -> None:
    for name, value in parameters.items():
        if name == "TransactItems":
            for action in value:
                for part in action.values():
                    _check_expressions(part)
        elif name.endswith("Expression") and len(value.encode()) > MAX_EXPRESSION_BYTES:
            message = f"Invalid {name}: Expression size has exceeded the maximum allowed size of 4096 bytes"
            raise ValidationFailed(message, hint="Use fewer names, values and operators, or split the request.")


def _decoder(shape: type[T]) -> Callable[[Any], T]:
    return msgspec.json.Decoder(shape).decode


_decode_get: Final = _decoder(wire.GetItemOutput)
_decode_write: Final = _decoder(wire.WriteItemOutput)
_decode_search: Final = _decoder(wire.SearchVectorsOutput)
_decode_batch_get: Final = _decoder(wire.BatchGetItemOutput)
_decode_batch_write: Final = _decoder(wire.BatchWriteItemOutput)
_decode_transact_get: Final = _decoder(wire.TransactGetItemsOutput)
_decode_transact_write: Final = _decoder(wire.TransactWriteItemsOutput)


def get_item(client: ApiClient, request: rq.GetItem) -> Calls[rq.ItemResponse]:
    """Read one item."""
    output = _decode_get((yield from client.send(call_for(request))))
    capacity = wire.capacity_of(output.consumed_capacity, request.table, "read")
    return rq.ItemResponse(wire.optional_item(output.item), capacity)


def write_item(client: ApiClient, request: rq.PutItem | rq.UpdateItem | rq.DeleteItem) -> Calls[rq.WriteResponse]:
    """Put, update or delete one item."""
    output = _decode_write((yield from client.send(call_for(request))))
    capacity = wire.capacity_of(output.consumed_capacity, request.table, "write")
    return rq.WriteResponse(plain(output.attributes) if output.attributes else None, capacity)


def read_page(client: ApiClient, request: rq.QueryTable | rq.ScanTable, pages: PageDecoder) -> Calls[rq.PageResponse]:
    """Read one page of a query or scan."""
    output, items = pages.decode(request, (yield from client.send(call_for(request))))
    return rq.PageResponse(
        items=items,
        count=output.count,
        scanned=output.scanned_count,
        last_key=wire.optional_item(output.last_evaluated_key),
        capacity=wire.capacity_of(output.consumed_capacity, request.table, "read"),
    )


def search_vectors(client: ApiClient, request: vrq.SearchVectors) -> Calls[vrq.SearchResponse]:
    """Search a vector index."""
    output = _decode_search((yield from client.send(call_for(request))))
    searched = 0.0 if output.consumed_capacity is None else output.consumed_capacity.vector_search_request_bytes
    return vrq.SearchResponse(
        matches=[(plain(each.item), each.score) for each in output.search_results],
        capacity=rq.Capacity(request.table, vectors=((request.index, searched, 0.0),)),
    )


def batch_get(client: ApiClient, request: rq.BatchGetItem) -> Calls[rq.BatchGetResponse]:
    """Read items of several keys; the endpoint returns them in any order, and they are sorted in that of the gets."""
    _check_one_way_of_reading_a_table(request.gets)
    gets = [_with_its_key(get) for get in request.gets]
    output = _decode_batch_get((yield from client.send(call_for(rq.BatchGetItem(tuple(gets))))))
    names = {get.table: tuple(get.key) for get in request.gets}
    found = {
        _received_identity(table, names, item): item
        for table, items in output.responses.items()
        for item in map(plain, items)
    }
    unprocessed = {
        _received_identity(table, names, plain(key))
        for table, part in output.unprocessed_keys.items()
        for key in part.keys
    }
    identities = [_identity(get.table, names[get.table], get.key) for get in request.gets]
    return rq.BatchGetResponse(
        items=[_without_added_keys(get, found.get(each)) for get, each in zip(request.gets, identities, strict=True)],
        unprocessed=tuple(get for get, each in zip(request.gets, identities, strict=True) if each in unprocessed),
        capacity=wire.capacities_of(output.consumed_capacity, "read"),
    )


def _check_one_way_of_reading_a_table(gets: tuple[rq.GetItem, ...]) -> None:
    ways = {get.table: (get.consistent, get.projection) for get in gets}
    if any(ways[get.table] != (get.consistent, get.projection) for get in gets):
        message = "A batch reads all items of a table with one projection and one consistency."
        raise ValidationFailed(message, hint="Send the other gets in a separate batch.")


def _with_its_key(get: rq.GetItem) -> rq.GetItem:
    """The get with the key added to its projection, so that returned items can be matched to gets."""
    if get.projection is None:
        return get
    return msgspec.structs.replace(get, projection=(*get.projection, *map(_path, _added_keys(get))))


def _path(name: str) -> Path:
    return Path((name,))


def _added_keys(get: rq.GetItem) -> list[str]:
    projected = {path.parts[0] for path in get.projection or ()}
    return [] if get.projection is None else [name for name in get.key if name not in projected]


def _without_added_keys(get: rq.GetItem, item: Item | None) -> Item | None:
    if item is not None:
        for name in _added_keys(get):
            del item[name]
    return item


def _identity(table: str, names: Iterable[str], item: Item) -> tuple[Any, ...]:
    return (table, *(item[name] for name in names))


def _received_identity(table: str, names: Mapping[str, Iterable[str]], item: Item) -> tuple[Any, ...]:
    """The identity of a received item.

    Raises:
        ValidationError: it belongs to no get, as it has another table or no key.
    """
    identity = tuple(item.get(name) for name in names.get(table, ()))
    if not identity or any(type(value) not in _IN_KEYS for value in identity):
        raise msgspec.ValidationError(f"an item of {table} was not asked for")
    return (table, *identity)


def batch_write(client: ApiClient, request: rq.BatchWriteItem) -> Calls[rq.BatchWriteResponse]:
    """Put and delete several items; the response contains the writes that the endpoint left unprocessed."""
    output = _decode_batch_write((yield from client.send(call_for(request))))
    unprocessed = [
        _unprocessed(table, entry) for table, entries in output.unprocessed_items.items() for entry in entries
    ]
    return rq.BatchWriteResponse(
        unprocessed=tuple(write for write in request.writes if any(_is_same(write, *each) for each in unprocessed)),
        capacity=wire.capacities_of(output.consumed_capacity, "write"),
    )


def _unprocessed(table: str, entry: wire.WriteRequest) -> tuple[str, type, Item]:
    if entry.put_request is not None:
        return table, rq.PutItem, plain(entry.put_request.item)
    return table, rq.DeleteItem, {} if entry.delete_request is None else plain(entry.delete_request.key)


def _is_same(write: rq.PutItem | rq.DeleteItem, table: str, kind: type, subject: Item) -> bool:
    own = write.item if isinstance(write, rq.PutItem) else write.key
    return write.table == table and type(write) is kind and equal(own, subject)


def transact_get(client: ApiClient, request: rq.TransactGetItems) -> Calls[rq.TransactGetResponse]:
    """Read several items as of one instant."""
    output = _decode_transact_get((yield from client.send(call_for(request))))
    return rq.TransactGetResponse(
        items=[wire.optional_item(each.item) for each in output.responses],
        capacity=wire.capacities_of(output.consumed_capacity, "read"),
    )


def transact_write(
    client: ApiClient, request: rq.TransactWriteItems, new_token: Callable[[], str]
) -> Calls[rq.TransactWriteResponse]:
    """Write several items, all or nothing; a token is always sent, so that the call can be retried."""
    if request.token is None:
        request = msgspec.structs.replace(request, token=new_token())
    try:
        output = _decode_transact_write((yield from client.send(call_for(request))))
    except TransactionCancelled as error:
        if len(error.reasons) != len(request.actions):
            raise msgspec.ValidationError("a cancelled transaction has not one reason for each action") from error
        raise
    capacity = wire.capacities_of(output.consumed_capacity, "write")
    return rq.TransactWriteResponse(capacity, replayed=any(each.total_read for each in capacity))
