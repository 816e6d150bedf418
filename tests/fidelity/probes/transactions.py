"""Transactions: all or nothing, reasons, tokens, conflicts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.fidelity import Api, Refused, holds, probe, refused, same
from tests.fidelity._attributes import Json, n, s

CANCELED = "TransactionCanceledException"


def _put(api: Api, item: Json, **others: Any) -> Json:
    return {"Put": {"TableName": api.table("hash"), "Item": item, **others}}


def _codes(refusal: Refused) -> list[str]:
    return [reason["Code"] for reason in refusal.body["CancellationReasons"]]


@probe(rule=36, tier=2)
def a_transaction_writes_all(api: Api) -> None:
    """In several tables, of every kind."""
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
    """Each action has a reason, in the order of the request, with the item where asked."""
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
    """Two of two."""
    condition = {"ConditionExpression": "attribute_exists(pk)"}
    actions = [_put(api, api.new_key(), **condition), _put(api, api.new_key(), **condition)]
    refusal = refused(api, "TransactWriteItems", kind=CANCELED, TransactItems=actions)
    same(_codes(refusal), ["ConditionalCheckFailed", "ConditionalCheckFailed"])


@probe(36, 37, tier=2)
def a_key_of_the_wrong_type_is_the_reason_of_its_action(api: Api) -> None:
    """Of the first such action alone; no condition is evaluated."""
    failing = _put(api, api.new_key(), ConditionExpression="attribute_exists(pk)")
    actions = [failing, _put(api, {"pk": n(1)}), _put(api, {"pk": n(2)})]
    refusal = refused(api, "TransactWriteItems", kind=CANCELED, TransactItems=actions)
    same(_codes(refusal), ["None", "ValidationError", "None"])


@probe(rule=37, tier=2, cases={"Delete": ("Delete", {}), "ConditionCheck": ("ConditionCheck", {"c": 1})})
def a_key_of_the_wrong_type_cancels(api: Api, kind: str, others: Json) -> None:
    """Of every kind of action."""
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
    """It is not cancelled."""
    action = {"Put": {"TableName": api.table("hash"), **given}}
    refused(api, "TransactWriteItems", TransactItems=[_put(api, api.new_key()), action])


@probe(rule=37, tier=2)
def a_transaction_names_an_item_once(api: Api) -> None:
    """Of writes and of gets."""
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
    """With another request it is refused."""
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
    """One more is refused."""
    actions = [_put(api, api.new_key())]
    refused(api, "TransactWriteItems", TransactItems=actions, ClientRequestToken="x" * 37)


@probe(rule=38, tier=2)
def a_read_of_several_items_is_of_one_instant(api: Api) -> None:
    """Missing ones are empty, in the order of the request."""
    first, second, table = api.new_key(), api.new_key(), api.table("hash")
    api.put("hash", second)
    gets = [{"Get": {"TableName": table, "Key": key}} for key in (first, second)]
    same(api("TransactGetItems", TransactItems=gets)["Responses"], [{}, {"Item": second}])


@probe(rule=36, tier=2, cases={"writes": ("TransactWriteItems",), "gets": ("TransactGetItems",)})
def an_empty_transaction_is_refused(api: Api, operation: str) -> None:
    """There must be an action."""
    refused(api, operation, TransactItems=[])


@probe(rule=36, tier=2)
def a_transaction_on_a_missing_table_is_not_found(api: Api) -> None:
    """Of writes and of gets."""
    name, kind = f"{api.prefix}nowhere", "ResourceNotFoundException"
    refused(api, "TransactWriteItems", kind=kind, TransactItems=[{"Put": {"TableName": name, "Item": {"pk": s("x")}}}])
    refused(api, "TransactGetItems", kind=kind, TransactItems=[{"Get": {"TableName": name, "Key": {"pk": s("x")}}}])


@probe(rule=39, tier=2, races=True)
def writes_that_meet_succeed_or_say_that_they_met(api: Api) -> None:
    """Transactions and single writes of one item at once: what is not a conflict is counted."""
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
