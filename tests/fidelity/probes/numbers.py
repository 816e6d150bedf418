"""Numbers: their forms, their range, and their exactness."""

from __future__ import annotations

from tests.fidelity import Api, probe, refused, same
from tests.fidelity._attributes import Json, n

_STORED = {
    "plus": ("+5", "5"),
    "plus zero": ("+0", "0"),
    "plus fraction": ("+.5", "0.5"),
    "plus exponent": ("+1e2", "100"),
    "negative exponent": ("+1e-2", "0.01"),
    "minus zero": ("-0", "0"),
    "no whole part": (".5", "0.5"),
    "no fraction": ("5.", "5"),
    "no fraction and an exponent": ("1.e5", "100000"),
    "leading zeros": ("0001.23", "1.23"),
    "trailing zeros": ("1.500", "1.5"),
    "capital exponent": ("1.23E10", "12300000000"),
    "signed exponent": ("1.5E+3", "1500"),
    "38 digits": ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
    "38 digits of a fraction": ("0.00000000000000000000000000000000000001", "0.00000000000000000000000000000000000001"),
}


@probe(2, 3, cases=_STORED)
def a_number_is_returned_in_canonical_form(api: Api, given: str, returned: str) -> None:
    """The form in the request does not matter."""
    key = api.new_key()
    api.put("hash", {**key, "a": n(given)})
    same(api.get("hash", key), {**key, "a": n(returned)})


_REFUSED = ["", " 5", "5 ", "1 5", "NaN", "Infinity", "1.2.3", "+e2", "e2", "1e", "1e+", "+", "-", ".", "++5", "+-5"]
_REFUSED += ["-+5", "+1+2", "1+2", "0x5", "1_000", "1.2e3.4", "٣"]


@probe(rule=3, cases={repr(text): (text,) for text in _REFUSED})
def a_text_that_is_not_a_number_is_refused(api: Api, given: str) -> None:
    """The text is the value of an attribute."""
    refused(api, "PutItem", TableName=api.table("hash"), Item={**api.new_key(), "a": n(given)})


@probe(rule=3)
def a_json_number_is_not_the_text_of_a_number(api: Api) -> None:
    """`{"N": 5}` is a serialization error."""
    item = {**api.new_key(), "a": {"N": 5}}
    refused(api, "PutItem", kind="SerializationException", TableName=api.table("hash"), Item=item)


_BEYOND = {
    "39 digits": ("123456789012345678901234567890123456789",),
    "1E126": ("1E126",),
    "-1E126": ("-1E126",),
    "1E-131": ("1E-131",),
    "an exponent of 20 digits": ("1e99999999999999999999",),
}


@probe(rule=1, cases=_BEYOND)
def a_number_beyond_the_limits_is_refused(api: Api, given: str) -> None:
    """The number is not rounded."""
    refused(api, "PutItem", TableName=api.table("hash"), Item={**api.new_key(), "a": n(given)})


_EXTREME = {
    "largest": ("9.9999999999999999999999999999999999999E+125",),
    "most negative": ("-9.9999999999999999999999999999999999999E+125",),
    "smallest": ("1E-130",),
}


@probe(rule=1, cases=_EXTREME)
def a_number_at_the_limit_is_accepted(api: Api, given: str) -> None:
    """A condition finds the number by value."""
    key = api.new_key()
    api.put("hash", {**key, "a": n(given)})
    values = {":v": n(given)}
    api(
        "DeleteItem",
        TableName=api.table("hash"),
        Key=key,
        ConditionExpression="a = :v",
        ExpressionAttributeValues=values,
    )


def _added(api: Api, before: str, change: str) -> str:
    key = api.new_key()
    api.put("hash", {**key, "a": n(before)})
    response = api(
        "UpdateItem",
        TableName=api.table("hash"),
        Key=key,
        UpdateExpression="SET a = a + :c",
        ExpressionAttributeValues={":c": n(change)},
        ReturnValues="UPDATED_NEW",
    )
    found: str = response["Attributes"]["a"]["N"]
    return found


@probe(rule=1)
def arithmetic_is_exact(api: Api) -> None:
    """The result is exact to the last of 38 digits."""
    same(_added(api, "12345678901234567890123456789012345677", "1"), "12345678901234567890123456789012345678")
    same(_added(api, "0.1", "0.2"), "0.3")


@probe(rule=1, cases={"digits": ("1E50", "1"), "magnitude": ("9E125", "9E125")})
def arithmetic_that_cannot_be_exact_is_refused(api: Api, before: str, change: str) -> None:
    """The result would need too many digits, or be too large."""
    key = api.new_key()
    api.put("hash", {**key, "a": n(before)})
    refused(
        api,
        "UpdateItem",
        TableName=api.table("hash"),
        Key=key,
        UpdateExpression="SET a = a + :c",
        ExpressionAttributeValues={":c": n(change)},
    )


@probe(rule=4, cases={"1.0": ("1.0",), "10e-1": ("10e-1",), "+1": ("+1",)})
def equal_numbers_are_one_key(api: Api, other: str) -> None:
    """The form of the numbers does not matter."""
    partition = api.new_key()
    api.put("numbers", {**partition, "sk": n("1"), "a": n(7)})
    same((api.get("numbers", {**partition, "sk": n(other)}) or {}).get("a"), n(7))


@probe(rule=4)
def a_number_set_holds_numbers_and_not_texts(api: Api) -> None:
    """Adding 1.0 to a set with 1 changes nothing."""
    key = api.new_key()
    api.put("hash", {**key, "a": {"NS": ["1"]}})
    values = {":v": {"NS": ["1.0"]}}
    update = {"UpdateExpression": "ADD a :v", "ExpressionAttributeValues": values}
    api("UpdateItem", TableName=api.table("hash"), Key=key, **update)
    same(api.get("hash", key), {**key, "a": {"NS": ["1"]}})


@probe(rule=4)
def equality_takes_all_digits_into_account(api: Api) -> None:
    """Two numbers differ even if they are equal as floating-point numbers."""
    key = api.new_key()
    api.put("hash", {**key, "a": n("100000000000000000000000000000000001")})
    refused(
        api,
        "DeleteItem",
        kind="ConditionalCheckFailedException",
        TableName=api.table("hash"),
        Key=key,
        ConditionExpression="a = :v",
        ExpressionAttributeValues={":v": n("100000000000000000000000000000000002")},
    )


@probe(rule=31)
def numbers_are_ordered_by_value(api: Api) -> None:
    """The values include negative numbers and numbers with many digits."""
    partition = api.new_key()
    values = ["-10", "-1.5", "0", "0.001", "1", "2", "10", "1E20", "100000000000000000001"]
    for value in reversed(values):
        api.put("numbers", {**partition, "sk": n(value)})
    response = api(
        "Query",
        TableName=api.table("numbers"),
        KeyConditionExpression="pk = :p",
        ExpressionAttributeValues={":p": partition["pk"]},
    )
    expected = [value.replace("1E20", "100000000000000000000") for value in values]
    same([item["sk"]["N"] for item in response["Items"]], expected)


def _key_call(api: Api, operation: str, number: str) -> Json:
    key = {**api.new_key(), "sk": n(number)}
    table = api.table("numbers")
    if operation == "BatchGetItem":
        return {"RequestItems": {table: {"Keys": [key]}}}
    if operation == "Query":
        values = {":p": key["pk"], ":v": key["sk"]}
        condition = {"KeyConditionExpression": "pk = :p AND sk = :v", "ExpressionAttributeValues": values}
        return {"TableName": table, **condition}
    return {"TableName": table, "Key": key}


_BY_KEY = ("GetItem", "DeleteItem", "UpdateItem", "Query", "BatchGetItem")


@probe(rule=1, tier=3, cases={operation: (operation,) for operation in _BY_KEY})
def a_key_beyond_the_limits_is_refused(api: Api, operation: str) -> None:
    """The key never matches that of an item."""
    given = _key_call(api, operation, "1e99999999999")
    refused(api, operation, pattern="Number overflow. Attempting to store a number with magnitude larger", **given)


@probe(rule=1, tier=3)
def zero_is_measured_by_the_exponent_that_it_is_written_with(api: Api) -> None:
    """A zero with an exponent within the limits is stored as 0."""
    key = api.new_key()
    api.put("hash", {**key, "a": n("0e125"), "b": n("0042.1200"), "c": n("1E125")})
    same(api.get("hash", key), {**key, "a": n(0), "b": n("42.12"), "c": n("1" + "0" * 125)})
