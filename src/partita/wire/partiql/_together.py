"""BatchExecuteStatement and ExecuteTransaction."""

from __future__ import annotations

from typing import Any, Final, cast

from partita.errors import ConditionFailed, Reason, RequestError, TransactionCancelled, ValidationFailed
from partita.store import (
    GetItem,
    Json,
    PutItem,
    Request,
    TransactAction,
    TransactGetItems,
    TransactWriteItems,
    wire_item,
)
from partita.values import Item
from partita.wire._batches import client_token
from partita.wire._capacity import all_consumed
from partita.wire._faults import kind_of_error, message_of
from partita.wire._items import on_failure
from partita.wire._parameters import Parameters, Requests, member, refuse, violated
from partita.wire._wording import UNSHOWN, worded
from partita.wire.partiql._keys import whole_key
from partita.wire.partiql._operations import (
    DUPLICATE,
    check_parameters,
    parameters_of,
    schema_of,
    statement_of,
    write_of,
)
from partita.wire.partiql._select import index_of, selected
from partita.wire.partiql._translate import Check, Insert, Modify, Select, Statement, read_statement

MAX_BATCH: Final = 25
MAX_TRANSACTION: Final = 100


def _action(part: Parameters, statement: Statement, operation: str) -> Requests[TransactAction | GetItem]:
    """The request of one statement of several: it reads or writes a single item."""
    if not isinstance(statement, Select):
        return (yield from write_of(statement, on_failure_item=on_failure(part)))
    schema = yield from schema_of(statement)
    index_of(statement, schema)
    try:
        key, rest = whole_key(statement.where, schema)
    except ValidationFailed:
        key, rest = {}, statement.where
    if not key or rest is not None or statement.index is not None:
        message = f"Select statements within {operation} must specify the primary key in the where clause."
        raise ValidationFailed(message)
    assert statement.paths is not None  # noqa: S101 - `paths` raises for columns that are not paths
    return GetItem(statement.table, key, part.flag("ConsistentRead") or False)


def batch_execute(call: Parameters) -> Requests[Json]:
    """Execute up to 25 statements independently."""
    detail = call.capacity_detail()
    given = [Parameters(part) for part in _statements(call, "Statements", MAX_BATCH)]
    prepared: list[tuple[Statement | None, Any]] = []
    for part in given:
        prepared += [(yield from _prepared(part))]
    _check_batch([request for _, request in prepared if not isinstance(request, RequestError)])
    responses, capacity = [], []
    for statement, request in prepared:
        response, used = yield from _one_of_batch(statement, request)
        responses.append(response)
        capacity += used
    body: Json = {"Responses": responses}
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(capacity, detail)
    return body


def _statements(call: Parameters, name: str, limit: int) -> list[Json]:
    at = member(name)
    if call.given.get(name) is None:
        refuse(violated(None, at, "Member must not be null"))
    given = call.structures(name)
    if not 1 <= len(given) <= limit:
        bound = f"less than or equal to {limit}" if given else "greater than or equal to 1"
        refuse(violated(UNSHOWN, at, f"Member must have length {bound}"))
    for place, part in enumerate(given, 1):
        check_parameters(Parameters(part, at=f"{at}.{place}.member."))
    return given


def _prepared(part: Parameters) -> Requests[tuple[Statement | None, Any]]:
    """A statement of a batch with its request, or with the error that refuses it."""
    statement: Statement | None = None
    try:
        statement = statement_of(part)
        if isinstance(statement, Check):
            return statement, ValidationFailed("Unsupported operation: Call")
        request = yield from _action(part, statement, "BatchExecuteStatement")
    except RequestError as error:
        return statement, error
    return statement, request


def _check_batch(requests: list[Any]) -> None:
    """Refuse a batch that both reads and writes, or that has the same key twice."""
    reads = sum(isinstance(request, GetItem) for request in requests)
    if 0 < reads < len(requests):
        raise ValidationFailed("Read and write requests together in the same batch is not supported.")
    keys = [(request.table, request.key) for request in requests if not isinstance(request, PutItem)]
    if any(key in keys[:place] for place, key in enumerate(keys)):
        raise ValidationFailed("Provided list of item keys contains duplicates")


def _one_of_batch(statement: Statement | None, request: Any) -> Requests[tuple[Json, list[Any]]]:
    if isinstance(request, RequestError):
        return _failed(request, statement), []
    assert statement is not None  # noqa: S101 - a statement with a request was parsed
    try:
        response = yield cast("Request[Any]", request)
    except RequestError as error:
        return _failed(error, statement), []
    body: Json = {"TableName": statement.table}
    item = response.item if isinstance(request, GetItem) else response.attributes
    if item:
        body["Item"] = wire_item(_of(statement, item))
    return body, [response.capacity]


def _failed(error: RequestError, statement: Statement | None) -> Json:
    """The response for a failed statement; it has the table name if the statement was executed."""
    described = _error(error, statement)
    if statement is None or described["Code"] == "ValidationError":
        return {"Error": described}
    return {"Error": described, "TableName": statement.table}


def _error(error: RequestError, statement: Statement | None) -> Json:
    if isinstance(error, ConditionFailed) and isinstance(statement, Insert):
        return {"Code": "DuplicateItem", "Message": DUPLICATE}
    kind, said = kind_of_error(error), worded(error, "BatchExecuteStatement")
    codes = {"ValidationException": "ValidationError", "ConditionalCheckFailedException": "ConditionalCheckFailed"}
    body: Json = {"Code": codes.get(kind, kind.removesuffix("Exception")), "Message": message_of(said, kind)}
    if isinstance(error, ConditionFailed) and error.item is not None:
        body["Item"] = wire_item(error.item)
    return body


def execute_transaction(call: Parameters) -> Requests[Json]:
    """Execute up to 100 statements, all or none; they either all read or all write."""
    detail, token = call.capacity_detail(), client_token(call)
    given = [Parameters(part) for part in _statements(call, "TransactStatements", MAX_TRANSACTION)]
    statements, actions = [], []
    for place, part in enumerate(given):
        statement, action = yield from _part_of_transaction(part, place)
        statements.append(statement)
        actions.append(action)
    gets = [action for action in actions if isinstance(action, GetItem)]
    if gets and len(gets) < len(actions):
        message = "ExecuteTransaction API does not support both read and write operations in the same request."
        raise ValidationFailed(message)
    body: Json = {"Responses": []}
    if gets:
        response = yield TransactGetItems(tuple(gets))
        found = zip(statements, response.items, strict=True)
        body["Responses"] = [{} if item is None else {"Item": wire_item(_of(each, item))} for each, item in found]
    else:
        response = yield from _transact(statements, actions, token)
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(response.capacity, detail, transaction=True)
    return body


def _part_of_transaction(part: Parameters, place: int) -> Requests[tuple[Statement, TransactAction | GetItem]]:
    """A statement and its action; errors name the position of the statement."""
    text, parameters = part.required("Statement", "statement"), parameters_of(part)
    try:
        statement = read_statement(text, parameters)
        _check_transactional(statement)
        action = yield from _action(part, statement, "ExecuteTransaction")
    except ValidationFailed as error:
        said = worded(error, "ExecuteTransaction")
        raise ValidationFailed(f"Validation failed in TransactStatements[{place}]: {said}") from None
    return statement, action


def _check_transactional(statement: Statement) -> None:
    if isinstance(statement, Select) and statement.index is not None:
        raise ValidationFailed("Reads on indices are not supported within transactions.")
    if isinstance(statement, Modify) and statement.returning is not None:
        raise ValidationFailed("RETURNING clause is not supported in ExecuteTransaction.")


def _of(statement: Statement, item: Item) -> Item:
    return selected(statement.paths, item) if isinstance(statement, Select) else item


def _transact(statements: list[Statement], actions: list[Any], token: str | None) -> Requests[Any]:
    try:
        return (yield TransactWriteItems(tuple(actions), token))
    except TransactionCancelled as cancelled:
        reasons = [
            Reason("DuplicateItem", DUPLICATE, reason.item)
            if reason.code == "ConditionalCheckFailed" and isinstance(statement, Insert)
            else reason
            for statement, reason in zip(statements, cancelled.reasons, strict=True)
        ]
        raise TransactionCancelled(reasons) from None
