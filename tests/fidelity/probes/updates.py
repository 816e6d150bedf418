"""Updates: clauses, paths, and what an update returns."""

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, probe, refused, same
from tests.fidelity._attributes import Json, n, s


def _update(key: Json, expression: str, values: Json | None = None, returns: str = "NONE") -> dict[str, Any]:
    given: dict[str, Any] = {"Key": key, "UpdateExpression": expression, "ReturnValues": returns}
    if values:
        given["ExpressionAttributeValues"] = values
    return given


def _after(api: Api, before: Json, expression: str, values: Json | None = None) -> Json:
    key = api.new_key()
    api.put("hash", {**key, **before})
    api("UpdateItem", TableName=api.table("hash"), **_update(key, expression, values))
    item = api.get("hash", key) or {}
    return {name: value for name, value in item.items() if name != "pk"}


def _list(*values: Json) -> Json:
    return {"L": list(values)}


_CHANGES: dict[str, tuple[Json, str, Json, Json]] = {
    "set": ({"a": n(1)}, "SET b = :v", {":v": s("x")}, {"a": n(1), "b": s("x")}),
    "arithmetic": ({"a": n(1)}, "SET a = a + :v, b = a - :v", {":v": n(2)}, {"a": n(3), "b": n(-1)}),
    "the old value is read": ({"a": n(1)}, "SET a = :v, b = a", {":v": n(9)}, {"a": n(9), "b": n(1)}),
    "default": ({}, "SET a = if_not_exists(a, :v)", {":v": n(1)}, {"a": n(1)}),
    "default is not needed": ({"a": n(5)}, "SET a = if_not_exists(a, :v)", {":v": n(1)}, {"a": n(5)}),
    "default and sum": ({}, "SET a = if_not_exists(a, :v) + :v", {":v": n(1)}, {"a": n(2)}),
    "default in default": ({}, "SET a = if_not_exists(a, if_not_exists(b, :v))", {":v": n(1)}, {"a": n(1)}),
    "default of another attribute": ({"a": n(5)}, "SET b = if_not_exists(b, a)", {}, {"a": n(5), "b": n(5)}),
    "default less a value": ({"a": n(5)}, "SET a = if_not_exists(a, :v) - :v", {":v": n(1)}, {"a": n(4)}),
    "wrapped arithmetic": ({"a": n(5)}, "SET a = (a - :v)", {":v": n(1)}, {"a": n(4)}),
    "append": ({"a": _list(n(1))}, "SET a = list_append(a, :v)", {":v": _list(n(2))}, {"a": _list(n(1), n(2))}),
    "prepend": ({"a": _list(n(1))}, "SET a = list_append(:v, a)", {":v": _list(n(2))}, {"a": _list(n(2), n(1))}),
    "append to a default": (
        {},
        "SET a = list_append(if_not_exists(a, :e), :v)",
        {":e": _list(), ":v": _list(n(1))},
        {"a": _list(n(1))},
    ),
    "beyond the end": ({"a": _list(n(0))}, "SET a[7] = :v", {":v": n(1)}, {"a": _list(n(0), n(1))}),
    "two beyond the end": (
        {"a": _list(n(0))},
        "SET a[9] = :v, a[5] = :w",
        {":v": n(9), ":w": n(5)},
        {"a": _list(n(0), n(5), n(9))},
    ),
    "element": ({"a": _list(n(0), n(1))}, "SET a[1] = :v", {":v": n(9)}, {"a": _list(n(0), n(9))}),
    "element of an empty list": ({"a": _list()}, "SET a[0] = :v", {":v": n(1)}, {"a": _list(n(1))}),
    "deep": (
        {"m": {"M": {"k": {"M": {"j": n(1)}}}}},
        "SET m.k.j = m.k.j + :v",
        {":v": n(2)},
        {"m": {"M": {"k": {"M": {"j": n(3)}}}}},
    ),
    "nested set with an empty member": (
        {"m": {"M": {}}},
        "SET m.k = :v",
        {":v": {"SS": [""]}},
        {"m": {"M": {"k": {"SS": [""]}}}},
    ),
    "nested": ({"m": {"M": {"k": n(1)}}}, "SET m.j = :v", {":v": n(2)}, {"m": {"M": {"k": n(1), "j": n(2)}}}),
    "remove": ({"a": n(1), "b": n(2)}, "REMOVE a", {}, {"b": n(2)}),
    "remove missing": ({"a": n(1)}, "REMOVE b", {}, {"a": n(1)}),
    "remove nested": ({"m": {"M": {"k": n(1), "j": n(2)}}}, "REMOVE m.k", {}, {"m": {"M": {"j": n(2)}}}),
    "remove elements": (
        {"a": _list(n(0), n(1), n(2))},
        "REMOVE a[0], a[1]",
        {},
        {"a": _list(n(2))},
    ),
    "remove missing below a map": ({"m": {"M": {"k": n(1)}}}, "REMOVE m.j", {}, {"m": {"M": {"k": n(1)}}}),
    "remove the last element": ({"a": _list(n(0), n(1))}, "REMOVE a[1]", {}, {"a": _list(n(0))}),
    "add number": ({"a": n(1)}, "ADD a :v", {":v": n(-3)}, {"a": n(-2)}),
    "add to nothing": ({}, "ADD a :v", {":v": n(3)}, {"a": n(3)}),
    "add to a set": ({"a": {"SS": ["x"]}}, "ADD a :v", {":v": {"SS": [""]}}, {"a": {"SS": ["", "x"]}}),
    "add a set to nothing": ({}, "ADD a :v", {":v": {"NS": ["1"]}}, {"a": {"NS": ["1"]}}),
    "add an empty member that is there": ({"a": {"SS": [""]}}, "ADD a :v", {":v": {"SS": [""]}}, {"a": {"SS": [""]}}),
    "add an empty member to nothing": ({}, "ADD a :v", {":v": {"SS": [""]}}, {"a": {"SS": [""]}}),
    "add an empty binary": ({"a": {"BS": ["AQ=="]}}, "ADD a :v", {":v": {"BS": [""]}}, {"a": {"BS": ["", "AQ=="]}}),
    "delete an empty member": ({"a": {"SS": ["", "x"]}}, "DELETE a :v", {":v": {"SS": [""]}}, {"a": {"SS": ["x"]}}),
    "delete all but an empty member": (
        {"a": {"SS": ["", "x"]}},
        "DELETE a :v",
        {":v": {"SS": ["x"]}},
        {"a": {"SS": [""]}},
    ),
    "delete the last, an empty member": ({"a": {"SS": [""]}}, "DELETE a :v", {":v": {"SS": [""]}}, {}),
    "delete from a set": ({"a": {"NS": ["1", "2"]}}, "DELETE a :v", {":v": {"NS": ["2", "3"]}}, {"a": {"NS": ["1"]}}),
    "several clauses": ({"a": n(1), "b": n(2)}, "SET c = :v REMOVE a ADD b :v", {":v": n(1)}, {"b": n(3), "c": n(1)}),
}


@probe(18, 19, cases=_CHANGES)
def an_update_makes_this_change(api: Api, before: Json, expression: str, values: Json, after: Json) -> None:
    """The item exists."""
    found = _after(api, before, expression, values)
    for value in found.values():
        for kind in ("SS", "NS", "BS"):
            if kind in value:
                value[kind] = sorted(value[kind])
    same(found, after)


_REFUSED: dict[str, tuple[str, Json]] = {
    "clause twice": ("SET b = :v SET c = :v", {":v": n(1)}),
    "path twice": ("SET b = :v REMOVE b", {":v": n(1)}),
    "overlapping paths": ("SET m = :v, m.k = :v", {":v": n(1)}),
    "two missing maps": ("SET gap.x.y = :v", {":v": n(1)}),
    "missing map": ("SET gap.x = :v", {":v": n(1)}),
    "remove below a missing map": ("REMOVE gap.x", {}),
    "missing operand": ("SET b = gap + :v", {":v": n(1)}),
    "sum of texts": ("SET b = :v + :v", {":v": s("x")}),
    "list_append in list_append": ("SET b = list_append(list_append(:v, :v), :v)", {":v": {"L": []}}),
    "append to a number": ("SET b = list_append(a, :v)", {":v": {"L": []}}),
    "add a text": ("ADD b :v", {":v": s("x")}),
    "add a set to a number": ("ADD a :v", {":v": {"SS": ["x"]}}),
    "delete a number": ("DELETE a :v", {":v": n(1)}),
    "the key": ("SET pk = :v", {":v": s("x")}),
    "remove the key": ("REMOVE pk", {}),
    "empty": ("", {}),
    "no clause": ("a = :v", {":v": n(1)}),
    "double parentheses": ("SET b = ((:v))", {":v": n(1)}),
}


@probe(17, 19, cases=_REFUSED)
def an_update_that_breaks_a_rule_is_refused(api: Api, expression: str, values: Json) -> None:
    """The item is not changed."""
    key = api.new_key()
    item = {**key, "a": n(1), "m": {"M": {"k": n(1)}}}
    api.put("hash", item)
    refused(api, "UpdateItem", TableName=api.table("hash"), **_update(key, expression, values))
    same(api.get("hash", key), item)


@probe(rule=19)
def removing_below_a_missing_map_of_a_missing_item_does_nothing(api: Api) -> None:
    """The removal is refused only if the item exists."""
    key = api.new_key()
    api("UpdateItem", TableName=api.table("hash"), **_update(key, "REMOVE gap.x"))
    same(api.get("hash", key), None)


@probe(rule=20)
def an_empty_update_of_a_missing_item_creates_it(api: Api) -> None:
    """The new item has only its key."""
    key = api.new_key()
    api("UpdateItem", TableName=api.table("hash"), Key=key)
    same(api.get("hash", key), key)


@probe(rule=20, cases={"REMOVE": ("REMOVE a", {}), "DELETE": ("DELETE a :v", {":v": {"SS": ["x"]}})})
def an_update_that_only_takes_away_creates_nothing(api: Api, expression: str, values: Json) -> None:
    """The item still does not exist."""
    key = api.new_key()
    api("UpdateItem", TableName=api.table("hash"), **_update(key, expression, values))
    same(api.get("hash", key), None)


@probe(rule=20)
def an_update_of_a_missing_item_creates_it(api: Api) -> None:
    """The response has the attribute that was set."""
    key = api.new_key()
    update = _update(key, "SET a = :v", {":v": n(1)}, "UPDATED_NEW")
    same(api("UpdateItem", TableName=api.table("hash"), **update).get("Attributes"), {"a": n(1)})
    same(api.get("hash", key), {**key, "a": n(1)})


_RETURNED: dict[str, tuple[str, str, Json, Json | None]] = {
    "all old": ("SET a = :v", "ALL_OLD", {":v": n(9)}, {"a": n(1), "m": {"M": {"k": n(1)}}, "l": {"L": [n(0), n(1)]}}),
    "all new": ("SET a = :v", "ALL_NEW", {":v": n(9)}, {"a": n(9), "m": {"M": {"k": n(1)}}, "l": {"L": [n(0), n(1)]}}),
    "updated old": ("SET a = :v", "UPDATED_OLD", {":v": n(9)}, {"a": n(1)}),
    "updated new": ("SET a = :v", "UPDATED_NEW", {":v": n(9)}, {"a": n(9)}),
    "updated new of a path": ("SET m.k = :v", "UPDATED_NEW", {":v": n(9)}, {"m": {"M": {"k": n(9)}}}),
    "updated new of two paths": (
        "SET m.k = :v, m.j = :v",
        "UPDATED_NEW",
        {":v": n(9)},
        {"m": {"M": {"k": n(9), "j": n(9)}}},
    ),
    "updated old of an element": ("SET l[1] = :v", "UPDATED_OLD", {":v": n(9)}, {"l": {"L": [n(1)]}}),
    "updated new of an element": ("SET l[1] = :v", "UPDATED_NEW", {":v": n(9)}, {"l": {"L": [n(9)]}}),
    "updated old of a new attribute": ("SET x = :v", "UPDATED_OLD", {":v": n(9)}, None),
    "updated new of a removal": ("REMOVE a", "UPDATED_NEW", {}, None),
    "none": ("SET a = :v", "NONE", {":v": n(9)}, None),
}


@probe(rule=21, cases=_RETURNED)
def an_update_returns_what_is_asked_for(api: Api, expression: str, returns: str, values: Json, found: Json) -> None:
    """UPDATED_OLD and UPDATED_NEW return only the paths of the expression, with lists compacted."""
    key = api.new_key()
    api.put("hash", {**key, "a": n(1), "m": {"M": {"k": n(1)}}, "l": {"L": [n(0), n(1)]}})
    response = api("UpdateItem", TableName=api.table("hash"), **_update(key, expression, values, returns))
    returned = response.get("Attributes")
    if returned is not None:
        returned = {name: value for name, value in returned.items() if name != "pk"}
    same(returned, found)


@probe(rule=21, cases={"PutItem": ("PutItem", "Item"), "DeleteItem": ("DeleteItem", "Key")})
def a_put_or_delete_returns_the_old_item_alone(api: Api, operation: str, part: str) -> None:
    """Nothing is returned if there was no item; other values of ReturnValues are refused."""
    table, key = api.table("hash"), api.new_key()
    api.put("hash", {**key, "a": n(1)})
    given: dict[str, Any] = {"TableName": table, part: key}
    same(api(operation, ReturnValues="ALL_OLD", **given).get("Attributes"), {**key, "a": n(1)})
    missing: dict[str, Any] = {"TableName": table, part: api.new_key()}
    same("Attributes" in api(operation, ReturnValues="ALL_OLD", **missing), False)
    refused(api, operation, ReturnValues="UPDATED_NEW", **given)


_INVALID = "One or more parameter values were invalid: "
_SAID: dict[str, tuple[dict[str, Any], str]] = {
    "the key": (
        {"UpdateExpression": "SET pk = :v", "ExpressionAttributeValues": {":v": s("x")}},
        f"^{_INVALID}Cannot update attribute pk. This attribute is part of the key$",
    ),
    "the sort key": (
        {"UpdateExpression": "SET sk = :v", "ExpressionAttributeValues": {":v": s("x")}},
        f"^{_INVALID}Cannot update attribute sk. This attribute is part of the key$",
    ),
    "no clause": (
        {"UpdateExpression": "INVALID SYNTAX HERE"},
        'Invalid UpdateExpression: Syntax error; token: "INVALID", near: "INVALID SYNTAX"$',
    ),
    "a name too many": (
        {"UpdateExpression": "REMOVE a", "ExpressionAttributeNames": {"#x": "y"}},
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}$",
    ),
    "a value too many": (
        {"UpdateExpression": "REMOVE a", "ExpressionAttributeValues": {":x": n(1)}},
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}$",
    ),
    "no value": (
        {"UpdateExpression": "SET a = :v"},
        "Invalid UpdateExpression: An expression attribute value used in expression is not defined; .* value: :v$",
    ),
    "no value of the condition": (
        {
            "UpdateExpression": "SET b = :w",
            "ConditionExpression": "a = :v",
            "ExpressionAttributeValues": {":w": s("x")},
        },
        (
            "^1 validation error detected: Invalid ConditionExpression: An expression attribute value used in "
            "expression is not defined; attribute value: :v$"
        ),
    ),
    "two ways": (
        {"UpdateExpression": "REMOVE a", "AttributeUpdates": {"a": {"Action": "DELETE"}}},
        (
            "Can not use both expression and non-expression parameters in the same request: Non-expression "
            "parameters: {AttributeUpdates} Expression parameters: {UpdateExpression}$"
        ),
    ),
    "empty": ({"UpdateExpression": ""}, "Invalid UpdateExpression: The expression can not be empty;$"),
}


@probe(19, 45, tier=3, cases=_SAID)
def an_update_is_refused_in_these_words(api: Api, given: dict[str, Any], pattern: str) -> None:
    """The update is refused before it is executed."""
    refused(api, "UpdateItem", TableName=api.table("pair"), Key=api.new_key("a"), pattern=pattern, **given)


_RULE = "failed to satisfy constraint: Member must"
_NO_NAME = f"Value '' at 'tableName' {_RULE} have length greater than or equal to 1"
_NO_KEY = f"Value null at 'key' {_RULE} not be null"
_BOGUS = {"ReturnConsumedCapacity": "BOGUS", "ReturnValues": "BOGUS"}
_TOGETHER: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"TableName": "", **_update({}, "REMOVE a")}, f"2 validation errors detected: {_NO_NAME}; {_NO_KEY}"),
    "all": (
        {"TableName": "", **_update({}, "REMOVE a"), **_BOGUS},
        (
            "4 validation errors detected: "
            f"Value 'BOGUS' at 'returnConsumedCapacity' {_RULE} satisfy enum value set: [INDEXES, TOTAL, NONE]; "
            f"{_NO_NAME}; Value 'BOGUS' at 'returnValues' {_RULE} satisfy enum value set: "
            f"[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]; {_NO_KEY}"
        ),
    ),
    "operator": (
        {
            "TableName": "fidelity-nothere",
            "AttributeUpdates": {"x": {"Action": "PUT", "Value": s("1")}},
            "Expected": {"a": {"Exists": False}, "b": {"Exists": False}},
            "ConditionalOperator": "XOR",
        },
        (
            f"2 validation errors detected: Value 'XOR' at 'conditionalOperator' {_RULE} satisfy enum value set: "
            f"[OR, AND]; {_NO_KEY}"
        ),
    ),
}


@probe(rule=45, tier=3, cases=_TOGETHER)
def constraints_beside_a_missing_key_are_told_together(api: Api, given: dict[str, Any], message: str) -> None:
    """The message has the older wording, in the order of the members."""
    sent = {name: value for name, value in given.items() if name != "Key"}
    refused(api, "UpdateItem", message=message, **sent)
