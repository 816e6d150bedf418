"""GetItem, PutItem, UpdateItem and DeleteItem."""

from __future__ import annotations

from typing import Any, Final, cast

from partita.errors import ValidationFailed
from partita.expressions import Condition, Update
from partita.store import (
    DeleteItem,
    GetItem,
    ItemResponse,
    Json,
    PutItem,
    Returns,
    UpdateItem,
    WriteResponse,
    wire_item,
)
from partita.values import Item
from partita.wire._capacity import collection_metrics, consumed
from partita.wire._expressions import EXPRESSIONS, read_expressions
from partita.wire._legacy import read_expected, read_projection, read_updates, refused_update
from partita.wire._parameters import (
    CONDITIONAL_OPERATORS,
    Parameters,
    Requests,
    member,
    refuse,
    violated,
    violations_of,
)
from partita.wire._update_charge import check_charge
from partita.wire._wording import Refused, Violated, Violation

_RETURNS: Final = ("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
_METRICS: Final = ("SIZE", "NONE")
_ON_FAILURE: Final = ("ALL_OLD", "NONE")
_WRITE_LEGACY: Final = ("Expected", "ConditionalOperator")
_READ_OPTIONS: Final = EXPRESSIONS | {"AttributesToGet", "ConsistentRead"}


def get_item(call: Parameters) -> Requests[Json]:
    """Read one item."""
    table = call.table()
    detail, key = call.capacity_detail(), call.item("Key")
    response: ItemResponse = yield read_get(call, table, key)
    body: Json = {} if response.item is None else {"Item": wire_item(response.item)}
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from consumed(response.capacity, detail)
    return body


def read_get(call: Parameters, table: str, key: Item) -> GetItem:
    """Build the request for one item, with ProjectionExpression or AttributesToGet."""
    if call.lacks(_READ_OPTIONS):
        return GetItem(table, key)
    trees = read_expressions(call, ("ProjectionExpression",), ("AttributesToGet",))
    projection = trees["ProjectionExpression"] or read_projection(call)
    return GetItem(table, key, call.flag("ConsistentRead") or False, projection)


class _WriteOptions:
    """The options that all single-item writes share."""

    def __init__(self, call: Parameters) -> None:
        self.capacity = call.capacity_detail()
        self.metrics = call.choice("ReturnItemCollectionMetrics", _METRICS, "NONE")
        self.returns: Returns = cast("Returns", call.choice("ReturnValues", _RETURNS, "NONE"))
        self.on_failure = on_failure(call)

    def body(self, response: WriteResponse, table: str, key: Item) -> Requests[Json]:
        """The body of the response, with the parts that the client requested."""
        body: Json = {}
        if response.attributes is not None:
            body["Attributes"] = wire_item(response.attributes)
        if self.capacity != "NONE":
            body["ConsumedCapacity"] = yield from consumed(response.capacity, self.capacity)
        if self.metrics == "SIZE":
            metrics = yield from collection_metrics(table, key)
            if metrics is not None:
                body["ItemCollectionMetrics"] = metrics
        return body


def on_failure(call: Parameters) -> bool:
    """Whether a failed condition returns the item."""
    return call.choice("ReturnValuesOnConditionCheckFailure", _ON_FAILURE, "NONE") == "ALL_OLD"


def put_item(call: Parameters) -> Requests[Json]:
    """Put an item."""
    try:
        table, options = call.table(), _WriteOptions(call)
        item = call.item("Item")
    except Violated:
        refuse(*_violations(call, "Item"))
    _check_returns(options.returns)
    request = PutItem(table, item, read_condition(call), options.returns, options.on_failure)
    response: WriteResponse = yield request
    return (yield from options.body(response, table, item))


def delete_item(call: Parameters) -> Requests[Json]:
    """Delete one item."""
    try:
        table, options = call.table(), _WriteOptions(call)
        key = call.item("Key")
    except Violated:
        refuse(*_violations(call, "Key"))
    _check_returns(options.returns)
    request = DeleteItem(table, key, read_condition(call), options.returns, options.on_failure)
    response: WriteResponse = yield request
    return (yield from options.body(response, table, key))


def update_item(call: Parameters) -> Requests[Json]:
    """Update one item, or create it."""
    try:
        table, options = call.table(), _WriteOptions(call)
        key = call.item("Key")
    except Violated:
        refuse(*_violations(call, "Key"))
    update, condition = _read_update(call)
    request = UpdateItem(table, key, update, condition, options.returns, options.on_failure)
    try:
        response: WriteResponse = yield request
    except ValidationFailed as error:
        raise refused_update(call, error) from None
    return (yield from options.body(response, table, key))


def _violations(call: Parameters, required: str) -> list[Violation]:
    """All constraints that a single-item write violates, in AWS's order."""
    found = violations_of(
        call.capacity_detail,
        call.table,
        lambda: call.choice("ReturnValues", _RETURNS),
        lambda: call.choice("ReturnItemCollectionMetrics", _METRICS),
        lambda: on_failure(call),
        lambda: call.choice("ConditionalOperator", CONDITIONAL_OPERATORS),
    )
    if call.given.get(required) is None:
        found.append(violated(None, member(required), "Member must not be null"))
    return found


def _check_returns(returns: str) -> None:
    if returns not in ("NONE", "ALL_OLD"):
        raise Refused("ReturnValues can only be ALL_OLD or NONE")


def read_condition(call: Parameters) -> Condition | None:
    """The condition of a put or delete, from ConditionExpression or Expected."""
    trees = read_expressions(call, ("ConditionExpression",), _WRITE_LEGACY)
    condition = trees["ConditionExpression"]
    return read_expected(call) if condition is None else condition


def _read_update(call: Parameters) -> tuple[Update, Condition | None]:
    kinds, legacy = ("UpdateExpression", "ConditionExpression"), ("AttributeUpdates", *_WRITE_LEGACY)
    trees: Any = read_expressions(call, kinds, legacy)
    if trees["UpdateExpression"] is not None:
        check_charge(trees["UpdateExpression"], call.given.get("ExpressionAttributeValues"))
    update = trees["UpdateExpression"] or read_updates(call) or Update()
    condition = trees["ConditionExpression"]
    return update, read_expected(call) if condition is None else condition
