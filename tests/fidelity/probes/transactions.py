"""Transactions: atomicity, cancellation reasons, tokens, conflicts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.fidelity import Api, Refused, holds, probe, refused, same
from tests.fidelity._attributes import Json, n, nested, s

CANCELED = "TransactionCanceledException"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)
MISMATCH = "The provided key element does not match the schema"
EMPTY = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
UNUSED = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"
CAPACITY = (
    "1 validation error detected: Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: "
    "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
)
METRICS = (
    "1 validation error detected: Value 'BOGUS' at 'returnItemCollectionMetrics' failed to satisfy constraint: "
    "Member must satisfy enum value set: [SIZE, NONE]"
)
SYNTAX = 'Invalid ConditionExpression: Syntax error; token: "=", near: "= = b"'


def _put(api: Api, item: Json, **others: Any) -> Json:
    return {"Put": {"TableName": api.table("hash"), "Item": item, **others}}


def _codes(refusal: Refused) -> list[str]:
    return [reason["Code"] for reason in refusal.body["CancellationReasons"]]


@probe(rule=36, tier=2)
def a_transaction_writes_all(api: Api) -> None:
    """The transaction writes to several tables, and mixes puts, updates and deletes."""
    old, gone, new, other = api.new_key(), api.new_key(), api.new_key(), api.new_key("a")
    api.put("hash", {**old, "a": n(1)})
    api.put("hash", gone)
    table = api.table("hash")
    update = {"UpdateExpression": "ADD a :v", "ExpressionAttributeValues": {":v": n(1)}}
    actions = [
        _put(api, new),
        {"Update": {"TableName": table, "Key": old, **update}},
        {"Delete": {"TableName": table, "Key": gone}},
        {"Put": {"TableName": api.table("pair"), "Item": other}},
    ]
    api("TransactWriteItems", TransactItems=actions)
    found = [api.get("hash", new), api.get("hash", old), api.get("hash", gone), api.get("pair", other)]
    same(found, [new, {**old, "a": n(2)}, None, other])


@probe(rule=36, tier=2)
def a_transaction_with_a_failed_condition_writes_nothing(api: Api) -> None:
    """Each action has a reason, in the order of the request, with the item if it was asked for."""
    there, new = api.new_key(), api.new_key()
    api.put("hash", {**there, "a": n(1)})
    condition = {"ConditionExpression": "attribute_not_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    actions = [_put(api, new), _put(api, there, **condition)]
    refusal = refused(api, "TransactWriteItems", kind=CANCELED, TransactItems=actions)
    same(_codes(refusal), ["None", "ConditionalCheckFailed"])
    same(refusal.body["CancellationReasons"][1].get("Item"), {**there, "a": n(1)})
    message = "Transaction cancelled, please refer cancellation reasons for specific reasons "
    same(refusal.message, f"{message}[None, ConditionalCheckFailed]")
    same(api.get("hash", new), None)


@probe(rule=36, tier=2)
def every_failed_condition_has_its_reason(api: Api) -> None:
    """Both of two actions fail."""
    condition = {"ConditionExpression": "attribute_exists(pk)"}
    actions = [_put(api, api.new_key(), **condition), _put(api, api.new_key(), **condition)]
    refusal = refused(api, "TransactWriteItems", kind=CANCELED, TransactItems=actions)
    same(_codes(refusal), ["ConditionalCheckFailed", "ConditionalCheckFailed"])


@probe(36, 37, tier=2)
def a_key_of_the_wrong_type_is_the_reason_of_its_action(api: Api) -> None:
    """Only the first such action has a reason; no condition is evaluated."""
    failing = _put(api, api.new_key(), ConditionExpression="attribute_exists(pk)")
    actions = [failing, _put(api, {"pk": n(1)}), _put(api, {"pk": n(2)})]
    refusal = refused(api, "TransactWriteItems", kind=CANCELED, TransactItems=actions)
    same(_codes(refusal), ["None", "ValidationError", "None"])


@probe(rule=37, tier=2, cases={"Delete": ("Delete", {}), "ConditionCheck": ("ConditionCheck", {"c": 1})})
def a_key_of_the_wrong_type_cancels(api: Api, kind: str, others: Json) -> None:
    """The action is a Delete or a ConditionCheck."""
    part: Json = {"TableName": api.table("hash"), "Key": {"pk": {"L": []}}}
    if others:
        part["ConditionExpression"] = "attribute_exists(pk)"
    refusal = refused(api, "TransactWriteItems", kind=CANCELED, TransactItems=[{kind: part}])
    same(_codes(refusal), ["ValidationError"])


_WHOLE: dict[str, tuple[dict[str, Any]]] = {
    "empty key": ({"Item": {"pk": s("")}},),
    "invalid expression": ({"Item": {"pk": s("x")}, "ConditionExpression": "a ="},),
    "unused value": (
        {
            "Item": {"pk": s("x")},
            "ConditionExpression": "attribute_exists(a)",
            "ExpressionAttributeValues": {":v": n(1)},
        },
    ),
}


@probe(rule=37, tier=2, cases=_WHOLE)
def an_invalid_action_refuses_the_whole_request(api: Api, given: dict[str, Any]) -> None:
    """The error is not a cancellation."""
    action = {"Put": {"TableName": api.table("hash"), **given}}
    refused(api, "TransactWriteItems", TransactItems=[_put(api, api.new_key()), action])


_EMPTY_KEYS: dict[str, tuple[str, dict[str, Any]]] = {
    "put": ("Put", {}),
    "update": ("Update", {"UpdateExpression": "SET g = :v", "ExpressionAttributeValues": {":v": s("")}}),
}


@probe(rule=37, tier=2, cases=_EMPTY_KEYS)
def an_empty_index_key_refuses_the_whole_request(api: Api, kind: str, given: dict[str, Any]) -> None:
    """A wrong type cancels the transaction instead."""
    key = api.new_key("a")
    part = given | ({"Item": {**key, "g": s("")}} if kind == "Put" else {"Key": key})
    table = api.table("indexed")
    refused(api, "TransactWriteItems", TransactItems=[{kind: {"TableName": table, **part}}])
    wrong = {"Put": {"TableName": table, "Item": {**key, "g": n(1)}}}
    same(_codes(refused(api, "TransactWriteItems", kind=CANCELED, TransactItems=[wrong])), ["ValidationError"])


@probe(rule=37, tier=2)
def a_transaction_names_an_item_once(api: Api) -> None:
    """Transactions of writes and of gets refuse a second action on an item."""
    key, table = api.new_key(), api.table("hash")
    refused(api, "TransactWriteItems", TransactItems=[_put(api, key), {"Delete": {"TableName": table, "Key": key}}])
    get = {"Get": {"TableName": table, "Key": key}}
    refused(api, "TransactGetItems", TransactItems=[get, get])


@probe(rule=38, tier=2)
def a_token_makes_a_transaction_run_once(api: Api) -> None:
    """The same request succeeds again and changes nothing."""
    key, table = api.new_key(), api.table("hash")
    add = {"UpdateExpression": "ADD a :v", "ExpressionAttributeValues": {":v": n(1)}}
    actions = [{"Update": {"TableName": table, "Key": key, **add}}]
    token = api.new_token()
    for _ in range(2):
        api("TransactWriteItems", TransactItems=actions, ClientRequestToken=token)
    same(api.get("hash", key), {**key, "a": n(1)})


@probe(rule=38, tier=2)
def a_token_is_of_one_request(api: Api) -> None:
    """A different request with the token is refused."""
    token = api.new_token()
    api("TransactWriteItems", TransactItems=[_put(api, api.new_key())], ClientRequestToken=token)
    refused(
        api,
        "TransactWriteItems",
        kind="IdempotentParameterMismatchException",
        TransactItems=[_put(api, api.new_key())],
        ClientRequestToken=token,
    )


@probe(rule=38, tier=3)
def a_token_has_at_most_36_characters(api: Api) -> None:
    """A token of 37 characters is refused."""
    actions = [_put(api, api.new_key())]
    refused(api, "TransactWriteItems", TransactItems=actions, ClientRequestToken="x" * 37)


@probe(rule=38, tier=2)
def a_read_of_several_items_is_of_one_instant(api: Api) -> None:
    """Responses are in the order of the request; that of a missing item is empty."""
    first, second, table = api.new_key(), api.new_key(), api.table("hash")
    api.put("hash", second)
    gets = [{"Get": {"TableName": table, "Key": key}} for key in (first, second)]
    same(api("TransactGetItems", TransactItems=gets)["Responses"], [{}, {"Item": second}])


@probe(rule=36, tier=2, cases={"writes": ("TransactWriteItems",), "gets": ("TransactGetItems",)})
def an_empty_transaction_is_refused(api: Api, operation: str) -> None:
    """A transaction needs at least one action."""
    refused(api, operation, TransactItems=[])


@probe(rule=36, tier=2)
def a_transaction_on_a_missing_table_is_not_found(api: Api) -> None:
    """Transactions of writes and of gets return the same error."""
    name, kind = f"{api.prefix}nowhere", "ResourceNotFoundException"
    refused(api, "TransactWriteItems", kind=kind, TransactItems=[{"Put": {"TableName": name, "Item": {"pk": s("x")}}}])
    refused(api, "TransactGetItems", kind=kind, TransactItems=[{"Get": {"TableName": name, "Key": {"pk": s("x")}}}])


@probe(rule=39, tier=2, races=True)
def writes_that_meet_succeed_or_say_that_they_met(api: Api) -> None:
    """Transactions and single writes of one item run concurrently; the item counts those without a conflict."""
    key, table = api.new_key(), api.table("hash")
    add = {"UpdateExpression": "ADD a :v", "ExpressionAttributeValues": {":v": n(1)}}

    def write(number: int) -> int:
        with api.another() as other:
            try:
                if number % 2:
                    other("UpdateItem", TableName=table, Key=key, **add)
                else:
                    other("TransactWriteItems", TransactItems=[{"Update": {"TableName": table, "Key": key, **add}}])
            except Refused as refusal:
                reasons = _codes(refusal) if refusal.kind == CANCELED else []
                holds(
                    refusal.kind == "TransactionConflictException" or reasons == ["TransactionConflict"], str(refusal)
                )
                return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        done = sum(pool.map(write, range(8)))
    holds(done, "every write failed")
    same(api.get("hash", key), {**key, "a": n(done)})


def _action(kind: str, table: str, key: Json, **others: Any) -> Json:
    """Return a valid action of this kind."""
    given: Json = {"TableName": table, "Item" if kind == "Put" else "Key": key}
    if kind == "Update":
        given |= {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": s("x")}}
    if kind == "ConditionCheck":
        given["ConditionExpression"] = "attribute_not_exists(pk)"
    values = given.get("ExpressionAttributeValues", {}) | others.pop("values", {})
    return {kind: {**given, **({"ExpressionAttributeValues": values} if values else {}), **others}}


KINDS = {kind: (kind,) for kind in ("Put", "Update", "Delete", "ConditionCheck")}


@probe(37, 45, tier=3, cases=KINDS)
def a_wrong_key_of_an_action_is_told_in_these_words(api: Api, kind: str) -> None:
    """A wrong type is a cancellation reason; an empty key refuses the whole request."""
    for value, type_ in ((n(5), "N"), ({"L": [s("x")]}, "L")):
        message = f"One or more parameter values were invalid: Type mismatch for key pk expected: S actual: {type_}"
        action = _action(kind, api.table("hash"), {"pk": value})
        refusal = refused(api, "TransactWriteItems", kind=CANCELED, TransactItems=[action])
        same(refusal.body["CancellationReasons"][0].get("Message"), message if kind == "Put" else MISMATCH)
    for shape, value, word in (("hash", s(""), "string"), ("binary", {"B": ""}, "binary")):
        action = _action(kind, api.table(shape), {"pk": value})
        refused(api, "TransactWriteItems", TransactItems=[action], message=f"{EMPTY}{word} value. Key: pk")


@probe(37, 45, tier=3, cases=KINDS)
def a_wrong_name_of_a_table_is_told_with_its_place(api: Api, kind: str) -> None:
    """The message has the position and the kind of the action."""
    pattern = "failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    at = f"transactItems.2.member.{kind[0].lower()}{kind[1:]}.tableName"
    message = f"1 validation error detected: Value 'bad!name' at '{at}' {pattern}"
    actions = [_put(api, api.new_key()), _action(kind, "bad!name", {"pk": s("a")})]
    refused(api, "TransactWriteItems", TransactItems=actions, message=message)


@probe(37, 45, tier=3)
def a_wrong_name_of_a_table_is_told_with_its_place_of_gets(api: Api) -> None:
    """The message has the position of the get."""
    pattern = "failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    message = f"1 validation error detected: Value 'bad!name' at 'transactItems.2.member.get.tableName' {pattern}"
    gets = [{"Get": {"TableName": name, "Key": {"pk": s("a")}}} for name in (api.table("hash"), "bad!name")]
    refused(api, "TransactGetItems", TransactItems=gets, message=message)


@probe(37, 45, tier=3, cases=KINDS)
def a_value_that_no_expression_uses_refuses_the_request(api: Api, kind: str) -> None:
    """The value is reported before a missing table, and before a duplicate item."""
    table, key, first = api.table("hash"), api.new_key(), api.new_key()
    condition = {} if kind == "Update" else {"ConditionExpression": "attribute_not_exists(pk)"}
    unused = _action(kind, table, key, values={":v": s("x")}, **condition)
    missing = _action("Put", f"{api.prefix}nowhere", first)
    for actions in ([_put(api, first), unused], [missing, unused], [unused, missing], [_put(api, key), unused]):
        refused(api, "TransactWriteItems", TransactItems=actions, message=UNUSED)
    same((api.get("hash", first), api.get("hash", key)), (None, None))


@probe(37, 45, tier=3, cases={kind: (kind,) for kind in ("Put", "Delete", "ConditionCheck")})
def a_condition_that_cannot_be_read_refuses_the_request(api: Api, kind: str) -> None:
    """An empty or incomplete condition is reported before a missing table."""
    start = "Invalid ConditionExpression: "
    for text, message in (
        ("", "The expression can not be empty;"),
        ("attribute_not_exists(", 'Syntax error; token: "<EOF>", near: "("'),
    ):
        action = _action(kind, api.table("hash"), api.new_key(), ConditionExpression=text)
        actions = [_action("Put", f"{api.prefix}nowhere", {"pk": s("a")}), action]
        refused(api, "TransactWriteItems", TransactItems=actions, message=start + message)


@probe(37, 45, tier=3)
def an_action_of_no_kind_is_refused(api: Api) -> None:
    """AWS has two wordings of the message."""
    pattern = "TransactWriteRequest should contain Delete or Put or Update (request|or ConditionCheck)$"
    refused(api, "TransactWriteItems", TransactItems=[{}], pattern=pattern)


def _deep(api: Api, kind: str, levels: int = 40) -> Json:
    table, key = api.table("hash"), api.new_key()
    match kind:
        case "item":
            return _put(api, {**key, "d": nested(levels)})
        case "key":
            return _action("Delete", table, {"pk": nested(levels)})
        case "check":
            return _action("ConditionCheck", table, {"pk": nested(levels)})
        case "name":
            return _put(api, {**key, "": s("x")})
        case "syntax":
            return _put(api, key, ConditionExpression="a = = b")
        case _:
            return _action("Update", table, key, values={":v": s("x")})


ORDER: dict[str, tuple[str, str, str]] = {
    "item, name": ("item", "name", TOO_DEEP),
    "name, item": ("name", "item", "Empty attribute name"),
    "key, syntax": ("key", "syntax", TOO_DEEP),
    "syntax, key": ("syntax", "key", SYNTAX),
    "check, unused": ("check", "unused", TOO_DEEP),
    "unused, check": ("unused", "check", UNUSED),
    "syntax, item": ("syntax", "item", SYNTAX),
    "item, syntax": ("item", "syntax", TOO_DEEP),
}


@probe(37, 45, tier=3, cases=ORDER)
def the_first_action_that_is_wrong_is_told(api: Api, first: str, second: str, message: str) -> None:
    """The kinds of the errors do not matter."""
    actions = [_deep(api, first), _deep(api, second, 100 if message != TOO_DEEP else 40)]
    refused(api, "TransactWriteItems", TransactItems=actions, message=message)


@probe(37, 45, tier=3)
def of_one_action_the_expression_is_looked_at_before_the_key(api: Api) -> None:
    """An empty name is reported before a value that is too deep, except inside a map."""
    table, key = api.table("hash"), api.new_key()
    delete = {"Delete": {"TableName": table, "Key": {"pk": nested(100)}, "ConditionExpression": "a = = b"}}
    refused(api, "TransactWriteItems", TransactItems=[delete], message=SYNTAX)
    for item in ({**key, "": s("x"), "d": nested(100)}, {**key, "d": nested(100), "": s("x")}):
        refused(api, "TransactWriteItems", TransactItems=[_put(api, item)], message="Empty attribute name")
    within = _put(api, {**key, "m": {"M": {"": s("x")}}, "d": nested(40)})
    refused(api, "TransactWriteItems", TransactItems=[within], message=TOO_DEEP)


@probe(rule=45, tier=3)
def constraints_of_a_transaction_come_first(api: Api) -> None:
    """Constraints are reported before a missing table and before a duplicate item; nothing is written."""
    key, nowhere = api.new_key(), f"{api.prefix}nowhere"
    put, get = _put(api, key), {"Get": {"TableName": api.table("hash"), "Key": key}}
    bogus = {"ReturnConsumedCapacity": "BOGUS"}
    for actions in ([put], [put, put], [_action("Put", nowhere, key)]):
        refused(api, "TransactWriteItems", TransactItems=actions, message=CAPACITY, **bogus)
    metrics = {"ReturnItemCollectionMetrics": "BOGUS"}
    refused(api, "TransactWriteItems", TransactItems=[put], message=METRICS, **metrics)
    for gets in ([get], [get, get], [{"Get": {"TableName": nowhere, "Key": key}}]):
        refused(api, "TransactGetItems", TransactItems=gets, message=CAPACITY, **bogus)
    same(api.get("hash", key), None)


@probe(38, 45, tier=3)
def a_token_that_is_too_long_is_told_before_other_constraints(api: Api) -> None:
    """AWS has two wordings of the message."""
    at = "(at 'ClientRequestToken'|'x{37}' at 'clientRequestToken')"
    rule = "failed to satisfy constraint: Member must have length less than or equal to 36"
    given: Json = {"TransactItems": [_put(api, api.new_key())], "ClientRequestToken": "x" * 37}
    refused(api, "TransactWriteItems", pattern=f"^1 validation error detected: Value {at} {rule}$", **given)
    pattern = f"^[12] validation errors? detected: Value {at} {rule}"
    refused(api, "TransactWriteItems", pattern=pattern, ReturnConsumedCapacity="BOGUS", **given)


@probe(36, 45, tier=3, cases={"writes": ("TransactWriteItems",), "gets": ("TransactGetItems",)})
def a_number_of_actions_is_refused_in_these_words(api: Api, operation: str) -> None:
    """There is no action, or more than 100; AWS has two wordings for each."""
    at = "('.+' at 'transactItems'|at 'TransactItems')"
    one = f"^1 validation error detected: Value {at} failed to satisfy constraint: "
    refused(api, operation, TransactItems=[], pattern=f"{one}Member must have length greater than or equal to 1$")
    table = api.table("hash")
    get, put = (
        {"Get": {"TableName": table, "Key": {"pk": s("a")}}},
        {"Put": {"TableName": table, "Item": {"pk": s("a")}}},
    )
    actions = [get if operation == "TransactGetItems" else put] * 101
    refused(api, operation, TransactItems=actions, pattern=f"{one}Member must have length less than or equal to 100$")


@probe(37, 45, tier=3)
def a_transaction_says_what_it_refuses(api: Api) -> None:
    """There is a duplicate item, a missing table, an invalid projection, or a key without attributes."""
    key, table = api.new_key(), api.table("hash")
    message = "Transaction request cannot include multiple operations on one item"
    refused(api, "TransactWriteItems", TransactItems=[_put(api, key)] * 2, message=message)
    get: Json = {"TableName": table, "Key": key}
    missing: Json = {"TransactItems": [{"Get": get}, {"Get": {**get, "TableName": f"{api.prefix}nowhere"}}]}
    refused(
        api, "TransactGetItems", kind="ResourceNotFoundException", message="Requested resource not found", **missing
    )
    message = 'Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"'
    refused(api, "TransactGetItems", TransactItems=[{"Get": {**get, "ProjectionExpression": "!!!"}}], message=message)
    refusal = refused(api, "TransactGetItems", kind=CANCELED, TransactItems=[{"Get": {**get, "Key": {}}}])
    same(_codes(refusal), ["ValidationError"])
