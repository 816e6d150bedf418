"""ExecuteStatement, BatchExecuteStatement and ExecuteTransaction."""

from __future__ import annotations

import base64
from collections.abc import Generator
from typing import Any, Final, cast

import msgspec

from partita._values import AttributeValue, Item
from partita.errors import ConditionFailed, Reason, RequestError, TransactionCancelled, ValidationFailed
from partita.expressions._ast import (
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Exists,
    KeyCondition,
    KeyRange,
    Missing,
    Path,
    Value,
    both,
    paths_in,
)
from partita.expressions._paths import MISSING, resolve
from partita.store._requests import (
    DeleteItem,
    GetItem,
    PageResponse,
    PutItem,
    QueryTable,
    Request,
    Returns,
    ScanTable,
    TransactAction,
    TransactGetItems,
    TransactWriteItems,
    UpdateItem,
)
from partita.store._schema import TableSchema
from partita.store._wire import Json, wire_item
from partita.wire._capacity import all_consumed, consumed
from partita.wire._faults import Fault, kind_of_error
from partita.wire._parameters import Parameters, refuse, violated
from partita.wire._statements import Change, Insert, Select, Statement, parse_statement
from partita.wire._steps import Steps, described
from partita.wire._values import read_item, read_value

MAX_BATCH: Final = 25
MAX_TRANSACTION: Final = 100
_DUPLICATE: Final = "Duplicate primary key exists in table"


def execute_statement(call: Parameters) -> Steps:
    """One statement."""
    told, statement = call.capacity(), _statement(call)
    if isinstance(statement, Select):
        return (yield from _select(call, statement, told))
    write = yield from _write(statement)
    try:
        response = yield cast("Request[Any]", write)
    except ConditionFailed:
        if isinstance(statement, Insert):
            raise Fault("DuplicateItemException", _DUPLICATE) from None
        raise
    body: Json = {"Items": [] if response.attributes is None else [wire_item(response.attributes)]}
    if told != "NONE":
        body["ConsumedCapacity"] = yield from consumed(response.capacity, told)
    return body


def _statement(call: Parameters) -> Statement:
    text = call.required("Statement", "statement")
    return parse_statement(text, [read_value(value) for value in call.members("Parameters") or ()])


def _select(call: Parameters, statement: Select, told: str) -> Steps:
    description = yield from described(statement.table)
    start, limit = _start(call.text("NextToken")), call.whole("Limit")
    consistent = call.flag("ConsistentRead") or False
    request = _reading(statement, description.schema, start, limit, consistent=consistent)
    page: PageResponse = yield request
    body: Json = {"Items": [wire_item(_picked(statement, item)) for item in page.items]}
    if page.last_key is not None:
        body["LastEvaluatedKey"] = wire_item(page.last_key)
        body["NextToken"] = base64.b64encode(msgspec.json.encode(body["LastEvaluatedKey"])).decode()
    if told != "NONE":
        body["ConsumedCapacity"] = yield from consumed(page.capacity, told)
    return body


def _start(token: str | None) -> Item | None:
    if token is None:
        return None
    try:
        return read_item(msgspec.json.decode(base64.b64decode(token)))
    except (ValueError, msgspec.MsgspecError):
        raise ValidationFailed("Invalid NextToken.") from None


def _reading(
    statement: Select, schema: TableSchema, start: Item | None, limit: int | None, *, consistent: bool
) -> QueryTable | ScanTable:
    """A query where the condition fixes a partition, else a scan with all of it as the filter."""
    index = None if statement.index is None else schema.index(statement.index)
    if statement.index is not None and index is None:
        raise ValidationFailed(f"The table does not have the specified index: {statement.index}")
    hashes = [part.name for part in (schema.hash,)] if index is None else [part.name for part in index.hash]
    ranges = [part.name for part in schema.key[1:]] if index is None else [part.name for part in index.range]
    key, rest = _key_condition(_terms(statement.where), hashes, ranges)
    names = {str(path.parts[0]) for term in rest for path in paths_in(term)}
    if key is None or names.intersection((*hashes, *ranges)):
        return ScanTable(schema.name, statement.index, statement.where, start=start, limit=limit, consistent=consistent)
    return QueryTable(
        schema.name,
        key,
        statement.index,
        _conjunction(rest),
        start=start,
        limit=limit,
        forward=statement.forward,
        consistent=consistent,
    )


def _terms(condition: Condition | None) -> list[Condition]:
    if condition is None:
        return []
    return [part for term in condition.terms for part in _terms(term)] if isinstance(condition, And) else [condition]


def _conjunction(terms: list[Condition]) -> Condition | None:
    return None if not terms else terms[0] if len(terms) == 1 else And(tuple(terms))


def _key_condition(
    terms: list[Condition], hashes: list[str], ranges: list[str]
) -> tuple[KeyCondition | None, list[Condition]]:
    equal: dict[str, AttributeValue] = {}
    limits: dict[str, KeyRange] = {}
    rest = []
    for term in terms:
        name, value = _equality(term)
        limit = _range(term)
        if name in (*hashes, *ranges) and name not in equal:
            equal[str(name)] = value
        elif limit is not None and limit.name in ranges and not limits:
            limits[limit.name] = limit
        else:
            rest.append(term)
    leading = [name for name in ranges if name in equal]
    fits = leading == ranges[: len(leading)] and list(limits) in ([], ranges[len(leading) : len(leading) + 1])
    if not fits or any(name not in equal for name in hashes):
        return None, terms
    return KeyCondition(tuple(equal.items()), next(iter(limits.values()), None)), rest


def _equality(term: Condition) -> tuple[str | None, AttributeValue]:
    if isinstance(term, Compare) and term.op == "=":
        for left, right in ((term.left, term.right), (term.right, term.left)):
            if isinstance(left, Path) and len(left.parts) == 1 and isinstance(right, Value):
                return str(left.parts[0]), right.value
    return None, None


def _range(term: Condition) -> KeyRange | None:
    match term:
        case Compare(("<" | "<=" | ">" | ">=") as op, Path((str(name),)), Value(value)):
            return KeyRange(name, op, (value,))
        case Between(Path((str(name),)), Value(low), Value(high)):
            return KeyRange(name, "BETWEEN", (low, high))
        case BeginsWith(Path((str(name),)), Value(prefix)):
            return KeyRange(name, "BEGINS_WITH", (prefix,))
    return None


def _picked(statement: Select, item: Item) -> Item:
    """The paths that were asked for, each by its last name."""
    if not statement.paths:
        return item
    found = ((path, resolve(path, item)) for path in statement.paths)
    return {_last_name(path): value for path, value in found if value is not MISSING}


def _last_name(path: Path) -> str:
    return next(part for part in reversed(path.parts) if isinstance(part, str))


def _write(statement: Insert | Change) -> Generator[Request[Any], Any, TransactAction]:
    description = yield from described(statement.table)
    schema: TableSchema = description.schema
    if isinstance(statement, Insert):
        return PutItem(schema.name, statement.item, Missing(Path((schema.hash.name,))))
    key, rest = _whole_key(statement.where, schema)
    returns = cast("Returns", statement.returning or "NONE")
    if statement.update is None:
        return DeleteItem(schema.name, key, rest, returns)
    condition = both(Exists(Path((schema.hash.name,))), rest)
    return UpdateItem(schema.name, key, statement.update, condition, returns)


def _whole_key(where: Condition | None, schema: TableSchema) -> tuple[Item, Condition | None]:
    key: Item = {}
    rest = []
    names = [part.name for part in schema.key]
    for term in _terms(where):
        name, value = _equality(term)
        if name in names and name not in key:
            key[str(name)] = value
        else:
            rest.append(term)
    if len(key) < len(names):
        raise ValidationFailed("Where clause does not contain a mandatory equality on all key attributes")
    return key, _conjunction(rest)


def batch_execute(call: Parameters) -> Steps:
    """Up to 25 statements, each for itself."""
    told = call.capacity()
    given = _listed(call, "Statements", MAX_BATCH)
    responses, capacity = [], []
    for part in given:
        response, used = yield from _one_of_batch(Parameters(part))
        responses.append(response)
        capacity += used
    body: Json = {"Responses": responses}
    if told != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(capacity, told)
    return body


def _listed(call: Parameters, name: str, most: int) -> list[Json]:
    at = name[:1].lower() + name[1:]
    if call.given.get(name) is None:
        refuse(violated(None, at, "Member must not be null"))
    given = call.structures(name)
    if not 1 <= len(given) <= most:
        bound = f"less than or equal to {most}" if given else "greater than or equal to 1"
        refuse(f"Value at '{at}' failed to satisfy constraint: Member must have length {bound}")
    return given


def _one_of_batch(part: Parameters) -> Generator[Request[Any], Any, tuple[Json, list[Any]]]:
    statement: Statement | None = None
    try:
        statement = _statement(part)
        request = yield from _action(statement, consistent=part.flag("ConsistentRead") or False)
        response = yield cast("Request[Any]", request)
    except RequestError as error:
        return {"Error": _error(error, statement)}, []
    answer: Json = {"TableName": statement.table}
    item = response.item if isinstance(request, GetItem) else response.attributes
    if item is not None:
        answer["Item"] = wire_item(_picked(statement, item) if isinstance(statement, Select) else item)
    return answer, [response.capacity]


def _error(error: RequestError, statement: Statement | None) -> Json:
    if isinstance(error, ConditionFailed) and isinstance(statement, Insert):
        return {"Code": "DuplicateItem", "Message": _DUPLICATE}
    kind = kind_of_error(error)
    codes = {"ValidationException": "ValidationError", "ConditionalCheckFailedException": "ConditionalCheckFailed"}
    body: Json = {"Code": codes.get(kind, kind.removesuffix("Exception")), "Message": error.message}
    if isinstance(error, ConditionFailed) and error.item is not None:
        body["Item"] = wire_item(error.item)
    return body


def _action(statement: Statement, *, consistent: bool) -> Generator[Request[Any], Any, TransactAction | GetItem]:
    if not isinstance(statement, Select):
        return (yield from _write(statement))
    description = yield from described(statement.table)
    key, rest = _whole_key(statement.where, description.schema)
    if rest is not None:
        raise ValidationFailed("Select statements within a batch or transaction must specify the primary key alone")
    return GetItem(statement.table, key, consistent)


def execute_transaction(call: Parameters) -> Steps:
    """Up to 100 statements, all or none; they all read, or all write."""
    told = call.capacity()
    statements, actions = [], []
    for part in _listed(call, "TransactStatements", MAX_TRANSACTION):
        statements.append(_statement(Parameters(part)))
        action = yield from _action(statements[-1], consistent=True)
        actions.append(action)
    gets = [action for action in actions if isinstance(action, GetItem)]
    if gets and len(gets) < len(actions):
        raise ValidationFailed("A transaction must either read all its items or write all of them.")
    body: Json = {}
    if gets:
        response = yield TransactGetItems(tuple(gets))
        picked = zip(statements, response.items, strict=True)
        body["Responses"] = [{} if item is None else {"Item": wire_item(_of(each, item))} for each, item in picked]
    else:
        response = yield from _transact(statements, actions, call.text("ClientRequestToken"))
        body["Responses"] = [{} for _ in actions]
    if told != "NONE":
        body["ConsumedCapacity"] = yield from all_consumed(response.capacity, told, transaction=True)
    return body


def _of(statement: Statement, item: Item) -> Item:
    return _picked(statement, item) if isinstance(statement, Select) else item


def _transact(statements: list[Statement], actions: list[Any], token: str | None) -> Generator[Request[Any], Any, Any]:
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
