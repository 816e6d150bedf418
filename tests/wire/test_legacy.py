"""The legacy parameters mean the same as the expressions that replaced them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.wire.support import Caller, Json, task

from partita.errors import ConditionFailed, ValidationFailed

KEY = task("u", "1")


@pytest.fixture
def stored(call: Caller) -> Caller:
    """A caller whose table has one item."""
    call("PutItem", TableName="tasks", Item={**task("u", "1", title="milk"), "n": {"N": "5"}, "tags": {"SS": ["a"]}})
    return call


def rule(operator: str, *values: Json) -> Json:
    return {"ComparisonOperator": operator, "AttributeValueList": list(values)}


@pytest.mark.parametrize(
    ("attribute", "condition", "found"),
    [
        ("title", rule("EQ", {"S": "milk"}), 1),
        ("title", rule("NE", {"S": "milk"}), 0),
        ("n", rule("GT", {"N": "4"}), 1),
        ("n", rule("LE", {"N": "4"}), 0),
        ("n", rule("BETWEEN", {"N": "1"}, {"N": "5"}), 1),
        ("n", rule("IN", {"N": "1"}, {"N": "5"}), 1),
        ("title", rule("BEGINS_WITH", {"S": "mi"}), 1),
        ("title", rule("CONTAINS", {"S": "il"}), 1),
        ("tags", rule("NOT_CONTAINS", {"S": "a"}), 0),
        ("tags", rule("NOT_CONTAINS", {"S": "b"}), 1),
        ("other", rule("NOT_CONTAINS", {"S": "b"}), 0),
        ("title", rule("NOT_NULL"), 1),
        ("title", rule("NULL"), 0),
    ],
)
def test_a_filter_compares(stored: Caller, attribute: str, condition: Json, found: int) -> None:
    by_scan = stored("Scan", TableName="tasks", ScanFilter={attribute: condition})
    key = {"user": rule("EQ", {"S": "u"})}
    by_query = stored("Query", TableName="tasks", KeyConditions=key, QueryFilter={attribute: condition})
    assert (found, found) == (by_scan["Count"], by_query["Count"])


@pytest.mark.rule(52)
def test_key_conditions_may_have_a_range(stored: Caller) -> None:
    conditions = {"user": rule("EQ", {"S": "u"}), "task": rule("BEGINS_WITH", {"S": "2"})}
    assert stored("Query", TableName="tasks", KeyConditions=conditions)["Count"] == 0


def test_key_conditions_go_along_with_other_expressions(stored: Caller) -> None:
    page = stored(
        "Query",
        TableName="tasks",
        KeyConditions={"user": rule("EQ", {"S": "u"})},
        FilterExpression="title = :title",
        ProjectionExpression="n",
        ExpressionAttributeValues={":title": {"S": "milk"}},
    )
    assert page["Items"] == [{"n": {"N": "5"}}]


@pytest.mark.parametrize(("operator", "found"), [("AND", 0), ("OR", 1)])
def test_rules_are_joined_as_the_operator_says(stored: Caller, operator: str, found: int) -> None:
    rules = {"title": rule("EQ", {"S": "milk"}), "n": rule("EQ", {"N": "9"})}
    page = stored("Scan", TableName="tasks", ScanFilter=rules, ConditionalOperator=operator)
    assert found == page["Count"]


@pytest.mark.parametrize(
    ("expected", "holds"),
    [
        ({"title": {"Value": {"S": "milk"}}}, True),
        ({"title": {"Value": {"S": "bread"}}}, False),
        ({"title": {"Exists": False}}, False),
        ({"other": {"Exists": False}}, True),
        ({"n": rule("LT", {"N": "6"})}, True),
    ],
)
def test_a_write_may_expect_something(stored: Caller, expected: Json, *, holds: bool) -> None:
    if holds:
        assert stored("DeleteItem", TableName="tasks", Key=KEY, Expected=expected) == {}
    else:
        with pytest.raises(ConditionFailed):
            stored("DeleteItem", TableName="tasks", Key=KEY, Expected=expected)


def test_attributes_are_updated_by_actions(stored: Caller) -> None:
    updates = {
        "title": {"Action": "PUT", "Value": {"S": "bread"}},
        "n": {"Action": "ADD", "Value": {"N": "2"}},
        "tags": {"Action": "DELETE", "Value": {"SS": ["a"]}},
        "list": {"Action": "ADD", "Value": {"L": [{"S": "x"}]}},
    }
    response = stored("UpdateItem", TableName="tasks", Key=KEY, AttributeUpdates=updates, ReturnValues="ALL_NEW")
    expected = {**task("u", "1", title="bread"), "n": {"N": "7"}, "list": {"L": [{"S": "x"}]}}
    assert expected == response["Attributes"]


def test_only_named_attributes_are_got(stored: Caller) -> None:
    assert stored("GetItem", TableName="tasks", Key=KEY, AttributesToGet=["n", "no"]) == {"Item": {"n": {"N": "5"}}}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ScanFilter": {"n": rule("EQ")}}, "Invalid number of argument.s. for the EQ ComparisonOperator"),
        ({"ScanFilter": {"n": rule("LIKE", {"S": "x"})}}, "Member must satisfy enum value set"),
        ({"ScanFilter": {"n": rule("LT", {"BOOL": True})}}, "ComparisonOperator LT is not valid for BOOL"),
        ({"AttributesToGet": ["n", "n"]}, "Duplicate value in attribute name: n"),
        ({"AttributesToGet": ["n"], "ProjectionExpression": "n"}, "Can not use both expression and non-expression"),
    ],
)
def test_wrong_parameters_are_refused(stored: Caller, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationFailed, match=message):
        stored("Scan", TableName="tasks", **parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Expected": {"n": {"Exists": True, **rule("EQ", {"N": "5"})}}}, "Exists and ComparisonOperator cannot"),
        ({"Expected": {"n": {"Value": {"N": "5"}, **rule("EQ", {"N": "5"})}}}, "Value and AttributeValueList cannot"),
        ({"Expected": {"n": rule("IN", {"L": []})}}, "IN is not valid for L"),
        ({"Expected": {"n": rule("CONTAINS", {"L": []})}}, "CONTAINS is not valid for L"),
        ({"ConditionalOperator": "OR"}, "ConditionalOperator cannot be used without"),
        ({"Expected": {}, "ConditionalOperator": "AND"}, "ConditionalOperator cannot be used without"),
    ],
)
def test_an_expectation_that_breaks_a_rule_is_refused(stored: Caller, parameters: Json, message: str) -> None:
    with pytest.raises(ValidationFailed, match=message):
        stored("DeleteItem", TableName="tasks", Key=KEY, **parameters)


@pytest.mark.parametrize("action", ["ADD", "DELETE"])
def test_an_update_of_another_type_is_a_mismatch(stored: Caller, action: str) -> None:
    update = {"tags": {"Action": action, "Value": {"NS": ["1"]}}}
    with pytest.raises(ValidationFailed, match="Type mismatch for attribute to update"):
        stored("UpdateItem", TableName="tasks", Key=KEY, AttributeUpdates=update)


WRONG: list[tuple[str, Json, str]] = [
    (
        "Query",
        {"KeyConditions": {"user": rule("NE", {"S": "u"})}},
        "constraint is not an indexable operation",
    ),
    ("Scan", {"ScanFilter": {"n": rule("IN", {"S": "x"}, {"N": "1"})}}, "AttributeValueList must be of same type"),
    (
        "Scan",
        {"ScanFilter": {"n": rule("BETWEEN", {"SS": ["a"]}, {"SS": ["b"]})}},
        "BETWEEN is not valid for SS .*",
    ),
    ("DeleteItem", {"Expected": {"n": rule("EQ")}}, r"Invalid number of argument\(s\) for the EQ ComparisonOperator"),
    ("DeleteItem", {"Expected": {"n": {"ComparisonOperator": "EQ"}}}, "ComparisonOperator: EQ for Attribute: n"),
    ("UpdateItem", {"AttributeUpdates": {"n": {"Action": "ADD"}}}, "DELETE action is allowed when no .* is specified"),
    (
        "UpdateItem",
        {"AttributeUpdates": {"n": {"Action": "DELETE", "Value": {"S": "x"}}}},
        "DELETE action with value is not supported for the type S",
    ),
    (
        "Query",
        {"KeyConditions": {"user": rule("EQ", {"S": "u"})}, "QueryFilter": {"task": rule("EQ", {"S": "1"})}},
        "^QueryFilter can only contain non-primary key attributes: Primary key attribute: task",
    ),
]


@pytest.mark.rule(52)
@pytest.mark.parametrize(("operation", "parameters", "message"), WRONG, ids=[message for *_, message in WRONG])
def test_older_parameters_are_refused_with_their_own_messages(
    stored: Caller, operation: str, parameters: Json, message: str
) -> None:
    key = {} if operation in ("Query", "Scan") else {"Key": KEY}
    with pytest.raises(ValidationFailed, match=f"{message}$"):
        stored(operation, TableName="tasks", **key, **parameters)
