"""BatchGetItem, BatchWriteItem, TransactGetItems and TransactWriteItems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from partita.errors import SerializationFailed, ValidationFailed
from partita.expressions import Condition, Update
from partita.store import (
    BatchGetItem,
    BatchGetResponse,
    BatchWriteItem,
    BatchWriteResponse,
    ConditionCheck,
    DeleteItem,
    GetItem,
    Json,
    PutItem,
    TransactAction,
    TransactGetItems,
    TransactGetResponse,
    TransactWriteItems,
    TransactWriteResponse,
    UpdateItem,
    wire_item,
)
from partita.wire._capacity import all_consumed, collection_metrics
from partita.wire._expressions import read_expressions
from partita.wire._items import on_failure, read_get
from partita.wire._parameters import (
    Parameters,
    Requests,
    is_table_name,
    member,
    refuse,
    show,
    violated,
    violations_of,
)
from partita.wire._wording import UNSHOWN, Refused, Violated

MAX_GETS: Final = 100
MAX_WRITES: Final = 25
MAX_ACTIONS: Final = 100
MAX_TOKEN: Final = 36
_METRICS: Final = ("SIZE", "NONE")
_MAP_KEYS: Final = (
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "
    "Member must have length greater than or equal to 3, "
    "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
)


def batch_get(call: Parameters) -> Requests[Json]:
    """Read up to 100 items from several tables."""
    try:
        detail = call.capacity_detail()
    except Violated:
        refuse(*violations_of(lambda: _check_names(call), call.capacity_detail))
    _check_names(call)
    _check_one_way(call)
    gets: list[GetItem] = []
    names: dict[str, str] = {}  # by table name; the client may have given the ARN of the table instead
    for name, shared in _tables(call).items():
        of_table = _gets(name, shared)
        names[of_table[0].table] = name
        gets += of_table
    if len(gets) > MAX_GETS:
        raise ValidationFailed("Too many items requested for the BatchGetItem call")
    response: BatchGetResponse = yield BatchGetItem(tuple(gets))
    found: dict[str, list[Json]] = {name: [] for name in names.values()}
    for get, item in zip(gets, response.items, strict=True):
        if item is not None:
            found[names[get.table]].append(wire_item(item))
    body: Json = {"Responses": found, "UnprocessedKeys": _unprocessed_keys(call, names, response)}
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(response.capacity, detail)
    return body


def _check_names(call: Parameters) -> None:
    """Refuse invalid table names. They are the keys of a map, and the message shows the whole map."""
    tables = call.fields("RequestItems") or {}
    if not all(map(is_table_name, tables)):
        refuse(violated(msgspec.json.encode(tables).decode(), "requestItems", _MAP_KEYS))


def _check_one_way(call: Parameters) -> None:
    """Refuse ProjectionExpression for one table with AttributesToGet for another; `read_get` checks single tables."""
    parts = [part for part in (call.fields("RequestItems") or {}).values() if isinstance(part, dict)]
    if all(any(part.get(way) is not None for part in parts) for way in ("AttributesToGet", "ProjectionExpression")):
        raise Refused(
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"
        )


def _tables(call: Parameters) -> Json:
    tables = call.fields("RequestItems")
    if tables is None:
        refuse(violated(None, "requestItems", "Member must not be null"))
    if not tables:
        refuse(violated(UNSHOWN, "RequestItems", "Member must have length greater than or equal to 1"))
    return tables


def _gets(name: str, shared: Any) -> list[GetItem]:
    part = Parameters(shared)
    table = Parameters({"TableName": name}).table()
    keys = part.members("Keys")
    at = f"RequestItems.{name}.member.Keys"
    if keys is None:
        refuse(violated(None, at, "Member must not be null"))
    if not keys:
        refuse(violated(UNSHOWN, at, "Member must have length greater than or equal to 1"))
    if len(keys) > MAX_GETS:
        refuse(violated(UNSHOWN, at, f"Member must have length less than or equal to {MAX_GETS}"))
    first = read_get(part, table, {})
    return [GetItem(table, Parameters({"Key": key}).item("Key"), first.consistent, first.projection) for key in keys]


def _unprocessed_keys(call: Parameters, names: dict[str, str], response: BatchGetResponse) -> Json:
    left: dict[str, Json] = {}
    for get in response.unprocessed:
        name = names[get.table]
        shared = {field: part for field, part in call.given["RequestItems"][name].items() if field != "Keys"}
        left.setdefault(name, {**shared, "Keys": []})["Keys"].append(wire_item(get.key))
    return left


def batch_write(call: Parameters) -> Requests[Json]:
    """Execute up to 25 puts and deletes on several tables."""
    detail, metrics = _write_details(call)
    tables = _tables(call)
    _check_lengths(tables)
    if not all(map(is_table_name, tables)):
        shown = {name: list(map(_show_write, entries)) for name, entries in tables.items()}
        refuse(violated(show(shown), "requestItems", _MAP_KEYS))
    writes = [
        _batched(Parameters({"TableName": name}).table(), Parameters(entry))
        for name, entries in tables.items()
        for entry in entries
    ]
    if len(writes) > MAX_WRITES:
        raise ValidationFailed("Too many items requested for the BatchWriteItem call")
    response: BatchWriteResponse = yield BatchWriteItem(tuple(writes))
    body: Json = {"UnprocessedItems": _unprocessed_items(response, tables)}
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(response.capacity, detail)
    if metrics == "SIZE":
        body["ItemCollectionMetrics"] = yield from _all_metrics(writes)
    return body


def _unprocessed_items(response: BatchWriteResponse, tables: Json) -> Json:
    """The unprocessed writes, in their request form and by the table names that the client used."""
    names = {Parameters({"TableName": name}).table(): name for name in tables} if response.unprocessed else {}
    left: dict[str, list[Json]] = {}
    for write in response.unprocessed:
        if isinstance(write, PutItem):
            part: Json = {"PutRequest": {"Item": wire_item(write.item)}}
        else:
            part = {"DeleteRequest": {"Key": wire_item(write.key)}}
        left.setdefault(names[write.table], []).append(part)
    return left


def _write_details(call: Parameters) -> tuple[str, str | None]:
    """Return the capacity detail for the response, and whether it includes item collection metrics."""
    try:
        return call.capacity_detail(), _metrics(call)
    except Violated:
        refuse(*violations_of(call.capacity_detail, lambda: _metrics(call)))


def _metrics(call: Parameters) -> str | None:
    return call.choice("ReturnItemCollectionMetrics", _METRICS, "NONE")


def _check_lengths(tables: Json) -> None:
    for entries in tables.values():
        if type(entries) is not list:
            raise SerializationFailed("Unexpected value where a list is expected")
        if not 1 <= len(entries) <= MAX_WRITES:
            rule = (
                f"Map value must satisfy constraint: [Member must have length less than or equal to {MAX_WRITES}, "
                "Member must have length greater than or equal to 1]"
            )
            refuse(violated(show(tables), "requestItems", rule))


def _show_write(entry: Any) -> str:
    """Format a write in the string form of AWS's own objects."""
    for name, part in (("Put", "Item"), ("Delete", "Key")):
        request = entry.get(f"{name}Request") if isinstance(entry, dict) else None
        if isinstance(request, dict) and isinstance(request.get(part), dict):
            values = {key: f"AttributeValue({show(value)[1:-1]})" for key, value in request[part].items()}
            return f"WriteRequest({name.lower()}Request={name}Request({part.lower()}={show(values)}))"
    return "WriteRequest()"


def _batched(table: str, entry: Parameters) -> PutItem | DeleteItem:
    put, delete = entry.fields("PutRequest"), entry.fields("DeleteRequest")
    if (put is None) == (delete is None):
        message = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported"
        empty = "Supplied AttributeValue is empty, must contain exactly one of the supported"
        raise ValidationFailed(f"{empty if put is None else message} datatypes")
    if put is not None:
        return PutItem(table, Parameters(put).item("Item"))
    assert delete is not None  # noqa: S101 - exactly one of the two is given
    return DeleteItem(table, Parameters(delete).item("Key"))


def _all_metrics(writes: list[PutItem | DeleteItem]) -> Requests[Json]:
    metrics: dict[str, list[Json]] = {}
    for write in writes:
        item = write.item if isinstance(write, PutItem) else write.key
        of_write = yield from collection_metrics(write.table, item)
        if of_write is not None and of_write not in metrics.setdefault(write.table, []):
            metrics[write.table].append(of_write)
    return {table: of_table for table, of_table in metrics.items() if of_table}


def transact_get(call: Parameters) -> Requests[Json]:
    """Read up to 100 items as of one instant."""
    detail = call.capacity_detail()
    gets = []
    for place, entry in enumerate(_actions(call, "TransactItems"), 1):
        get = Parameters(entry).fields("Get")
        if get is None:
            refuse(violated(None, f"transactItems.{place}.member.get", "Member must not be null"))
        part = Parameters(get, at=f"transactItems.{place}.member.get.")
        table, key = _named(part, f"transactItems.{place}.member.get"), part.item("Key")
        gets.append(read_get(part, table, key))
    response: TransactGetResponse = yield TransactGetItems(tuple(gets))
    body: Json = {"Responses": [{} if item is None else {"Item": wire_item(item)} for item in response.items]}
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(response.capacity, detail, transaction=True)
    return body


def _actions(call: Parameters, name: str) -> list[Any]:
    actions = call.members(name)
    at = member(name)
    if actions is None:
        refuse(violated(None, at, "Member must not be null"))
    if not actions:
        refuse(violated("[]", at, "Member must have length greater than or equal to 1"))
    if len(actions) > MAX_ACTIONS:
        refuse(violated(show(actions), at, f"Member must have length less than or equal to {MAX_ACTIONS}"))
    return actions


def transact_write(call: Parameters) -> Requests[Json]:
    """Execute up to 100 writes, all or none."""
    try:
        token, (detail, metrics) = client_token(call), _write_details(call)
        entries = _actions(call, "TransactItems")
    except Violated:
        readings = (lambda: _actions(call, "TransactItems"), lambda: client_token(call), lambda: _write_details(call))
        refuse(*violations_of(*readings))
    actions = tuple(_action(Parameters(entry), place) for place, entry in enumerate(entries, 1))
    response: TransactWriteResponse = yield TransactWriteItems(actions, token)
    body: Json = {}
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(response.capacity, detail, transaction=True)
    if metrics == "SIZE":
        writes = [action for action in actions if isinstance(action, PutItem | DeleteItem)]
        body["ItemCollectionMetrics"] = yield from _all_metrics(writes)
    return body


def client_token(call: Parameters) -> str | None:
    """The token of a transaction."""
    token = call.text("ClientRequestToken")
    if token is not None and not 1 <= len(token) <= MAX_TOKEN:
        bound = f"less than or equal to {MAX_TOKEN}" if token else "greater than or equal to 1"
        refuse(violated(token, "clientRequestToken", f"Member must have length {bound}"))
    return token


def _named(part: Parameters, at: str) -> str:
    """The table of an action; a violation names the position of the action in the request."""
    try:
        return part.table()
    except Violated as error:
        refuse(*(violated(each.value, f"{at}.tableName", each.rule) for each in error.violations))


def _action(entry: Parameters, place: int) -> TransactAction:
    given = [name for name in _ACTIONS if entry.given.get(name) is not None]
    if len(given) != 1:
        raise ValidationFailed(
            "TransactItems can only contain one of Check, Put, Update or Delete"
            if given
            else "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        )
    at = f"transactItems.{place}.member.{member(given[0])}"
    part = Parameters(entry.fields(given[0]) or {}, at=f"{at}.")
    return _ACTIONS[given[0]](part, _named(part, at), at)


def _transact_put(part: Parameters, table: str, _: str) -> PutItem:
    carries, condition = on_failure(part), _condition(part)
    if "" in (part.fields("Item") or {}):
        raise Refused("Empty attribute name")
    return PutItem(table, part.item("Item"), condition, on_failure_item=carries)


def _transact_delete(part: Parameters, table: str, _: str) -> DeleteItem:
    carries, condition = on_failure(part), _condition(part)
    return DeleteItem(table, part.item("Key"), condition, on_failure_item=carries)


def _transact_update(part: Parameters, table: str, at: str) -> UpdateItem:
    carries = on_failure(part)
    if part.text("UpdateExpression") is None:
        refuse(violated(None, f"{at}.updateExpression", "Member must not be null"))
    trees = read_expressions(part, ("UpdateExpression", "ConditionExpression"))
    update: Update = trees["UpdateExpression"]
    return UpdateItem(table, part.item("Key"), update, trees["ConditionExpression"], on_failure_item=carries)


def _transact_check(part: Parameters, table: str, at: str) -> ConditionCheck:
    carries = on_failure(part)
    if part.text("ConditionExpression") is None:
        refuse(violated(None, f"{at}.conditionExpression", "Member must not be null"))
    condition = _condition(part)
    assert condition is not None  # noqa: S101 - the expression text is present
    return ConditionCheck(table, part.item("Key"), condition, carries)


def _condition(part: Parameters) -> Condition | None:
    condition: Condition | None = read_expressions(part, ("ConditionExpression",))["ConditionExpression"]
    return condition


_ACTIONS: Final[dict[str, Callable[[Parameters, str, str], TransactAction]]] = {
    "ConditionCheck": _transact_check,
    "Put": _transact_put,
    "Delete": _transact_delete,
    "Update": _transact_update,
}
