"""Attribute values: empty values, sets, binaries, and index keys."""

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, probe, refused, same
from tests.fidelity._attributes import Json, n, s

_STORED: dict[str, tuple[Json]] = {
    "string": ({"S": "text"},),
    "empty string": ({"S": ""},),
    "binary": ({"B": "AAH/"},),
    "empty binary": ({"B": ""},),
    "true": ({"BOOL": True},),
    "false": ({"BOOL": False},),
    "null": ({"NULL": True},),
    "empty list": ({"L": []},),
    "empty map": ({"M": {}},),
    "mixed list": ({"L": [{"S": "a"}, {"N": "1"}, {"BOOL": True}, {"NULL": True}, {"L": []}]},),
    "map in list in map": ({"M": {"a": {"L": [{"M": {"b": {"S": "c"}}}]}}},),
    "set with an empty string": ({"SS": [""]},),
    "set with an empty binary": ({"BS": [""]},),
    "set in a map": ({"M": {"a": {"SS": ["b"]}}},),
}


@probe(rule=9, cases=_STORED)
def a_value_comes_back_as_it_was_put(api: Api, value: Json) -> None:
    """Values of all types are stored unchanged."""
    key = api.new_key()
    api.put("hash", {**key, "a": value})
    same(api.get("hash", key), {**key, "a": value})


_REFUSED: dict[str, tuple[Json]] = {
    "empty string set": ({"SS": []},),
    "empty number set": ({"NS": []},),
    "empty binary set": ({"BS": []},),
    "empty set in a list": ({"L": [{"SS": []}]},),
    "empty set in a map": ({"M": {"a": {"NS": []}}},),
    "repeated string": ({"SS": ["a", "b", "a"]},),
    "repeated empty string": ({"SS": ["", ""]},),
    "repeated number": ({"NS": ["1", "1.0"]},),
    "repeated binary": ({"BS": ["AA==", "AA=="]},),
    "repeated empty binary": ({"BS": ["", ""]},),
    "empty member of a number set": ({"NS": [""]},),
    "null that is false": ({"NULL": False},),
    "two types": ({"S": "a", "N": "1"},),
    "no type": ({},),
}


@probe(rule=9, cases=_REFUSED)
def a_value_that_cannot_be_is_refused(api: Api, value: Json) -> None:
    """The item is not stored."""
    refused(api, "PutItem", TableName=api.table("hash"), Item={**api.new_key(), "a": value})


@probe(rule=9, cases={"partition": ({"pk": s(""), "sk": s("a")},), "sort": ({"pk": s("a"), "sk": s("")},)})
def a_key_may_not_be_empty(api: Api, key: Json) -> None:
    """Neither part may be empty, in writes or in reads."""
    refused(api, "PutItem", TableName=api.table("pair"), Item=key)
    refused(api, "GetItem", TableName=api.table("pair"), Key=key)


_INDEX_KEYS: dict[str, tuple[str, Json]] = {
    "number for a string": ("g", n(1)),
    "string for a number": ("n", s("1")),
    "null": ("g", {"NULL": True}),
    "map": ("g", {"M": {}}),
    "empty string": ("g", s("")),
    "of a local index": ("l", n(1)),
}


@probe(rule=10, cases=_INDEX_KEYS)
def a_write_with_a_wrong_index_key_is_refused(api: Api, name: str, value: Json) -> None:
    """The write is a put, an update or part of a batch."""
    table, key = api.table("indexed"), api.new_key("a")
    refused(api, "PutItem", TableName=table, Item={**key, name: value})
    refused(api, "BatchWriteItem", RequestItems={table: [{"PutRequest": {"Item": {**key, name: value}}}]})
    refused(
        api,
        "UpdateItem",
        TableName=table,
        Key=key,
        UpdateExpression="SET #n = :v",
        ExpressionAttributeNames={"#n": name},
        ExpressionAttributeValues={":v": value},
    )


_EMPTY = (
    "One or more parameter values are not valid. {} is not supported. "
    "The AttributeValue for a key attribute cannot contain an empty string value."
)
_PUT_EMPTY = _EMPTY.format("A value specified for a secondary index key") + " IndexName: all, IndexKey: g"
_SET_EMPTY = _EMPTY.format("The update expression attempted to update a secondary index key to a value that")
_SET_KEY: dict[str, Any] = {"UpdateExpression": "SET g = :v", "ExpressionAttributeValues": {":v": s("")}}


@probe(rule=10, tier=3)
def an_empty_index_key_is_worded_by_what_writes_it(api: Api) -> None:
    """An update does not name the index."""
    table, key = api.table("indexed"), api.new_key("a")
    refused(
        api, "BatchWriteItem", message=_PUT_EMPTY, RequestItems={table: [{"PutRequest": {"Item": {**key, "g": s("")}}}]}
    )
    refused(api, "UpdateItem", message=_SET_EMPTY, TableName=table, Key=key, **_SET_KEY)


@probe(rule=10, tier=3)
def the_first_index_of_a_wrong_key_is_named(api: Api) -> None:
    """Two indexes have the key; the order is that of their names."""
    item = {**api.new_key("a"), "h": n(1)}
    message = (
        "One or more parameter values were invalid: Type mismatch for Index Key h Expected: S Actual: N IndexName: "
    )
    requests = {api.table("indexed"): [{"PutRequest": {"Item": item}}]}
    refused(api, "BatchWriteItem", message=f"{message}local-some", RequestItems=requests)


@probe(rule=10)
def an_item_without_the_key_of_an_index_is_not_in_it(api: Api) -> None:
    """The item is stored nevertheless; an index needs both of its key attributes."""
    table, key = api.table("indexed"), api.new_key("a")
    group = key["pk"]["S"]
    api.put("indexed", {**key, "g": s(group)})
    api.put("indexed", {**key, "sk": s("b"), "g": s(group), "h": s("1")})

    def found(index: str) -> list[str]:
        query: dict[str, Any] = {"TableName": table, "IndexName": index, "KeyConditionExpression": "g = :g"}
        response = api("Query", ExpressionAttributeValues={":g": s(group)}, **query)
        return sorted(item["sk"]["S"] for item in response["Items"])

    same(api.eventually(lambda: found("all"), lambda sorts: len(sorts) > 1), ["a", "b"])
    same(found("some"), ["b"])


@probe(rule=11, cases={"length": ("AAA",), "letter": ("A*==",)})
def malformed_base64_cannot_be_read(api: Api, text: str) -> None:
    """The error is a serialization error."""
    item = {**api.new_key(), "a": {"B": text}}
    refused(api, "PutItem", kind="SerializationException", TableName=api.table("hash"), Item=item)


@probe(rule=11)
def a_set_that_loses_its_last_member_is_removed(api: Api) -> None:
    """There are no empty sets."""
    key = api.new_key()
    api.put("hash", {**key, "a": {"SS": ["x", "y"]}})
    for members, left in ((["x"], {"a": {"SS": ["y"]}}), (["y", "z"], {})):
        update = {"UpdateExpression": "DELETE a :v", "ExpressionAttributeValues": {":v": {"SS": members}}}
        api("UpdateItem", TableName=api.table("hash"), Key=key, **update)
        same(api.get("hash", key), {**key, **left})


_ORDERED: dict[str, tuple[str, list[str], list[str]]] = {
    "strings": ("SS", ["b", "", "a", "B"], ["", "B", "a", "b"]),
    "numbers": ("NS", ["10", "9", "-1"], ["-1", "9", "10"]),
    "binaries": ("BS", ["/w==", "AA==", ""], ["", "AA==", "/w=="]),
}


@probe(rule=31, tier=2, cases=_ORDERED)
def members_of_a_set_come_back_in_order(api: Api, kind: str, given: list[str], found: list[str]) -> None:
    """The order is that of sort keys, not of the request."""
    key = api.new_key()
    api.put("hash", {**key, "a": {kind: given}})
    same(api.get("hash", key), {**key, "a": {kind: found}})


@probe(rule=31)
def binaries_are_ordered_by_unsigned_bytes(api: Api) -> None:
    """0x80 is after 0x7f."""
    partition, values = api.new_key(), ["AA==", "fw==", "gA==", "gAA=", "/w=="]
    for value in reversed(values):
        api.put("bytes", {**partition, "sk": {"B": value}})
    query = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": partition["pk"]}}
    response = api("Query", TableName=api.table("bytes"), **query)
    same([item["sk"]["B"] for item in response["Items"]], values)


@probe(rule=31)
def strings_are_ordered_by_their_bytes_in_utf_8(api: Api) -> None:
    """Capitals come first, and characters beyond the basic plane last."""
    partition, values = api.new_key(), ["A", "Z", "a", "z", "é", "\uffee", "\U0001d11e"]
    for value in reversed(values):
        api.put("pair", {**partition, "sk": s(value)})
    query = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": partition["pk"]}}
    response = api("Query", TableName=api.table("pair"), **query)
    same([item["sk"]["S"] for item in response["Items"]], values)
