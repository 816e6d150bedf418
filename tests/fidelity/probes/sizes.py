"""Sizes and limits: items, keys, names, expressions, batches."""

from __future__ import annotations

from tests.fidelity import Api, probe, refused, same
from tests.fidelity._attributes import Json, filled, n, nested, s

LARGEST = 409_600


@probe(rule=5, tier=3)
def an_item_of_409600_bytes_is_accepted(api: Api) -> None:
    """Names and values count."""
    api.put("hash", filled(api.new_key(), LARGEST))


@probe(rule=5, tier=3)
def an_item_of_409601_bytes_is_refused(api: Api) -> None:
    """One byte too many."""
    message = "Item size has exceeded the maximum allowed size"
    item = filled(api.new_key(), LARGEST + 1)
    refused(api, "PutItem", pattern=message, TableName=api.table("hash"), Item=item)


@probe(rule=5, tier=3)
def an_update_counts_by_itself(api: Api) -> None:
    """Though the item that results is smaller; in most regions."""
    values = {":v": s("x" * LARGEST)}
    message = "Item size to update has exceeded the maximum allowed size"
    update: Json = {"UpdateExpression": "SET f = if_not_exists(f, :v)", "ExpressionAttributeValues": values}
    key = api.new_key()
    api.put("hash", {**key, "f": s("x")})
    refused(api, "UpdateItem", message=message, TableName=api.table("hash"), Key=key, **update)


_NUMBER_BYTES = {
    "0": ("0", 1),
    "1": ("1", 2),
    "12": ("12", 2),
    "123": ("123", 3),
    "-42": ("-42", 3),
    "100": ("100", 2),
    "1010": ("1010", 3),
    "1.2": ("1.2", 3),
    "1.234": ("1.234", 4),
    "0.15": ("0.15", 2),
    "100.5": ("100.5", 4),
    "3.14159": ("3.14159", 5),
    "0042": ("0042", 2),
    "1.200": ("1.200", 3),
    "1E125": ("1E125", 2),
    "38 digits": ("1234567890" * 3 + "12345678", 20),
}


@probe(rule=5, tier=3, cases=_NUMBER_BYTES)
def a_number_has_so_many_bytes(api: Api, number: str, size: int) -> None:
    """An update of a large item is refused exactly where the whole item would be too large."""
    key = api.new_key()
    room = 1 + size  # the name and the number
    fits = filled(key, LARGEST - room)
    api("PutItem", TableName=api.table("hash"), Item={**fits, "n": n(number)})
    too_large = {**fits, "f": s(fits["f"]["S"] + "x"), "n": n(number)}
    refused(api, "PutItem", TableName=api.table("hash"), Item=too_large)


@probe(rule=6, tier=3)
def a_partition_key_may_have_2048_bytes(api: Api) -> None:
    """And one more is refused, in writes and in reads."""
    table = api.table("hash")
    key = {"pk": s((api.new_key()["pk"]["S"] + "x" * 2048)[:2048])}
    api("PutItem", TableName=table, Item=key)
    longer = {"pk": s(key["pk"]["S"] + "x")}
    refused(api, "PutItem", TableName=table, Item=longer)
    refused(api, "GetItem", TableName=table, Key=longer)


@probe(rule=6, tier=3)
def a_sort_key_may_have_1024_bytes(api: Api) -> None:
    """And one more is refused."""
    partition = api.new_key()
    api.put("pair", {**partition, "sk": s("x" * 1024)})
    refused(api, "PutItem", TableName=api.table("pair"), Item={**partition, "sk": s("x" * 1025)})


@probe(rule=6, tier=3)
def an_index_key_has_the_limits_of_a_key(api: Api) -> None:
    """They are checked when the item is written."""
    item = {**api.new_key("a"), "g": s("x" * 2049)}
    refused(api, "PutItem", TableName=api.table("indexed"), Item=item)


@probe(rule=6, tier=3)
def an_empty_name_of_an_attribute_is_refused(api: Api) -> None:
    """In an item."""
    refused(api, "PutItem", TableName=api.table("hash"), Item={**api.new_key(), "": s("a")})


def _long_condition(size: int) -> str:
    start = "attribute_not_exists(a"
    return start + "a" * (size - len(start) - 1) + ")"


@probe(rule=7, tier=3)
def an_expression_may_have_4096_bytes(api: Api) -> None:
    """And one more is refused."""
    table, item = api.table("hash"), api.new_key()
    api("PutItem", TableName=table, Item=item, ConditionExpression=_long_condition(4096))
    pattern = "Expression size has exceeded the maximum allowed size"
    refused(api, "PutItem", pattern=pattern, TableName=table, Item=item, ConditionExpression=_long_condition(4097))


@probe(rule=7, tier=3)
def the_size_of_an_expression_is_counted_before_names_are_substituted(api: Api) -> None:
    """A long name behind a short placeholder is no matter."""
    api(
        "GetItem",
        TableName=api.table("hash"),
        Key=api.new_key(),
        ProjectionExpression="#n",
        ExpressionAttributeNames={"#n": "n" * 5000},
    )


@probe(rule=7, tier=3)
def an_expression_has_at_most_300_operators(api: Api) -> None:
    """One more is refused."""
    condition = " OR ".join(["a = b"] * 151)
    table, item = api.table("hash"), api.new_key()
    refused(api, "PutItem", TableName=table, Item=item, ConditionExpression=condition)


@probe(rule=7, tier=3)
def a_path_has_at_most_32_parts(api: Api) -> None:
    """The 33rd is refused."""
    table, key = api.table("hash"), api.new_key()
    api("GetItem", TableName=table, Key=key, ProjectionExpression=".".join(["a"] * 32))
    refused(api, "GetItem", TableName=table, Key=key, ProjectionExpression=".".join(["a"] * 33))


@probe(rule=7, tier=3)
def values_are_nested_at_most_32_levels_deep(api: Api) -> None:
    """31 lists around a string are accepted, and 32 are refused."""
    table = api.table("hash")
    api("PutItem", TableName=table, Item={**api.new_key(), "a": nested(31)})
    refused(api, "PutItem", TableName=table, Item={**api.new_key(), "a": nested(32)})


@probe(rule=7, tier=3)
def thousands_of_parentheses_are_refused_like_any_other_error(api: Api) -> None:
    """The endpoint goes on to respond."""
    table, key = api.table("hash"), api.new_key()
    condition = "(" * 2000 + "attribute_exists(a)" + ")" * 2000
    refused(api, "PutItem", TableName=table, Item=key, ConditionExpression=condition)
    same(api.get("hash", key), None)


@probe(rule=8, tier=3)
def a_batch_has_at_most_25_writes(api: Api) -> None:
    """One more is refused."""
    table = api.table("hash")
    writes = [{"PutRequest": {"Item": api.new_key()}} for _ in range(26)]
    api("BatchWriteItem", RequestItems={table: writes[:25]})
    refused(api, "BatchWriteItem", RequestItems={table: writes})


@probe(rule=8, tier=3)
def a_batch_has_at_most_100_gets(api: Api) -> None:
    """One more is refused."""
    table = api.table("hash")
    keys = [api.new_key() for _ in range(101)]
    api("BatchGetItem", RequestItems={table: {"Keys": keys[:100]}})
    refused(api, "BatchGetItem", RequestItems={table: {"Keys": keys}})


@probe(rule=8, tier=3)
def a_transaction_has_at_most_100_actions(api: Api) -> None:
    """One more is refused."""
    table = api.table("hash")
    gets = [{"Get": {"TableName": table, "Key": api.new_key()}} for _ in range(101)]
    same(len(api("TransactGetItems", TransactItems=gets[:100])["Responses"]), 100)
    refused(api, "TransactGetItems", TransactItems=gets)
    puts = [{"Put": {"TableName": table, "Item": api.new_key()}} for _ in range(101)]
    refused(api, "TransactWriteItems", TransactItems=puts)


@probe(rule=8, tier=3)
def a_page_has_at_most_one_megabyte(api: Api) -> None:
    """Four items of 390 KB are two pages; a limit may end a page earlier."""
    partition = api.new_key()
    for sort in "abcd":
        api.put("pair", filled({**partition, "sk": s(sort)}, 390_000))
    query = {
        "TableName": api.table("pair"),
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": partition["pk"]},
        "ProjectionExpression": "sk",
    }
    first = api("Query", **query)
    rest = api("Query", ExclusiveStartKey=first["LastEvaluatedKey"], **query)
    same([item["sk"]["S"] for item in first["Items"] + rest["Items"]], list("abcd"))
    same(len(api("Query", Limit=1, **query)["Items"]), 1)


@probe(rule=8, tier=3, cases={"short": ("ab",), "long": ("a" * 256,), "a space": ("a b c",), "a letter": ("tablé",)})
def a_table_must_have_a_valid_name(api: Api, name: str) -> None:
    """3 to 255 characters, of letters, digits, `_`, `.` and `-`."""
    refused(
        api,
        "CreateTable",
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
    )
