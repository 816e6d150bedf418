"""ExecuteStatement, and the translation of statements into requests."""

from __future__ import annotations

import hashlib
from typing import Any, Final, cast

import msgspec

from partita.errors import (
    ConditionFailed,
    TableNotFound,
    ValidationFailed,
)
from partita.expressions import Exists, Missing, Or, Path, both
from partita.store import (
    ConditionCheck,
    DeleteItem,
    Json,
    PutItem,
    Request,
    Returns,
    TableSchema,
    TransactAction,
    UpdateItem,
    wire_item,
)
from partita.values import AttributeValue
from partita.wire._capacity import consumed
from partita.wire._describe import described
from partita.wire._faults import Fault
from partita.wire._items import on_failure
from partita.wire._parameters import Parameters, Requests, refuse, violated
from partita.wire._values import read_value
from partita.wire.partiql._keys import whole_key
from partita.wire.partiql._select import plan_select, position_of, read_pages, selected
from partita.wire.partiql._translate import Check, Insert, Modify, Select, Statement, read_statement

DUPLICATE: Final = "Duplicate primary key exists in table"


def execute_statement(call: Parameters) -> Requests[Json]:
    """Execute one statement."""
    detail, statement = call.capacity_detail(), statement_of(call)
    if isinstance(statement, Select):
        return (yield from _select(call, statement, detail))
    if isinstance(statement, Check):
        raise ValidationFailed("Unsupported operation: Call")
    write = yield from write_of(statement, on_failure_item=on_failure(call))
    try:
        response = yield cast("Request[Any]", write)
    except ConditionFailed:
        if isinstance(statement, Insert):
            raise Fault("DuplicateItemException", DUPLICATE) from None
        raise
    body: Json = {"Items": [wire_item(response.attributes)] if response.attributes else []}
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from consumed(response.capacity, detail)
    return body


def statement_of(call: Parameters) -> Statement:
    """The statement of a call, with its parameters filled in."""
    text, parameters = call.required("Statement", "statement"), parameters_of(call)
    return read_statement(text, parameters)


def parameters_of(call: Parameters) -> list[AttributeValue]:
    """The parameters of a statement."""
    check_parameters(call)
    return [read_value(value) for value in call.members("Parameters") or ()]


def check_parameters(call: Parameters) -> None:
    """Refuse an empty list of parameters."""
    if call.members("Parameters") == []:
        refuse(violated("[]", f"{call.at}parameters", "Member must have length greater than or equal to 1"))


def _select(call: Parameters, statement: Select, detail: str) -> Requests[Json]:
    limit, consistent = call.whole("Limit"), call.flag("ConsistentRead") or False
    if limit is not None and limit < 1:
        refuse(violated(limit, "limit", "Member must have value greater than or equal to 1"))
    schema = yield from schema_of(statement)
    plan = plan_select(statement, schema)
    if consistent and schema.is_global(statement.index):
        raise ValidationFailed("Strongly consistent read is not supported on Global Secondary Indexes")
    position = position_of(call.text("NextToken"), _fingerprint(call))
    if not 0 <= position.partition < max(1, len(plan.partitions)):
        raise ValidationFailed("Invalid NextToken")
    found = yield from read_pages(plan, position, limit, consistent=consistent)
    paths = statement.paths
    body: Json = {"Items": [wire_item(selected(paths, item)) for item in found.items]}
    if found.after is not None:
        body["NextToken"] = found.after.token()
        if found.after.key is not None:
            body["LastEvaluatedKey"] = found.after.key
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from consumed(found.capacity, detail)
    return body


def schema_of(statement: Select) -> Requests[TableSchema]:
    """The table schema of a SELECT; if the table does not exist, invalid columns are reported first."""
    try:
        description = yield from described(statement.table)
    except TableNotFound:
        assert statement.paths is not None  # noqa: S101 - `paths` raises for invalid columns
        raise
    schema: TableSchema = description.schema
    return schema


def _fingerprint(call: Parameters) -> str:
    """A hash of the statement and its parameters, to which page tokens are bound."""
    asked = msgspec.json.encode((call.given["Statement"], call.given.get("Parameters")))
    return hashlib.sha256(asked).hexdigest()[:16]


def write_of(statement: Insert | Modify | Check, *, on_failure_item: bool) -> Requests[TransactAction]:
    """The request of a statement that writes, or that only checks a condition."""
    description = yield from described(statement.table)
    schema: TableSchema = description.schema
    here = Path((schema.hash.name,))
    if isinstance(statement, Insert):
        return PutItem(schema.name, statement.item, Missing(here), "NONE", on_failure_item)
    key, rest = whole_key(statement.where, schema)
    if isinstance(statement, Check):
        if rest is None:
            raise ValidationFailed("EXISTS() must contain a single item read with additional condition")
        return ConditionCheck(schema.name, key, both(Exists(here), rest), on_failure_item)
    returns = cast("Returns", statement.returning or "NONE")
    if statement.update is None:
        # Deleting a missing item does nothing, so the condition need not hold for it.
        condition = None if rest is None else Or((Missing(here), rest))
        return DeleteItem(schema.name, key, condition, returns, on_failure_item)
    return UpdateItem(schema.name, key, statement.update, both(Exists(here), rest), returns, on_failure_item)
