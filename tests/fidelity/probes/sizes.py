"""Sizes and limits: items, keys, names, expressions, batches."""

from __future__ import annotations

from tests.fidelity import Api, probe, refused, same
from tests.fidelity._attributes import Json, filled, n, nested, s

LARGEST = 409_600


@probe(rule=5, tier=3)
def an_item_of_409600_bytes_is_accepted(api: Api) -> None:
    """The size includes names and values."""
    api.put("hash", filled(api.new_key(), LARGEST))


@probe(rule=5, tier=3)
def an_item_of_409601_bytes_is_refused(api: Api) -> None:
    """The item has one byte too many."""
    message = "Item size has exceeded the maximum allowed size"
    item = filled(api.new_key(), LARGEST + 1)
    refused(api, "PutItem", pattern=message, TableName=api.table("hash"), Item=item)


@probe(rule=5, tier=3)
def an_update_counts_by_itself(api: Api) -> None:
    """In most regions, the size of the update counts even if the resulting item is smaller."""
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
    """An item with the number fits exactly into the limit, and one more byte is refused."""
    key = api.new_key()
    room = 1 + size  # the size of the name and of the number
    fits = filled(key, LARGEST - room)
    api("PutItem", TableName=api.table("hash"), Item={**fits, "n": n(number)})
    too_large = {**fits, "f": s(fits["f"]["S"] + "x"), "n": n(number)}
    refused(api, "PutItem", TableName=api.table("hash"), Item=too_large)


@probe(rule=6, tier=3)
def a_partition_key_may_have_2048_bytes(api: Api) -> None:
    """One more byte is refused, in writes and in reads."""
    table = api.table("hash")
    key = {"pk": s((api.new_key()["pk"]["S"] + "x" * 2048)[:2048])}
    api("PutItem", TableName=table, Item=key)
    longer = {"pk": s(key["pk"]["S"] + "x")}
    refused(api, "PutItem", TableName=table, Item=longer)
    refused(api, "GetItem", TableName=table, Key=longer)


@probe(rule=6, tier=3)
def a_sort_key_may_have_1024_bytes(api: Api) -> None:
    """One more byte is refused."""
    partition = api.new_key()
    api.put("pair", {**partition, "sk": s("x" * 1024)})
    refused(api, "PutItem", TableName=api.table("pair"), Item={**partition, "sk": s("x" * 1025)})


@probe(rule=6, tier=3)
def an_index_key_has_the_limits_of_a_key(api: Api) -> None:
    """The limits are checked when the item is written."""
    item = {**api.new_key("a"), "g": s("x" * 2049)}
    refused(api, "PutItem", TableName=api.table("indexed"), Item=item)


@probe(rule=6, tier=3)
def an_empty_name_of_an_attribute_is_refused(api: Api) -> None:
    """The attribute is one of an item."""
    refused(api, "PutItem", TableName=api.table("hash"), Item={**api.new_key(), "": s("a")})


def _long_condition(size: int) -> str:
    start = "attribute_not_exists(a"
    return start + "a" * (size - len(start) - 1) + ")"


@probe(rule=7, tier=3)
def an_expression_may_have_4096_bytes(api: Api) -> None:
    """One more byte is refused."""
    table, item = api.table("hash"), api.new_key()
    api("PutItem", TableName=table, Item=item, ConditionExpression=_long_condition(4096))
    pattern = "Expression size has exceeded the maximum allowed size"
    refused(api, "PutItem", pattern=pattern, TableName=table, Item=item, ConditionExpression=_long_condition(4097))


@probe(rule=7, tier=3)
def the_size_of_an_expression_is_counted_before_names_are_substituted(api: Api) -> None:
    """A long name behind a short placeholder does not count."""
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
    """A path with 33 parts is refused."""
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
    """The endpoint still responds afterwards."""
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
def a_page_ends_with_the_item_that_reaches_one_megabyte(api: Api) -> None:
    """The third of four items of 390 KB is the last one of a page; a limit may end a page earlier."""
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
    same([item["sk"]["S"] for item in first["Items"]], list("abc"))
    same([item["sk"]["S"] for item in rest["Items"]], ["d"])
    same(len(api("Query", Limit=1, **query)["Items"]), 1)


@probe(rule=8, tier=3, cases={"short": ("ab",), "long": ("a" * 256,), "a space": ("a b c",), "a letter": ("tablé",)})
def a_table_must_have_a_valid_name(api: Api, name: str) -> None:
    """A valid name has 3 to 255 letters, digits, `_`, `.` and `-`."""
    refused(
        api,
        "CreateTable",
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
    )


def _long_update(size: int) -> Json:
    start = "SET a"
    name = "a" * (size - len(start) - len(" = :v"))
    return {"UpdateExpression": f"{start}{name} = :v", "ExpressionAttributeValues": {":v": s("x")}}


def _long_filter(size: int) -> Json:
    return {"FilterExpression": _long_condition(size)}


def _long_call(api: Api, place: str, size: int) -> tuple[str, Json]:
    table, key = api.table("hash"), api.new_key()
    query: Json = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": key["pk"]}}
    calls: dict[str, tuple[str, Json]] = {
        "update": ("UpdateItem", {"Key": key, **_long_update(size)}),
        "filter of a query": ("Query", {**query, **_long_filter(size)}),
        "filter of a scan": ("Scan", {**_long_filter(size), "Limit": 1}),
        "projection": ("GetItem", {"Key": key, "ProjectionExpression": "a" * size}),
        "condition of a transaction": (
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Put": {"TableName": table, "Item": key, "ConditionExpression": _long_condition(size)}}
                ]
            },
        ),
        "update of a transaction": (
            "TransactWriteItems",
            {"TransactItems": [{"Update": {"TableName": table, "Key": key, **_long_update(size)}}]},
        ),
    }
    operation, given = calls[place]
    return operation, given if operation.startswith("Transact") else {"TableName": table, **given}


_PLACES = (
    "update",
    "filter of a query",
    "filter of a scan",
    "projection",
    "condition of a transaction",
    "update of a transaction",
)


@probe(rule=7, tier=3, cases={place: (place,) for place in _PLACES})
def an_expression_may_have_4096_bytes_everywhere(api: Api, place: str) -> None:
    """One more byte is refused."""
    operation, given = _long_call(api, place, 4096)
    api(operation, **given)
    operation, given = _long_call(api, place, 4097)
    refused(api, operation, pattern="Expression size has exceeded the maximum allowed size", **given)


@probe(rule=7, tier=3, cases={"BatchWriteItem": (False,), "TransactWriteItems": (True,)})
def values_are_nested_as_deep_in_several_writes(api: Api, transacted: bool) -> None:  # noqa: FBT001 - a case
    """31 lists around a string are accepted, and 32 are refused."""
    table = api.table("hash")

    def call(item: Json) -> tuple[str, Json]:
        if transacted:
            return "TransactWriteItems", {"TransactItems": [{"Put": {"TableName": table, "Item": item}}]}
        return "BatchWriteItem", {"RequestItems": {table: [{"PutRequest": {"Item": item}}]}}

    item = {**api.new_key(), "a": nested(31)}
    operation, given = call(item)
    api(operation, **given)
    same(api.get("hash", {"pk": item["pk"]}), item)
    operation, given = call({**api.new_key(), "a": nested(32)})
    refused(api, operation, pattern="nested levels beyond supported limit", **given)


@probe(rule=7, tier=3)
def the_value_of_a_condition_is_nested_as_deep(api: Api) -> None:
    """A value with 31 lists around a string is compared."""
    condition: Json = {"ConditionExpression": "d = :v", "ExpressionAttributeValues": {":v": nested(31)}}
    kind = "ConditionalCheckFailedException"
    refused(api, "DeleteItem", kind=kind, TableName=api.table("hash"), Key=api.new_key(), **condition)


TOO_LARGE = "Item size has exceeded the maximum allowed size"
UPDATED_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"


def _written(api: Api, surface: str, item: Json) -> tuple[str, Json]:
    """Return the call that writes an item in this way; for the statement UPDATE, put an item with its key first."""
    table, key = api.table("hash"), {"pk": item["pk"]}
    update = {"UpdateExpression": "SET f = :f", "ExpressionAttributeValues": {":f": item["f"]}}
    changes = {"f": {"Action": "PUT", "Value": item["f"]}}
    if surface == "UPDATE":
        api("PutItem", TableName=table, Item=key)
    calls: dict[str, tuple[str, Json]] = {
        "BatchWriteItem": ("BatchWriteItem", {"RequestItems": {table: [{"PutRequest": {"Item": item}}]}}),
        "INSERT": (
            "ExecuteStatement",
            {"Statement": f"INSERT INTO \"{table}\" VALUE {{'pk': ?, 'f': ?}}", "Parameters": [item["pk"], item["f"]]},
        ),
        "UPDATE": (
            "ExecuteStatement",
            {
                "Statement": f'UPDATE "{table}" SET f = ? WHERE pk = ?',  # noqa: S608 - no user input
                "Parameters": [item["f"], item["pk"]],
            },
        ),
        "Put": ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": table, "Item": item}}]}),
        "Update": ("TransactWriteItems", {"TransactItems": [{"Update": {"TableName": table, "Key": key, **update}}]}),
        "AttributeUpdates": ("UpdateItem", {"TableName": table, "Key": key, "AttributeUpdates": changes}),
    }
    return calls[surface]


_SURFACES: dict[str, tuple[str, str]] = {
    "BatchWriteItem": ("BatchWriteItem", TOO_LARGE),
    "INSERT": ("INSERT", TOO_LARGE),
    "UPDATE": ("UPDATE", UPDATED_TOO_LARGE),
    "Put": ("Put", TOO_LARGE),
    "Update": ("Update", UPDATED_TOO_LARGE),
    "AttributeUpdates": ("AttributeUpdates", UPDATED_TOO_LARGE),
}


@probe(rule=5, tier=3, cases=_SURFACES)
def an_item_has_at_most_409600_bytes_however_it_is_written(api: Api, surface: str, message: str) -> None:
    """An update that is too large cancels the transaction; a put refuses the whole request."""
    operation, given = _written(api, surface, filled(api.new_key(), LARGEST))
    api(operation, **given)
    operation, given = _written(api, surface, filled(api.new_key(), LARGEST + 1))
    if surface != "Update":
        refused(api, operation, pattern=message, **given)
        return
    refusal = refused(api, operation, kind="TransactionCanceledException", **given)
    reason = refusal.body["CancellationReasons"][0]
    same((reason["Code"], reason["Message"]), ("ValidationError", message))


_TEN = s("y" * 10)
_CHARGES: dict[str, tuple[str, Json, Json, int]] = {
    "one change": ("", {}, {}, 0),
    "two changes": ("SET c = :c", {}, {":c": s("y")}, 19 + 1 + 1),
    "a removal": ("REMOVE r", {"r": s("z")}, {}, 1 + 1),
    "a removal below": ("REMOVE m.yy", {"m": {"M": {"yy": s("r")}}}, {}, 1 + 1 + 4 + 2),
    "a removal of an element": ("REMOVE l[1]", {"l": {"L": [s("e"), s("e")]}}, {}, 1 + 1 + 4 + 1),
    "a copy": ("SET c = big", {"big": _TEN}, {}, 19 + 1 + 1 + 14 + 3),
    "a copy from below": ("SET c = m.z", {"m": {"M": {"z": _TEN}}}, {}, 19 + 1 + 1 + 15 + 15),
    "an append": ("SET l = list_append(l, :c)", {"l": {"L": []}}, {":c": {"L": [_TEN]}}, 19 + 1 + 37 + 16 + 14),
    "a default": ("SET c = if_not_exists(c, :c)", {"c": _TEN}, {":c": s("v")}, 19 + 1 + 39 + 16 + 1),
    "a document": ("SET c = if_not_exists(c, :c)", {"c": n(1)}, {":c": {"M": {"a": _TEN}}}, 19 + 1 + 39 + 16 + 15),
    "a sum": ("SET n = n + :c", {"n": n(1)}, {":c": n(1)}, 19 + 1 + 34 + 16 + 2),
    "a difference": ("SET n = n - :c", {"n": n(1)}, {":c": n(1)}, 19 + 1 + 37 + 16 + 2),
    "an addition": ("ADD nn :c", {"nn": n(1)}, {":c": n(1)}, 19 + 2 + 2),
    "a member": ("ADD ss :c", {"ss": {"SS": ["p"]}}, {":c": {"SS": ["s" * 50]}}, 19 + 2 + 50),
    "a member less": ("DELETE ss :c", {"ss": {"SS": ["p", "q" * 20]}}, {":c": {"SS": ["q" * 20]}}, 1 + 2),
}


@probe(rule=5, tier=3, cases=_CHARGES)
def an_update_counts_its_clauses(api: Api, clause: str, before: Json, values: Json, charge: int) -> None:
    """In most regions, the size is checked before the condition, which fails so that no large item is written."""
    start = "SET b = :b" + ("," + clause.removeprefix("SET") if clause.startswith("SET") else f" {clause}")
    room = LARGEST - 3 - 19 - 1 - charge
    key, condition = api.new_key(), "attribute_exists(never)"
    api.put("hash", {**key, **before})
    for size, kind in ((room, "ConditionalCheckFailedException"), (room + 1, "ValidationException")):
        given: Json = {"UpdateExpression": start.rstrip(), "ExpressionAttributeValues": {**values, ":b": s("x" * size)}}
        found = refused(
            api, "UpdateItem", kind=kind, TableName=api.table("hash"), Key=key, ConditionExpression=condition, **given
        )
    same(found.message, UPDATED_TOO_LARGE)


@probe(rule=5, tier=3)
def an_update_of_an_item_with_a_long_key_counts_the_item(api: Api) -> None:
    """The item is then larger than the update."""
    key = {"pk": s((api.new_key()["pk"]["S"] + "k" * 100)[:100])}
    for size in (LARGEST, LARGEST + 1):
        value = filled(key, size)["f"]
        given: Json = {"UpdateExpression": "SET f = :v", "ExpressionAttributeValues": {":v": value}, "Key": key}
        if size == LARGEST:
            api("UpdateItem", TableName=api.table("hash"), **given)
        else:
            refused(api, "UpdateItem", message=UPDATED_TOO_LARGE, TableName=api.table("hash"), **given)
