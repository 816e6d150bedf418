"""ExecuteStatement, BatchExecuteStatement and ExecuteTransaction."""

from __future__ import annotations

from typing import Any, Final, cast

from partita.errors import ConditionFailed, Reason, RequestError, TransactionCancelled, ValidationFailed
from partita.expressions import Exists, Missing, Path, both
from partita.store import (
    ConditionCheck,
    DeleteItem,
    GetItem,
    Json,
    PutItem,
    Request,
    Returns,
    TableSchema,
    TransactAction,
    TransactGetItems,
    TransactWriteItems,
    UpdateItem,
    wire_item,
)
from partita.values import Item
from partita.wire._capacity import all_consumed, consumed
from partita.wire._describe import described
from partita.wire._faults import Fault, kind_of_error
from partita.wire._items import on_failure
from partita.wire._parameters import Parameters, Requests, refuse, violated
from partita.wire._values import read_value
from partita.wire.partiql._keys import whole_key
from partita.wire.partiql._select import plan_select, position_of, read_pages, selected
from partita.wire.partiql._statements import Check, Insert, Modify, Select, Statement, parse_statement

MAX_BATCH: Final = 25
MAX_TRANSACTION: Final = 100
_DUPLICATE: Final = "Duplicate primary key exists in table"


def execute_statement(call: Parameters) -> Requests[Json]:
    """One statement."""
    detail, statement = call.capacity_detail(), _statement(call)
    if isinstance(statement, Select):
        return (yield from _select(call, statement, detail))
    if isinstance(statement, Check):
        raise ValidationFailed("EXISTS can only be used in a transaction.")
    write = yield from _write(statement, on_failure_item=on_failure(call))
    try:
        response = yield cast("Request[Any]", write)
    except ConditionFailed:
        if isinstance(statement, Insert):
            raise Fault("DuplicateItemException", _DUPLICATE) from None
        raise
    body: Json = {"Items": [] if response.attributes is None else [wire_item(response.attributes)]}
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from consumed(response.capacity, detail)
    return body


def _statement(call: Parameters) -> Statement:
    text = call.required("Statement", "statement")
    return parse_statement(text, [read_value(value) for value in call.members("Parameters") or ()])


def _select(call: Parameters, statement: Select, detail: str) -> Requests[Json]:
    limit = call.whole("Limit")
    if limit is not None and limit < 1:
        refuse(violated(limit, "limit", "Member must have value greater than or equal to 1"))
    description = yield from described(statement.table)
    plan, position = plan_select(statement, description.schema), position_of(call.text("NextToken"))
    if not 0 <= position.partition < max(1, len(plan.partitions)):
        raise ValidationFailed("Invalid NextToken.")
    found = yield from read_pages(plan, position, limit, consistent=call.flag("ConsistentRead") or False)
    body: Json = {"Items": [wire_item(selected(statement, item)) for item in found.items]}
    if found.after is not None:
        body["NextToken"] = found.after.token()
        if found.after.key is not None:
            body["LastEvaluatedKey"] = found.after.key
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from consumed(found.capacity, detail)
    return body


def _write(statement: Insert | Modify | Check, *, on_failure_item: bool) -> Requests[TransactAction]:
    description = yield from described(statement.table)
    schema: TableSchema = description.schema
    here = Path((schema.hash.name,))
    if isinstance(statement, Insert):
        return PutItem(schema.name, statement.item, Missing(here), "NONE", on_failure_item)
    key, rest = whole_key(statement.where, schema)
    if isinstance(statement, Check):
        return ConditionCheck(schema.name, key, both(Exists(here), rest) or Exists(here), on_failure_item)
    returns = cast("Returns", statement.returning or "NONE")
    if statement.update is None:
        return DeleteItem(schema.name, key, rest, returns, on_failure_item)
    return UpdateItem(schema.name, key, statement.update, both(Exists(here), rest), returns, on_failure_item)


def batch_execute(call: Parameters) -> Requests[Json]:
    """Up to 25 statements, each for itself."""
    detail = call.capacity_detail()
    given = _statements(call, "Statements", MAX_BATCH)
    responses, capacity = [], []
    for part in given:
        response, used = yield from _one_of_batch(Parameters(part))
        responses.append(response)
        capacity += used
    body: Json = {"Responses": responses}
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(capacity, detail)
    return body


def _statements(call: Parameters, name: str, limit: int) -> list[Json]:
    at = name[:1].lower() + name[1:]
    if call.given.get(name) is None:
        refuse(violated(None, at, "Member must not be null"))
    given = call.structures(name)
    if not 1 <= len(given) <= limit:
        bound = f"less than or equal to {limit}" if given else "greater than or equal to 1"
        refuse(f"Value at '{at}' failed to satisfy constraint: Member must have length {bound}")
    return given


def _one_of_batch(part: Parameters) -> Requests[tuple[Json, list[Any]]]:
    statement: Statement | None = None
    try:
        statement = _statement(part)
        request = yield from _action(part, statement)
        if isinstance(request, ConditionCheck):
            raise ValidationFailed("EXISTS can only be used in a transaction.")
        response = yield cast("Request[Any]", request)
    except RequestError as error:
        return {"Error": _error(error, statement)}, []
    body: Json = {"TableName": statement.table}
    item = response.item if isinstance(request, GetItem) else response.attributes
    if item is not None:
        body["Item"] = wire_item(_of(statement, item))
    return body, [response.capacity]


def _error(error: RequestError, statement: Statement | None) -> Json:
    if isinstance(error, ConditionFailed) and isinstance(statement, Insert):
        return {"Code": "DuplicateItem", "Message": _DUPLICATE}
    kind = kind_of_error(error)
    codes = {"ValidationException": "ValidationError", "ConditionalCheckFailedException": "ConditionalCheckFailed"}
    body: Json = {"Code": codes.get(kind, kind.removesuffix("Exception")), "Message": error.message}
    if isinstance(error, ConditionFailed) and error.item is not None:
        body["Item"] = wire_item(error.item)
    return body


def _action(part: Parameters, statement: Statement) -> Requests[TransactAction | GetItem]:
    if not isinstance(statement, Select):
        return (yield from _write(statement, on_failure_item=on_failure(part)))
    description = yield from described(statement.table)
    key, rest = whole_key(statement.where, description.schema)
    if rest is not None or statement.index is not None:
        raise ValidationFailed("Select statements within a batch or transaction must specify the primary key alone")
    return GetItem(statement.table, key, part.flag("ConsistentRead") or False)


def execute_transaction(call: Parameters) -> Requests[Json]:
    """Up to 100 statements, all or none; they all read, or all write."""
    detail = call.capacity_detail()
    statements, actions = [], []
    for given in _statements(call, "TransactStatements", MAX_TRANSACTION):
        part = Parameters(given)
        statements.append(_statement(part))
        action = yield from _action(part, statements[-1])
        actions.append(action)
    gets = [action for action in actions if isinstance(action, GetItem)]
    if gets and len(gets) < len(actions):
        raise ValidationFailed("A transaction must either read all its items or write all of them.")
    body: Json = {}
    if gets:
        response = yield TransactGetItems(tuple(gets))
        found = zip(statements, response.items, strict=True)
        body["Responses"] = [{} if item is None else {"Item": wire_item(_of(each, item))} for each, item in found]
    else:
        response = yield from _transact(statements, actions, call.text("ClientRequestToken"))
        body["Responses"] = [{} for _ in actions]
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(response.capacity, detail, transaction=True)
    return body


def _of(statement: Statement, item: Item) -> Item:
    return selected(statement, item) if isinstance(statement, Select) else item


def _transact(statements: list[Statement], actions: list[Any], token: str | None) -> Requests[Any]:
    try:
        return (yield TransactWriteItems(tuple(actions), token))
    except TransactionCancelled as cancelled:
        reasons = [
            Reason("DuplicateItem", _DUPLICATE, reason.item)
            if reason.code == "ConditionalCheckFailed" and isinstance(statement, Insert)
            else reason
            for statement, reason in zip(statements, cancelled.reasons, strict=True)
        ]
        raise TransactionCancelled(reasons) from None
