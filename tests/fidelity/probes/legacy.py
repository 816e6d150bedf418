"""The legacy parameters: AttributeUpdates, AttributesToGet, Expected, KeyConditions, QueryFilter and ScanFilter."""

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, Refused, probe, refused, same
from tests.fidelity._attributes import Json, n, nested, s

FAILED = "ConditionalCheckFailedException"

_UPDATES: dict[str, tuple[Json, Json, Json]] = {
    "put": ({"a": n(1)}, {"a": {"Action": "PUT", "Value": n(2)}}, {"a": n(2)}),
    "put is the default": ({"a": n(1)}, {"a": {"Value": n(2)}}, {"a": n(2)}),
    "add to a number": ({"a": n(1)}, {"a": {"Action": "ADD", "Value": n(2)}}, {"a": n(3)}),
    "add to nothing": ({}, {"a": {"Action": "ADD", "Value": n(2)}}, {"a": n(2)}),
    "add to a set": ({"a": {"SS": ["x"]}}, {"a": {"Action": "ADD", "Value": {"SS": ["y"]}}}, {"a": {"SS": ["x", "y"]}}),
    "delete": ({"a": n(1), "b": n(2)}, {"a": {"Action": "DELETE"}}, {"b": n(2)}),
    "delete from a set": (
        {"a": {"SS": ["x", "y"]}},
        {"a": {"Action": "DELETE", "Value": {"SS": ["y"]}}},
        {"a": {"SS": ["x"]}},
    ),
    "several": (
        {"a": n(1), "b": n(2)},
        {"a": {"Action": "DELETE"}, "c": {"Action": "PUT", "Value": s("x")}},
        {"b": n(2), "c": s("x")},
    ),
}


@probe(rule=52, tier=3, cases=_UPDATES)
def attribute_updates_make_this_change(api: Api, before: Json, updates: Json, after: Json) -> None:
    """Each attribute has a separate action."""
    key = api.new_key()
    api.put("hash", {**key, **before})
    api("UpdateItem", TableName=api.table("hash"), Key=key, AttributeUpdates=updates)
    item = api.get("hash", key) or {}
    found = {name: {k: sorted(v) if k == "SS" else v for k, v in value.items()} for name, value in item.items()}
    same(found, {**key, **after})


@probe(rule=52, tier=3)
def attribute_updates_spare_the_key(api: Api) -> None:
    """The key cannot be changed."""
    updates = {"pk": {"Action": "PUT", "Value": s("x")}}
    refused(api, "UpdateItem", TableName=api.table("hash"), Key=api.new_key(), AttributeUpdates=updates)


_MIXED: dict[str, tuple[str, dict[str, Any]]] = {
    "AttributeUpdates": (
        "UpdateItem",
        {"AttributeUpdates": {"a": {"Value": n(1)}}, "UpdateExpression": "REMOVE a", "Key": {"pk": s("x")}},
    ),
    "Expected": (
        "PutItem",
        {
            "Expected": {"a": {"Exists": False}},
            "ConditionExpression": "attribute_not_exists(a)",
            "Item": {"pk": s("x")},
        },
    ),
    "AttributesToGet": ("GetItem", {"AttributesToGet": ["a"], "ProjectionExpression": "a", "Key": {"pk": s("x")}}),
    "ScanFilter": (
        "Scan",
        {
            "ScanFilter": {"a": {"ComparisonOperator": "NULL"}},
            "FilterExpression": "attribute_not_exists(a)",
        },
    ),
    "KeyConditions": (
        "Query",
        {
            "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [s("x")]}},
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": s("x")},
        },
    ),
}


@probe(rule=52, tier=3, cases=_MIXED)
def older_parameters_and_expressions_do_not_mix(api: Api, operation: str, given: dict[str, Any]) -> None:
    """A call uses one kind or the other."""
    pattern = "Can not use both expression and non-expression parameters"
    refused(api, operation, pattern=pattern, TableName=api.table("hash"), **given)


_EXPECTED: dict[str, tuple[Json, dict[str, Any], bool]] = {
    "missing": ({}, {"Expected": {"a": {"Exists": False}}}, True),
    "missing, but there": ({"a": n(1)}, {"Expected": {"a": {"Exists": False}}}, False),
    "equal": ({"a": n(1)}, {"Expected": {"a": {"Exists": True, "Value": n(1)}}}, True),
    "equal, but other": ({"a": n(1)}, {"Expected": {"a": {"Value": n(2)}}}, False),
    "operator": ({"a": n(5)}, {"Expected": {"a": {"ComparisonOperator": "GT", "AttributeValueList": [n(4)]}}}, True),
    "begins": (
        {"a": s("apple")},
        {"Expected": {"a": {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [s("app")]}}},
        True,
    ),
    "not null": ({"a": n(1)}, {"Expected": {"a": {"ComparisonOperator": "NOT_NULL"}}}, True),
    "null": ({"a": n(1)}, {"Expected": {"a": {"ComparisonOperator": "NULL"}}}, False),
    "in": (
        {"a": n(1)},
        {"Expected": {"a": {"ComparisonOperator": "IN", "AttributeValueList": [n(2), n(1)]}}},
        True,
    ),
    "all of two": (
        {"a": n(1), "b": n(2)},
        {"Expected": {"a": {"Value": n(1)}, "b": {"Value": n(9)}}, "ConditionalOperator": "AND"},
        False,
    ),
    "one of two": (
        {"a": n(1), "b": n(2)},
        {
            "Expected": {
                "a": {"ComparisonOperator": "EQ", "AttributeValueList": [n(1)]},
                "b": {"ComparisonOperator": "EQ", "AttributeValueList": [n(9)]},
            },
            "ConditionalOperator": "OR",
        },
        True,
    ),
}


@probe(rule=52, tier=3, cases=_EXPECTED)
def expected_is_a_condition(api: Api, before: Json, given: dict[str, Any], outcome: bool) -> None:  # noqa: FBT001
    """A delete whose condition fails deletes nothing."""
    key = api.new_key()
    api.put("hash", {**key, **before})
    try:
        api("DeleteItem", TableName=api.table("hash"), Key=key, **given)
        done = True
    except Refused as refusal:
        if refusal.kind != FAILED:
            raise
        done = False
    same((done, api.get("hash", key) is None), (outcome, outcome))


def _scanned(api: Api, table: str, **given: Any) -> list[Json]:
    """Return the items of all pages of a scan."""
    items: list[Json] = []
    start: dict[str, Any] = {}
    while True:
        page = api("Scan", TableName=table, **given, **start)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


@probe(rule=52, tier=3)
def attributes_to_get_are_all_that_comes_back(api: Api) -> None:
    """Get, batch, query and scan add no keys, and leave out missing attributes."""
    key = api.new_key("a")
    api.put("pair", {**key, "a": n(1), "b": n(2)})
    table, wanted = api.table("pair"), ["a", "gone"]
    same(api("GetItem", TableName=table, Key=key, AttributesToGet=wanted)["Item"], {"a": n(1)})
    batch = {table: {"Keys": [key], "AttributesToGet": wanted}}
    same(api("BatchGetItem", RequestItems=batch)["Responses"][table], [{"a": n(1)}])
    condition = {"KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [key["pk"]]}}}
    same(api("Query", TableName=table, AttributesToGet=wanted, **condition)["Items"], [{"a": n(1)}])
    chosen = condition["KeyConditions"]
    same(_scanned(api, table, AttributesToGet=wanted, ScanFilter=chosen), [{"a": n(1)}])


_RANGES: dict[str, tuple[str, list[Json], list[str]]] = {
    "EQ": ("EQ", [s("s2")], ["s2"]),
    "LT": ("LT", [s("s2")], ["s0", "s1"]),
    "LE": ("LE", [s("s1")], ["s0", "s1"]),
    "GT": ("GT", [s("s2")], ["s3"]),
    "GE": ("GE", [s("s2")], ["s2", "s3"]),
    "BETWEEN": ("BETWEEN", [s("s1"), s("s2")], ["s1", "s2"]),
    "BEGINS_WITH": ("BEGINS_WITH", [s("s")], ["s0", "s1", "s2", "s3"]),
}


def _filled(api: Api) -> Json:
    partition = api.new_key()
    for number in range(4):
        item = {**partition, "sk": s(f"s{number}"), "a": n(number), "t": s(f"text {number}"), "f": {"BOOL": number > 1}}
        api.put("pair", item)
    return partition


def _keyed(partition: Json, *more: Any) -> Json:
    conditions: Json = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [partition["pk"]]}}
    if more:
        conditions["sk"] = {"ComparisonOperator": more[0], "AttributeValueList": more[1]}
    return conditions


@probe(rule=52, tier=3, cases=_RANGES)
def key_conditions_find_a_range(api: Api, operator: str, values: list[Json], found: list[str]) -> None:
    """A query finds the range in both directions."""
    conditions = _keyed(_filled(api), operator, values)
    table = api.table("pair")
    same([item["sk"]["S"] for item in api("Query", TableName=table, KeyConditions=conditions)["Items"]], found)
    back = api("Query", TableName=table, KeyConditions=conditions, ScanIndexForward=False)
    same([item["sk"]["S"] for item in back["Items"]], found[::-1])


_FILTERS: dict[str, tuple[Json, list[str]]] = {
    "EQ": ({"a": {"ComparisonOperator": "EQ", "AttributeValueList": [n(1)]}}, ["s1"]),
    "NE": ({"a": {"ComparisonOperator": "NE", "AttributeValueList": [n(1)]}}, ["s0", "s2", "s3"]),
    "EQ of a bool": ({"f": {"ComparisonOperator": "EQ", "AttributeValueList": [{"BOOL": True}]}}, ["s2", "s3"]),
    "CONTAINS": ({"t": {"ComparisonOperator": "CONTAINS", "AttributeValueList": [s("3")]}}, ["s3"]),
    "NOT_CONTAINS": ({"t": {"ComparisonOperator": "NOT_CONTAINS", "AttributeValueList": [s("3")]}}, ["s0", "s1", "s2"]),
    "BEGINS_WITH": ({"t": {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [s("text 0")]}}, ["s0"]),
    "NULL": ({"gone": {"ComparisonOperator": "NULL"}}, ["s0", "s1", "s2", "s3"]),
}


@probe(rule=52, tier=3, cases=_FILTERS)
def query_filters_and_scan_filters_choose(api: Api, chosen: Json, found: list[str]) -> None:
    """ScannedCount counts the items before the filter."""
    partition, table = _filled(api), api.table("pair")
    page = api("Query", TableName=table, KeyConditions=_keyed(partition), QueryFilter=chosen)
    same(([item["sk"]["S"] for item in page["Items"]], page["ScannedCount"]), (found, 4))
    whole = {**chosen, "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [partition["pk"]]}}
    same(sorted(item["sk"]["S"] for item in _scanned(api, table, ScanFilter=whole)), found)


_OLDER = (
    "1 validation error detected: Value '{}' at '{}' failed to satisfy constraint: Member must satisfy enum value set: "
)
_OPERATORS = _OLDER.format("XOR", "conditionalOperator") + "[OR, AND]"
_RETURNS = _OLDER.format("BOGUS", "returnValues") + "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"


@probe(45, 52, tier=3, cases={"PutItem": ("PutItem", "Item"), "UpdateItem": ("UpdateItem", "Key")})
def a_deep_request_is_refused_in_older_words(api: Api, operation: str, part: str) -> None:
    """The operator is checked before the depth."""
    expected = {"a": {"Value": nested(100)}, "b": {"Exists": False}}
    given: dict[str, Any] = {"Expected": expected, "ConditionalOperator": "XOR", part: {"pk": s("a")}}
    if operation == "UpdateItem":
        given["AttributeUpdates"] = {"x": {"Action": "PUT", "Value": s("1")}}
    refused(api, operation, TableName=f"{api.prefix}nowhere", message=_OPERATORS, **given)


def _deep_condition(levels: int) -> dict[str, Any]:
    return {"ConditionExpression": "d = :v", "ExpressionAttributeValues": {":v": nested(levels)}, "Key": {"pk": s("a")}}


_DEEP: dict[str, tuple[dict[str, Any], str]] = {
    "condition": ({**_deep_condition(63), "ReturnValues": "BOGUS"}, _RETURNS),
    "expected": ({"Key": {"pk": s("a")}, "Expected": {"d": {"Value": nested(63)}}, "ReturnValues": "BOGUS"}, _RETURNS),
    "key": ({"Key": {"pk": nested(100)}, "ReturnValues": "BOGUS"}, _RETURNS),
    "wrong": ({**_deep_condition(100), "ReturnValues": "UPDATED_NEW"}, "ReturnValues can only be ALL_OLD or NONE"),
}


@probe(rule=45, tier=3, cases=_DEEP)
def a_deep_delete_is_refused_in_older_words(api: Api, given: dict[str, Any], message: str) -> None:
    """ReturnValues is checked before the depth."""
    refused(api, "DeleteItem", TableName=f"{api.prefix}nowhere", message=message, **given)


@probe(45, 52, tier=3)
def an_operator_that_does_not_exist_is_told_before_a_selection(api: Api) -> None:
    """The error of a query with two conditions names the operator alone."""
    given: dict[str, Any] = {
        "KeyConditions": _keyed({"pk": s("a")}),
        "QueryFilter": {"b": {"ComparisonOperator": "NULL"}, "c": {"ComparisonOperator": "NULL"}},
        "ConditionalOperator": "XOR",
        "Select": "BOGUS",
    }
    message = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
    refused(api, "Query", TableName=f"{api.prefix}nowhere", message=message, **given)


@probe(45, 52, tier=3)
def a_scan_of_one_deep_condition_is_refused(api: Api) -> None:
    """The reason is the depth or the operator, depending on the region."""
    chosen = {"a": {"ComparisonOperator": "EQ", "AttributeValueList": [nested(40)]}}
    pattern = (
        "^Nesting Levels have exceeded|^ConditionalOperator can only be used when Filter or Expected has two or more"
    )
    given: dict[str, Any] = {"ScanFilter": chosen, "ConditionalOperator": "AND"}
    refused(api, "Scan", TableName=f"{api.prefix}nowhere", pattern=pattern, **given)


_ONE = {"ComparisonOperator": "EQ", "AttributeValueList": [s("x")]}
_MIXED_LIST = {"ComparisonOperator": "IN", "AttributeValueList": [s("x"), n(1)]}
_WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "range of the partition": (
        "Query",
        {"KeyConditions": {"pk": {**_ONE, "ComparisonOperator": "NE"}}},
        "Attempted conditional constraint is not an indexable operation",
    ),
    "filter by a key": (
        "Query",
        {"KeyConditions": {"pk": _ONE}, "QueryFilter": {"sk": _ONE}},
        "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk",
    ),
    "mixed types": (
        "Scan",
        {"ScanFilter": {"a": _MIXED_LIST}},
        "AttributeValues inside AttributeValueList must be of same type",
    ),
    "no operand": (
        "DeleteItem",
        {"Expected": {"a": {**_ONE, "AttributeValueList": []}}},
        "Invalid number of argument.s. for the EQ ComparisonOperator",
    ),
    "no value": (
        "UpdateItem",
        {"AttributeUpdates": {"a": {"Action": "ADD"}}},
        "Only DELETE action is allowed when no attribute value is specified",
    ),
    "wrong value": (
        "UpdateItem",
        {"AttributeUpdates": {"a": {"Action": "DELETE", "Value": s("x")}}},
        "DELETE action with value is not supported for the type S",
    ),
}


@probe(rule=52, tier=3, cases=_WRONG)
def older_parameters_have_messages_of_their_own(api: Api, operation: str, given: dict[str, Any], message: str) -> None:
    """They differ from those of expressions."""
    key: dict[str, Any] = {} if operation in ("Query", "Scan") else {"Key": {**api.new_key(), "sk": s("a")}}
    refused(api, operation, pattern=f"{message}$", TableName=api.table("pair"), **key, **given)
