"""Batches of gets and of writes."""

from __future__ import annotations

from collections.abc import Callable

from tests.fidelity import Api, probe, refused, same
from tests.fidelity._attributes import Json, n, s

EMPTY = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
MISMATCH = "The provided key element does not match the schema"
CAPACITY = (
    "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: "
    "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
)
METRICS = (
    "Value 'BOGUS' at 'returnItemCollectionMetrics' failed to satisfy constraint: "
    "Member must satisfy enum value set: [SIZE, NONE]"
)
NAMES = (
    "failed to satisfy constraint: Map keys must satisfy constraint: "
    "[Member must have length less than or equal to 255, "
    "Member must have length greater than or equal to 3, "
    "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
)
NAMED = f"""Value '{{"bad!name":{{"Keys":[{{"pk":{{"S":"a"}}}}]}}}}' at 'requestItems' {NAMES}"""
OVERLAP = (
    "Invalid ProjectionExpression: Two document paths overlap with each other; "
    "must remove or rewrite one of these paths; "
)


@probe(rule=35)
def a_batch_writes_to_several_tables(api: Api) -> None:
    """One batch may mix puts and deletes."""
    first, second, gone = api.new_key(), api.new_key("a"), api.new_key()
    api.put("hash", gone)
    response = api(
        "BatchWriteItem",
        RequestItems={
            api.table("hash"): [{"PutRequest": {"Item": first}}, {"DeleteRequest": {"Key": gone}}],
            api.table("pair"): [{"PutRequest": {"Item": second}}],
        },
    )
    same(response["UnprocessedItems"], {})
    found = [api.get("hash", first), api.get("hash", gone), api.get("pair", second)]
    same(found, [first, None, second])


@probe(rule=35)
def a_batch_reads_from_several_tables(api: Api) -> None:
    """The response leaves out missing items."""
    first, second = api.new_key(), api.new_key("a")
    api.put("hash", first)
    api.put("pair", second)
    tables = api.table("hash"), api.table("pair")
    wanted = {tables[0]: {"Keys": [first, api.new_key()], "ConsistentRead": True}, tables[1]: {"Keys": [second]}}
    response = api("BatchGetItem", RequestItems=wanted)
    same(response["Responses"], {tables[0]: [first], tables[1]: [second]})
    same(response["UnprocessedKeys"], {})


@probe(rule=35)
def a_batch_that_names_a_key_twice_is_refused(api: Api) -> None:
    """The whole batch is refused, of gets or of writes, so nothing is written."""
    table, key, other = api.table("hash"), api.new_key(), api.new_key()
    refused(api, "BatchGetItem", TableName=table, RequestItems={table: {"Keys": [key, other, key]}})
    writes = [{"PutRequest": {"Item": other}}, {"PutRequest": {"Item": key}}, {"DeleteRequest": {"Key": key}}]
    refused(api, "BatchWriteItem", RequestItems={table: writes})
    same(api.get("hash", other), None)


@probe(rule=35)
def a_batch_with_a_wrong_write_writes_nothing(api: Api) -> None:
    """A key of the wrong type refuses the whole batch."""
    table, key = api.table("hash"), api.new_key()
    writes = [{"PutRequest": {"Item": key}}, {"PutRequest": {"Item": {"pk": n(1)}}}]
    refused(api, "BatchWriteItem", RequestItems={table: writes})
    same(api.get("hash", key), None)


@probe(rule=35, cases={"BatchGetItem": ("BatchGetItem",), "BatchWriteItem": ("BatchWriteItem",)})
def an_empty_batch_is_refused(api: Api, operation: str) -> None:
    """A batch must have at least one table."""
    refused(api, operation, RequestItems={})


@probe(rule=35)
def a_batch_of_a_missing_table_is_not_found(api: Api) -> None:
    """Batches of gets and batches of writes return the same error."""
    name = f"{api.prefix}nowhere"
    refused(api, "BatchGetItem", kind="ResourceNotFoundException", RequestItems={name: {"Keys": [{"pk": s("x")}]}})
    writes = [{"PutRequest": {"Item": {"pk": s("x")}}}]
    refused(api, "BatchWriteItem", kind="ResourceNotFoundException", RequestItems={name: writes})


WRITES: dict[str, tuple[str, Json, str]] = {
    "a key of another type": ("hash", {"PutRequest": {"Item": {"pk": n(5)}}}, MISMATCH),
    "a list for a key": ("hash", {"PutRequest": {"Item": {"pk": {"L": [s("x")]}}}}, MISMATCH),
    "no key": ("hash", {"PutRequest": {"Item": {"other": s("x")}}}, MISMATCH),
    "no key of a delete": ("hash", {"DeleteRequest": {"Key": {"other": s("x")}}}, MISMATCH),
    "an empty key": ("hash", {"PutRequest": {"Item": {"pk": s("")}}}, f"{EMPTY}string value. Key: pk"),
    "an empty binary": ("binary", {"PutRequest": {"Item": {"pk": {"B": ""}}}}, f"{EMPTY}binary value. Key: pk"),
    "an empty binary of a delete": (
        "binary",
        {"DeleteRequest": {"Key": {"pk": {"B": ""}}}},
        f"{EMPTY}binary value. Key: pk",
    ),
}


@probe(35, 45, tier=3, cases=WRITES)
def a_wrong_key_in_a_batch_is_refused_in_these_words(api: Api, shape: str, write: Json, message: str) -> None:
    """The key is that of a put or a delete."""
    refused(api, "BatchWriteItem", RequestItems={api.table(shape): [write]}, message=message)


@probe(35, 45, tier=3)
def an_empty_binary_is_not_read_in_a_batch(api: Api) -> None:
    """Operations on a single item refuse an empty binary key with the same message."""
    table, key, message = api.table("binary"), {"pk": {"B": ""}}, f"{EMPTY}binary value. Key: pk"
    refused(api, "BatchGetItem", RequestItems={table: {"Keys": [key]}}, message=message)
    refused(api, "PutItem", TableName=table, Item=key, message=message)
    for operation in ("GetItem", "DeleteItem", "UpdateItem"):
        refused(api, operation, TableName=table, Key=key, message=message)


def _too_many(api: Api) -> tuple[Json, str]:
    table = api.table("hash")
    keys = [api.new_key() for _ in range(101)]
    return {table: {"Keys": keys}}, f"'RequestItems.{table}.member.Keys' failed to satisfy constraint: {LESS}100"


def _none(api: Api) -> tuple[Json, str]:
    table = api.table("hash")
    return {table: {"Keys": []}}, f"'RequestItems.{table}.member.Keys' failed to satisfy constraint: {MORE}1"


def _nothing(_: Api) -> tuple[Json, str]:
    return {}, f"'RequestItems' failed to satisfy constraint: {MORE}1"


LESS, MORE = "Member must have length less than or equal to ", "Member must have length greater than or equal to "
COUNTS = {"too many": (_too_many,), "none": (_none,), "nothing": (_nothing,)}


@probe(35, 45, tier=3, cases=COUNTS)
def a_number_of_keys_is_refused_in_these_words(api: Api, make: Callable[[Api], tuple[Json, str]]) -> None:
    """The batch is one of gets: with too many keys, no keys, or no table."""
    items, message = make(api)
    refused(api, "BatchGetItem", RequestItems=items, message=f"1 validation error detected: Value at {message}")


@probe(35, 45, tier=3)
def a_number_of_writes_is_refused_in_these_words(api: Api) -> None:
    """There are more than 25 writes, or none; AWS has two wordings for the former."""
    table = api.table("hash")
    writes = [{"PutRequest": {"Item": api.new_key()}} for _ in range(26)]
    pattern = "^1 validation error detected: Value .*ember must have length less than or equal to 25"
    refused(api, "BatchWriteItem", RequestItems={table: writes}, pattern=pattern)
    message = (
        f"1 validation error detected: Value '{{{table}=[]}}' at 'requestItems' failed to satisfy constraint: "
        f"Map value must satisfy constraint: [{LESS}25, {MORE}1]"
    )
    refused(api, "BatchWriteItem", RequestItems={table: []}, message=message)


@probe(35, 45, tier=3)
def a_batch_says_that_a_key_is_there_twice(api: Api) -> None:
    """The message also says that a table is missing."""
    table, key = api.table("hash"), api.new_key()
    message = "Provided list of item keys contains duplicates"
    refused(api, "BatchGetItem", RequestItems={table: {"Keys": [key, key]}}, message=message)
    writes = [{"PutRequest": {"Item": key}}, {"DeleteRequest": {"Key": key}}]
    refused(api, "BatchWriteItem", RequestItems={table: writes}, message=message)
    kind, message, name = "ResourceNotFoundException", "Requested resource not found", f"{api.prefix}nowhere"
    refused(api, "BatchGetItem", kind=kind, RequestItems={name: {"Keys": [key]}}, message=message)
    refused(api, "BatchWriteItem", kind=kind, RequestItems={name: writes[:1]}, message=message)


PROJECTED: dict[str, tuple[Json, str]] = {
    "twice": ({"ProjectionExpression": "a, a"}, f"{OVERLAP}path one: [a], path two: [a]"),
    "below": ({"ProjectionExpression": "a, a.b"}, f"{OVERLAP}path one: [a], path two: [a, b]"),
    "two names": (
        {"ProjectionExpression": "#a, #b", "ExpressionAttributeNames": {"#a": "a", "#b": "a"}},
        f"{OVERLAP}path one: [a], path two: [a]",
    ),
    "two ways": (
        {"ProjectionExpression": "a", "AttributesToGet": ["a"]},
        (
            "Can not use both expression and non-expression parameters in the same request: Non-expression "
            "parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"
        ),
    ),
}


@probe(23, 45, tier=3, cases=PROJECTED)
def a_projection_of_one_table_refuses_the_batch(api: Api, wanted: Json, message: str) -> None:
    """The batch is refused even if the projection of the other table is valid."""
    right = {"Keys": [api.new_key("a")], "ProjectionExpression": "a"}
    wrong = {"Keys": [api.new_key()], **wanted}
    refused(api, "BatchGetItem", RequestItems={api.table("hash"): wrong, api.table("pair"): right}, message=message)


@probe(23, 52, tier=3)
def a_batch_projects_in_one_way(api: Api) -> None:
    """One batch cannot use ProjectionExpression for one table and AttributesToGet for another."""
    older = {"Keys": [api.new_key("a")], "AttributesToGet": ["a"]}
    newer = {"Keys": [api.new_key()], "ProjectionExpression": "a"}
    refused(api, "BatchGetItem", RequestItems={api.table("hash"): newer, api.table("pair"): older})


@probe(rule=45, tier=3)
def constraints_of_a_batch_of_writes_come_first(api: Api) -> None:
    """The message names all violated constraints, and nothing is written."""
    table, key = api.table("hash"), api.new_key()
    put = [{"PutRequest": {"Item": key}}]
    one, two = "1 validation error detected: ", "2 validation errors detected: "
    capacity, metrics = {"ReturnConsumedCapacity": "BOGUS"}, {"ReturnItemCollectionMetrics": "BOGUS"}
    refused(api, "BatchWriteItem", RequestItems={table: put}, message=f"{one}{METRICS}", **metrics)
    message = f"{two}{CAPACITY}; {METRICS}"
    refused(api, "BatchWriteItem", RequestItems={table: put}, message=message, **capacity, **metrics)
    for name in (table, f"{api.prefix}nowhere", "bad!name"):
        refused(api, "BatchWriteItem", RequestItems={name: put}, message=f"{one}{CAPACITY}", **capacity)
    same(api.get("hash", key), None)


@probe(rule=45, tier=3)
def constraints_of_a_batch_of_gets_come_first(api: Api) -> None:
    """One of these constraints is the pattern of table names."""
    keys, capacity = {"Keys": [{"pk": s("a")}]}, {"ReturnConsumedCapacity": "BOGUS"}
    one = "1 validation error detected: "
    for name in (api.table("hash"), f"{api.prefix}nowhere"):
        refused(api, "BatchGetItem", RequestItems={name: keys}, message=f"{one}{CAPACITY}", **capacity)
    bad = {"bad!name": keys}
    refused(api, "BatchGetItem", RequestItems=bad, message=f"{one}{NAMED}")
    message = f"2 validation errors detected: {NAMED}; {CAPACITY}"
    refused(api, "BatchGetItem", RequestItems=bad, message=message, **capacity)


@probe(rule=45, tier=3)
def a_wrong_name_of_a_table_in_a_batch_of_writes_is_told_with_the_request(api: Api) -> None:
    """The message shows the request in the notation of AWS's own classes."""
    shown = r"\{bad!name=\[WriteRequest\(putRequest=PutRequest\(item=\{pk=.+\}.*\)\]\}"
    pattern = f"^1 validation error detected: Value '{shown}' at "
    writes = [{"PutRequest": {"Item": {"pk": s("x")}}}]
    refusal = refused(api, "BatchWriteItem", RequestItems={"bad!name": writes}, pattern=pattern)
    same(refusal.message.endswith(f"at 'requestItems' {NAMES}"), True)


@probe(rule=45, tier=3, cases={each: (each,) for each in ("GetItem", "DeleteItem", "UpdateItem")})
def a_key_without_its_sort_part_does_not_match(api: Api, operation: str) -> None:
    """The message is the same as in a batch."""
    refused(api, operation, TableName=api.table("pair"), Key=api.new_key(), message=MISMATCH)
