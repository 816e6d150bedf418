"""Conditions: comparisons, functions, placeholders, and requests that are refused before anything is read."""

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, Refused, probe, refused, same
from tests.fidelity._attributes import Json, n, s

ITEM: Json = {
    "a": s("apple"),
    "n": n(5),
    "b": {"B": "AAE="},
    "t": {"BOOL": True},
    "z": {"NULL": True},
    "l": {"L": [s("x"), n(1)]},
    "m": {"M": {"k": s("v"), "deep": {"M": {"q": n(1)}}}},
    "w": {"SS": ["p", "q", ""]},
    "e": s(""),
}


def _holds(api: Api, condition: str, values: Json | None = None, names: dict[str, str] | None = None) -> bool:
    key = api.new_key()
    api.put("hash", {**key, **ITEM})
    try:
        api("DeleteItem", TableName=api.table("hash"), Key=key, **_expression(condition, values, names))
    except Refused as refusal:
        if refusal.kind != "ConditionalCheckFailedException":
            raise
        return False
    return True


def _expression(condition: str, values: Json | None, names: dict[str, str] | None = None) -> dict[str, Any]:
    given: dict[str, Any] = {"ConditionExpression": condition}
    if values:
        given["ExpressionAttributeValues"] = values
    if names:
        given["ExpressionAttributeNames"] = names
    return given


_MISSING: dict[str, tuple[str, bool]] = {
    "=": ("gap = :v", False),
    "<": ("gap < :v", False),
    ">=": ("gap >= :v", False),
    "<>": ("gap <> :v", True),
    "between": ("gap BETWEEN :v AND :v", False),
    "in": ("gap IN (:v)", False),
    "size": ("size(gap) = :v", False),
    "or": ("gap <> :v OR gap < :v", True),
}


@probe(rule=12, cases=_MISSING)
def a_comparison_with_a_missing_attribute(api: Api, condition: str, outcome: bool) -> None:  # noqa: FBT001 - a case
    """Only `<>` is true."""
    same(_holds(api, condition, {":v": n(1)}), outcome)


@probe(rule=12)
def two_missing_attributes_differ(api: Api) -> None:
    """`<>` is true, and `=` is false."""
    same((_holds(api, "gap <> hole"), _holds(api, "gap = hole")), (True, False))


_TRUE: dict[str, tuple[str, Json]] = {
    "equal string": ("a = :v", {":v": s("apple")}),
    "less number": ("n < :v", {":v": n("5.5")}),
    "more binary": ("b > :v", {":v": {"B": "AAA="}}),
    "equal bool": ("t = :v", {":v": {"BOOL": True}}),
    "equal null": ("z = :v", {":v": {"NULL": True}}),
    "equal list": ("l = :v", {":v": {"L": [s("x"), n("1.0")]}}),
    "equal map": ("m = :v", {":v": {"M": {"deep": {"M": {"q": n(1)}}, "k": s("v")}}}),
    "equal set": ("w = :v", {":v": {"SS": ["", "q", "p"]}}),
    "unequal set": ("w <> :v", {":v": {"SS": ["q", "p"]}}),
    "between": ("n BETWEEN :v AND :w", {":v": n(5), ":w": n(6)}),
    "in": ("a IN (:v, :w)", {":v": s("pear"), ":w": s("apple")}),
    "path": ("m.k = :v", {":v": s("v")}),
    "deep path": ("m.deep.q = :v", {":v": n(1)}),
    "index": ("l[0] = :v", {":v": s("x")}),
    "exists": ("attribute_exists(m.k) AND a = :v", {":v": s("apple")}),
    "not exists": ("attribute_not_exists(m.gap) AND a = :v", {":v": s("apple")}),
    "not": ("NOT a = :v", {":v": s("pear")}),
    "or": ("a = :v OR n = :w", {":v": s("pear"), ":w": n(5)}),
    "and before or": ("a = :v OR a = :w AND n = :w", {":v": s("apple"), ":w": n(5)}),
    "wrapped": ("(a = :v OR n = :w)", {":v": s("pear"), ":w": n(5)}),
    "each wrapped": ("(a = :v) AND (n = :w)", {":v": s("apple"), ":w": n(5)}),
    "begins": ("begins_with(a, :v)", {":v": s("app")}),
    "contains text": ("contains(a, :v)", {":v": s("ppl")}),
    "contains member": ("contains(w, :v)", {":v": s("p")}),
    "contains empty member": ("contains(w, :v)", {":v": s("")}),
    "contains element": ("contains(l, :v)", {":v": n(1)}),
    "size of text": ("size(a) = :v", {":v": n(5)}),
    "size of binary": ("size(b) = :v", {":v": n(2)}),
    "size of list": ("size(l) = :v", {":v": n(2)}),
    "size of map": ("size(m) = :v", {":v": n(2)}),
    "size of set": ("size(w) = :v", {":v": n(3)}),
    "type": ("attribute_type(a, :v)", {":v": s("S")}),
    "keywords in small letters": ("a = :v and not n between :w and :w", {":v": s("apple"), ":w": n(6)}),
}


@probe(12, 16, cases=_TRUE)
def a_condition_that_is_true(api: Api, condition: str, values: Json) -> None:
    """Each condition is checked on the same item, which has an attribute of nearly every type."""
    same(_holds(api, condition, values), True)


@probe(rule=13, cases={"string and number": ("a < :v", n(9)), "number and string": ("n > :v", s("0"))})
def another_type_compares_as_false(api: Api, condition: str, value: Json) -> None:
    """Both types have an order."""
    same(_holds(api, condition, {":v": value}), False)


_INVALID: dict[str, tuple[int, str, Json]] = {
    "less than a bool": (13, "gap < :v", {":v": {"BOOL": True}}),
    "more than a list": (13, "gap >= :v", {":v": {"L": []}}),
    "between nulls": (13, "gap BETWEEN :v AND :v", {":v": {"NULL": True}}),
    "between reversed": (13, "gap BETWEEN :v AND :w", {":v": n(2), ":w": n(1)}),
    "between two types": (13, "gap BETWEEN :v AND :w", {":v": n(2), ":w": s("x")}),
    "no such type": (14, "attribute_type(gap, :v)", {":v": s("X")}),
    "type that is no text": (14, "attribute_type(gap, :v)", {":v": n(1)}),
    "undefined value": (15, "gap = :v OR gap = :w", {":v": n(1)}),
    "undefined name": (15, "#x = :v", {":v": n(1)}),
    "reserved word": (16, "status = :v", {":v": n(1)}),
    "name with an underscore first": (16, "_gap = :v", {":v": n(1)}),
    "function in capitals": (16, "ATTRIBUTE_EXISTS(gap) AND gap = :v", {":v": n(1)}),
    "double parentheses": (17, "((gap = :v))", {":v": n(1)}),
    "contains itself": (17, "contains(gap, gap) OR gap = :v", {":v": n(1)}),
    "equal to itself": (17, "gap = gap OR gap = :v", {":v": n(1)}),
    "begins with a number": (17, "begins_with(gap, :v)", {":v": n(1)}),
    "unknown function": (17, "starts_with(gap, :v)", {":v": n(1)}),
    "wrong number of operands": (17, "attribute_exists(gap, :v)", {":v": n(1)}),
    "no operator": (17, "gap :v", {":v": n(1)}),
    "empty": (17, "", {}),
}


def _of_rule(rule: int) -> dict[str, tuple[str, Json]]:
    return {name: case[1:] for name, case in _INVALID.items() if case[0] == rule}


@probe(rule=13, cases=_of_rule(13))
@probe(rule=14, cases=_of_rule(14))
@probe(rule=15, cases=_of_rule(15))
@probe(rule=16, cases=_of_rule(16))
@probe(rule=17, cases=_of_rule(17))
def an_invalid_condition_is_refused(api: Api, condition: str, values: Json) -> None:
    """The item does not exist, so nothing is evaluated."""
    table, key = api.table("hash"), api.new_key()
    refused(api, "DeleteItem", TableName=table, Key=key, **_expression(condition, values))


_PLACEHOLDERS: dict[str, tuple[dict[str, Any]]] = {
    "unused value": (_expression("a = :v", {":v": n(1), ":w": n(1)}),),
    "unused name": (_expression("a = :v", {":v": n(1)}, {"#n": "x"}),),
    "values alone": ({"ExpressionAttributeValues": {":v": n(1)}},),
    "names alone": ({"ExpressionAttributeNames": {"#n": "x"}},),
    "value without a colon": (_expression("a = :v", {":v": n(1), "w": n(1)}),),
    "name without a hash": (_expression("a = :v", {":v": n(1)}, {"n": "x"}),),
    "no values": ({"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeValues": {}},),
    "no names": ({"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeNames": {}},),
}


@probe(rule=15, cases=_PLACEHOLDERS)
def placeholders_that_do_not_fit_are_refused(api: Api, given: dict[str, Any]) -> None:
    """The request is refused whether or not the item exists."""
    refused(api, "PutItem", TableName=api.table("hash"), Item=api.new_key(), **given)


@probe(rule=15)
def a_filter_is_validated_though_nothing_matches(api: Api) -> None:
    """Queries and scans validate the filter."""
    values = {":p": api.new_key()["pk"], ":v": n(1)}
    shared: dict[str, Any] = {"TableName": api.table("pair"), "FilterExpression": "begins_with(a, :v)"}
    refused(api, "Query", KeyConditionExpression="pk = :p", ExpressionAttributeValues=values, **shared)
    refused(api, "Scan", ExpressionAttributeValues={":v": n(1)}, **shared)


@probe(rule=15)
def a_projection_is_validated_though_nothing_matches(api: Api) -> None:
    """The names and the paths of the projection are validated."""
    table, key = api.table("hash"), api.new_key()
    refused(api, "GetItem", TableName=table, Key=key, ProjectionExpression="#gap")
    refused(api, "GetItem", TableName=table, Key=key, ProjectionExpression="a, a")
    refused(api, "BatchGetItem", RequestItems={table: {"Keys": [key], "ProjectionExpression": "a, a.b"}})


_RESERVED = {word: (word,) for word in ("count", "data", "items", "name", "status", "size", "timestamp", "year")}


@probe(rule=16, tier=3, cases=_RESERVED)
def a_reserved_word_needs_a_placeholder(api: Api, word: str) -> None:
    """With a placeholder, the word names an attribute like any other."""
    table, key = api.table("hash"), api.new_key()
    refused(api, "GetItem", TableName=table, Key=key, ProjectionExpression=word)
    api.put("hash", {**key, word: s("x")})
    names = {"#w": word}
    found = api("GetItem", TableName=table, Key=key, ProjectionExpression="#w", ExpressionAttributeNames=names)
    same(found["Item"], {word: s("x")})


@probe(rule=22)
def a_failed_condition_carries_the_item_where_asked(api: Api) -> None:
    """Without ReturnValuesOnConditionCheckFailure the error has no item."""
    table, key = api.table("hash"), api.new_key()
    api.put("hash", {**key, "a": n(1)})
    shared: dict[str, Any] = {"TableName": table, "ConditionExpression": "attribute_not_exists(pk)"}
    kind = "ConditionalCheckFailedException"
    carried = refused(api, "PutItem", kind=kind, Item=key, ReturnValuesOnConditionCheckFailure="ALL_OLD", **shared)
    same(carried.body.get("Item"), {**key, "a": n(1)})
    same("Item" in refused(api, "PutItem", kind=kind, Item=key, **shared).body, False)
    carried = refused(api, "DeleteItem", kind=kind, Key=key, ReturnValuesOnConditionCheckFailure="ALL_OLD", **shared)
    same(carried.message, "The conditional request failed")


@probe(rule=22)
def what_a_failed_condition_returns_is_validated_first(api: Api) -> None:
    """The value is refused before the condition, which would fail, is evaluated."""
    shared: dict[str, Any] = {"TableName": api.table("hash"), "ConditionExpression": "attribute_exists(pk)"}
    refused(api, "PutItem", Item=api.new_key(), ReturnValuesOnConditionCheckFailure="ALL_NEW", **shared)


_RULE = "failed to satisfy constraint: Member must"
_TABLES: dict[str, tuple[dict[str, str], str]] = {
    "none": ({}, f"Value null at 'tableName' {_RULE} not be null"),
    "long": (
        {"TableName": "a" * 256},
        f"Value '{'a' * 256}' at 'tableName' {_RULE} have length less than or equal to 255",
    ),
    "other letters": (
        {"TableName": "bad table!@#"},
        f"Value 'bad table!@#' at 'tableName' {_RULE} satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
    ),
}


@probe(8, 45, tier=3, cases=_TABLES)
def a_name_that_no_table_has_is_told_by_a_put(api: Api, given: dict[str, str], message: str) -> None:
    """The message has the constraint that the name violates."""
    refused(api, "PutItem", Item={"pk": s("a")}, message=f"1 validation error detected: {message}", **given)
