"""The size of an update expression has a limit of its own, besides that of the resulting item."""

from __future__ import annotations

import pytest
from tests.wire.support import Caller, Json, task

from partita.errors import ValidationFailed
from partita.expressions import Substitutions, parse_update
from partita.wire._update_charge import charge
from partita.wire._values import read_value

pytestmark = pytest.mark.rule(5)

LARGEST = 409_600
KEY = task("u", "1")
CHARGED: dict[str, tuple[str, Json, int]] = {
    "a value": ("SET b = :pad, c = :v", {":v": {"S": "y"}}, 19 + 1 + 1),
    "a longer name": ("SET b = :pad, cdef = :v", {":v": {"S": "y"}}, 19 + 4 + 1),
    "a value used twice": ("SET b = :pad, c = :v, d = :v", {":v": {"S": "y" * 300}}, 2 * (19 + 1 + 300)),
    "a map": ("SET b = :pad, c = :v", {":v": {"M": {"a": {"S": "yy"}}}}, 19 + 1 + 3 + 1 + 1 + 2),
    "into a map": ("SET b = :pad, m.abc = :v", {":v": {"S": "y"}}, 19 + 1 + 4 + 3 + 1),
    "into a list": ("SET b = :pad, l[0] = :v", {":v": {"S": "y"}}, 19 + 1 + 4 + 1 + 1),
    "a path": ("SET b = :pad, c = m.abc", {}, 19 + 1 + 1 + 14 + 1 + 14 + 3),
    "a sum": ("SET b = :pad, n = n + :v", {":v": {"N": "1"}}, 19 + 1 + 34 + 1 + 14 + 1 + 2),
    "a difference": ("SET b = :pad, n = n - :v", {":v": {"N": "1"}}, 19 + 1 + 37 + 1 + 14 + 1 + 2),
    "a default": ("SET b = :pad, n = if_not_exists(n, :v)", {":v": {"S": "y" * 10}}, 19 + 1 + 39 + 15 + 1 + 10),
    "a longer list": (
        "SET b = :pad, l = list_append(l, :v)",
        {":v": {"L": [{"S": "y"}]}},
        19 + 1 + 37 + 16 + 3 + 1 + 1,
    ),
    "an addition": ("SET b = :pad ADD n :v", {":v": {"N": "1"}}, 19 + 1 + 2),
    "members": ("SET b = :pad ADD ss :v", {":v": {"SS": ["y" * 500]}}, 19 + 2 + 500),
    "a removal": ("SET b = :pad REMOVE abcdefghij", {}, 1 + 10),
    "a removal from a list": ("SET b = :pad REMOVE l[10]", {}, 1 + 1 + 4 + 2),
    "members taken out": ("SET b = :pad DELETE ss :v", {":v": {"SS": ["a"]}}, 1 + 2),
}


@pytest.mark.parametrize(("expression", "values", "counted"), CHARGED.values(), ids=CHARGED.keys())
def test_each_clause_counts(expression: str, values: Json, counted: int) -> None:
    given = {name: read_value(value) for name, value in {**values, ":pad": {"S": "pad"}}.items()}
    assert charge(parse_update(expression, Substitutions({}, given))) == 3 + (19 + 1 + 3) + counted


def test_an_update_that_counts_too_much_is_refused(call: Caller) -> None:
    padding = LARGEST - 3 - 19 - 1
    changes: Json = {
        "UpdateExpression": "SET b = :pad",
        "ExpressionAttributeValues": {":pad": {"S": "x" * (padding + 1)}},
    }
    with pytest.raises(ValidationFailed, match=r"^Item size to update has exceeded the maximum allowed size$"):
        call("UpdateItem", TableName="tasks", Key=KEY, **changes)
    changes["ExpressionAttributeValues"] = {":pad": {"S": "x" * padding}}
    call("UpdateItem", TableName="tasks", Key=KEY, **changes)


def test_the_item_that_results_counts_too(call: Caller) -> None:
    long_key = task("u" * 200, "1")
    values = {":pad": {"S": "x" * (LARGEST - 4 - 200 - 4 - 1 - 1)}}
    changes: Json = {"UpdateExpression": "SET b = :pad", "ExpressionAttributeValues": values}
    call("UpdateItem", TableName="tasks", Key=long_key, **changes)
    values[":pad"]["S"] += "x"
    with pytest.raises(ValidationFailed, match="Item size to update"):
        call("UpdateItem", TableName="tasks", Key=long_key, **changes)


def test_it_is_said_before_the_condition(call: Caller) -> None:
    values = {":v": {"S": "x" * (LARGEST + 100)}}
    changes = {"UpdateExpression": "SET n = if_not_exists(n, :v)", "ExpressionAttributeValues": values}
    with pytest.raises(ValidationFailed, match="Item size to update"):
        call("UpdateItem", TableName="tasks", Key=KEY, ConditionExpression="attribute_exists(nope)", **changes)


def test_other_writes_count_the_item_alone(call: Caller) -> None:
    padding = LARGEST - 4 - 1 - 4 - 1 - 1
    key = {"TableName": "tasks", "Key": task("v", "1")}
    call("UpdateItem", **key, AttributeUpdates={"b": {"Action": "PUT", "Value": {"S": "x" * padding}}})
    changes = {"UpdateExpression": "SET b = :v", "ExpressionAttributeValues": {":v": {"S": "y" * padding}}}
    call("TransactWriteItems", TransactItems=[{"Update": {**key, **changes}}])
    statement = "UPDATE tasks SET b = ? WHERE \"user\" = 'v' AND task = '1'"
    call("ExecuteStatement", Statement=statement, Parameters=[{"S": "z" * padding}])
