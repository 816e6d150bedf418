"""BatchGetItem, BatchWriteItem, TransactGetItems and TransactWriteItems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

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
from partita.wire._parameters import Parameters, Requests, refuse, show, violated

MAX_GETS: Final = 100
MAX_WRITES: Final = 25
MAX_ACTIONS: Final = 100
_METRICS: Final = ("SIZE", "NONE")


def batch_get(call: Parameters) -> Requests[Json]:
    """Up to 100 items of several tables."""
    detail = call.capacity_detail()
    gets: list[GetItem] = []
    names: dict[str, str] = {}  # by table: the client may have given its ARN
    for name, shared in _tables(call, "BatchGetItem").items():
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


def _tables(call: Parameters, operation: str) -> Json:
    tables = call.fields("RequestItems")
    if tables is None:
        refuse(violated(None, "requestItems", "Member must not be null"))
    if not tables:
        raise ValidationFailed(f"The requestItems parameter is required for {operation}")
    return tables


def _gets(name: str, shared: Any) -> list[GetItem]:
    part = Parameters(shared)
    table = Parameters({"TableName": name}).table()
    keys = part.members("Keys")
    at = f"RequestItems.{name}.member.Keys"
    if keys is None:
        refuse(violated(None, at, "Member must not be null"))
    if not keys:
        refuse(violated("[]", at, "Member must have length greater than or equal to 1"))
    if len(keys) > MAX_GETS:
        rule = f"Member must have length less than or equal to {MAX_GETS}"
        refuse(f"Value at '{at}' failed to satisfy constraint: {rule}")
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
    """Up to 25 puts and deletes of several tables."""
    detail, metrics = call.capacity_detail(), call.choice("ReturnItemCollectionMetrics", _METRICS, "NONE")
    tables = _tables(call, "BatchWriteItem")
    _check_lengths(tables)
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
    """What was not written, in the form in which it came and under the name that the client gave."""
    names = {Parameters({"TableName": name}).table(): name for name in tables} if response.unprocessed else {}
    left: dict[str, list[Json]] = {}
    for write in response.unprocessed:
        if isinstance(write, PutItem):
            part: Json = {"PutRequest": {"Item": wire_item(write.item)}}
        else:
            part = {"DeleteRequest": {"Key": wire_item(write.key)}}
        left.setdefault(names[write.table], []).append(part)
    return left


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


def _batched(table: str, entry: Parameters) -> PutItem | DeleteItem:
    put, delete = entry.fields("PutRequest"), entry.fields("DeleteRequest")
    if (put is None) == (delete is None):
        message = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported"
        empty = "Supplied AttributeValue is empty, must contain exactly one of the supported"
        raise ValidationFailed(f"{empty if put is None else message} datatypes")
    if put is not None:
        return PutItem(table, Parameters(put).item("Item"))
    assert delete is not None  # noqa: S101 - one of the two is there
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
    """Up to 100 items as they are at one instant."""
    detail = call.capacity_detail()
    gets = []
    for entry in _actions(call, "TransactItems"):
        get = Parameters(entry).fields("Get")
        if get is None:
            refuse(violated(None, "transactItems.1.member.get", "Member must not be null"))
        part = Parameters(get)
        table, key = part.table(), part.item("Key")
        gets.append(read_get(part, table, key))
    response: TransactGetResponse = yield TransactGetItems(tuple(gets))
    body: Json = {"Responses": [{} if item is None else {"Item": wire_item(item)} for item in response.items]}
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(response.capacity, detail, transaction=True)
    return body


def _actions(call: Parameters, name: str) -> list[Any]:
    actions = call.members(name)
    at = name[:1].lower() + name[1:]
    if actions is None:
        refuse(violated(None, at, "Member must not be null"))
    if not actions:
        refuse(violated("[]", at, "Member must have length greater than or equal to 1"))
    if len(actions) > MAX_ACTIONS:
        refuse(violated(show(actions), at, f"Member must have length less than or equal to {MAX_ACTIONS}"))
    return actions


def transact_write(call: Parameters) -> Requests[Json]:
    """Up to 100 writes, all or none."""
    detail, metrics = call.capacity_detail(), call.choice("ReturnItemCollectionMetrics", _METRICS, "NONE")
    actions = tuple(_action(Parameters(entry)) for entry in _actions(call, "TransactItems"))
    token = call.text("ClientRequestToken")
    response: TransactWriteResponse = yield TransactWriteItems(actions, token)
    body: Json = {}
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(response.capacity, detail, transaction=True)
    if metrics == "SIZE":
        writes = [action for action in actions if isinstance(action, PutItem | DeleteItem)]
        body["ItemCollectionMetrics"] = yield from _all_metrics(writes)
    return body


def _action(entry: Parameters) -> TransactAction:
    given = [name for name in _ACTIONS if entry.given.get(name) is not None]
    if len(given) != 1:
        raise ValidationFailed(
            "TransactItems can only contain one of Check, Put, Update or Delete"
            if given
            else "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        )
    part = Parameters(entry.fields(given[0]) or {})
    return _ACTIONS[given[0]](part, part.table())


def _transact_put(part: Parameters, table: str) -> PutItem:
    item, carries = part.item("Item"), on_failure(part)
    return PutItem(table, item, _condition(part), on_failure_item=carries)


def _transact_delete(part: Parameters, table: str) -> DeleteItem:
    key, carries = part.item("Key"), on_failure(part)
    return DeleteItem(table, key, _condition(part), on_failure_item=carries)


def _transact_update(part: Parameters, table: str) -> UpdateItem:
    key, carries = part.item("Key"), on_failure(part)
    if part.text("UpdateExpression") is None:
        refuse(violated(None, "transactItems.1.member.update.updateExpression", "Member must not be null"))
    trees = read_expressions(part, ("UpdateExpression", "ConditionExpression"))
    update: Update = trees["UpdateExpression"]
    return UpdateItem(table, key, update, trees["ConditionExpression"], on_failure_item=carries)


def _transact_check(part: Parameters, table: str) -> ConditionCheck:
    key, carries = part.item("Key"), on_failure(part)
    if part.text("ConditionExpression") is None:
        at = "transactItems.1.member.conditionCheck.conditionExpression"
        refuse(violated(None, at, "Member must not be null"))
    condition = _condition(part)
    assert condition is not None  # noqa: S101 - its text is there
    return ConditionCheck(table, key, condition, carries)


def _condition(part: Parameters) -> Condition | None:
    condition: Condition | None = read_expressions(part, ("ConditionExpression",))["ConditionExpression"]
    return condition


_ACTIONS: Final[dict[str, Callable[[Parameters, str], TransactAction]]] = {
    "ConditionCheck": _transact_check,
    "Put": _transact_put,
    "Delete": _transact_delete,
    "Update": _transact_update,
}
