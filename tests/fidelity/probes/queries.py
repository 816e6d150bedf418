"""Queries and scans: key conditions, pages, filters, parallel scans, and the parts of an item that a read returns."""

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, holds, probe, refused, same
from tests.fidelity._attributes import Json, n, s


def _filled(api: Api, count: int = 5) -> Json:
    partition = api.new_key()
    for number in range(count):
        api.put("pair", {**partition, "sk": s(f"s{number}"), "a": n(number), "even": {"BOOL": number % 2 == 0}})
    return partition


def _query(api: Api, partition: Json, condition: str = "pk = :p", **others: Any) -> Json:
    values = {":p": partition["pk"], **others.pop("values", {})}
    return api(
        "Query",
        TableName=api.table("pair"),
        KeyConditionExpression=condition,
        ExpressionAttributeValues=values,
        **others,
    )


def _sorts(response: Json) -> list[str]:
    return [item["sk"]["S"] for item in response["Items"]]


_RANGES: dict[str, tuple[str, Json, list[str]]] = {
    "all": ("pk = :p", {}, ["s0", "s1", "s2", "s3", "s4"]),
    "equal": ("pk = :p AND sk = :v", {":v": s("s2")}, ["s2"]),
    "less": ("pk = :p AND sk < :v", {":v": s("s2")}, ["s0", "s1"]),
    "at most": ("pk = :p AND sk <= :v", {":v": s("s2")}, ["s0", "s1", "s2"]),
    "more": ("pk = :p AND sk > :v", {":v": s("s2")}, ["s3", "s4"]),
    "at least": ("pk = :p AND sk >= :v", {":v": s("s2")}, ["s2", "s3", "s4"]),
    "between": ("pk = :p AND sk BETWEEN :v AND :w", {":v": s("s1"), ":w": s("s3")}, ["s1", "s2", "s3"]),
    "begins": ("pk = :p AND begins_with(sk, :v)", {":v": s("s4")}, ["s4"]),
    "sort key first": ("sk = :v AND pk = :p", {":v": s("s2")}, ["s2"]),
    "turned round": ("pk = :p AND :v < sk", {":v": s("s2")}, ["s3", "s4"]),
    "wrapped": ("(pk = :p) AND (sk > :v)", {":v": s("s3")}, ["s4"]),
    "wrapped as a whole": ("(pk = :p AND sk > :v)", {":v": s("s3")}, ["s4"]),
}


@probe(rule=31, cases=_RANGES)
def a_query_finds_a_range(api: Api, condition: str, values: Json, found: list[str]) -> None:
    """The items are in the order of the sort key."""
    same(_sorts(_query(api, _filled(api), condition, values=values)), found)


@probe(rule=31)
def a_query_may_go_backwards(api: Api) -> None:
    """The items are the same."""
    same(_sorts(_query(api, _filled(api), ScanIndexForward=False)), ["s4", "s3", "s2", "s1", "s0"])


_REFUSED: dict[str, tuple[str, Json]] = {
    "no partition key": ("sk = :v", {":v": s("x")}),
    "another attribute": ("pk = :p AND a = :v", {":v": s("x")}),
    "not equal": ("pk = :p AND sk <> :v", {":v": s("x")}),
    "or": ("pk = :p OR sk = :v", {":v": s("x")}),
    "contains": ("pk = :p AND contains(sk, :v)", {":v": s("x")}),
    "range of partitions": ("pk > :p AND sk = :v", {":v": s("x")}),
    "wrong type": ("pk = :p AND sk = :v", {":v": n(1)}),
    "empty": ("pk = :p AND sk = :v", {":v": s("")}),
    "two conditions on one": ("pk = :p AND sk > :v AND sk < :v", {":v": s("x")}),
    "double parentheses": ("((pk = :p)) AND sk = :v", {":v": s("x")}),
    "between reversed": ("pk = :p AND sk BETWEEN :v AND :w", {":v": s("b"), ":w": s("a")}),
}


@probe(13, 17, cases=_REFUSED)
def a_key_condition_that_cannot_be_is_refused(api: Api, condition: str, values: Json) -> None:
    """The condition is refused even if the partition has no items."""
    given = {":p": api.new_key()["pk"], **values}
    if ":p" not in condition:
        del given[":p"]
    refused(
        api,
        "Query",
        TableName=api.table("pair"),
        KeyConditionExpression=condition,
        ExpressionAttributeValues=given,
    )


@probe(rule=24)
def a_limit_counts_items_before_the_filter(api: Api) -> None:
    """A page may be empty and still have a last evaluated key."""
    partition = _filled(api)
    page = _query(api, partition, Limit=2, FilterExpression="a > :v", values={":v": n(3)})
    same((page["Items"], page["Count"], page["ScannedCount"]), ([], 0, 2))
    same(page["LastEvaluatedKey"], {**partition, "sk": s("s1")})


@probe(rule=24)
def pages_have_every_item_once(api: Api) -> None:
    """Each page starts after the last evaluated key of the previous page."""
    partition = _filled(api)
    found: list[str] = []
    start: dict[str, Any] = {}
    for _ in range(5):
        page = _query(api, partition, Limit=2, **start)
        found += _sorts(page)
        if "LastEvaluatedKey" not in page:
            break
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    same(found, ["s0", "s1", "s2", "s3", "s4"])


@probe(rule=24)
def a_count_has_no_items(api: Api) -> None:
    """The response has both Count and ScannedCount."""
    page = _query(api, _filled(api), Select="COUNT", FilterExpression="a > :v", values={":v": n(2)})
    same(("Items" in page, page["Count"], page["ScannedCount"]), (False, 2, 5))


_STARTS: dict[str, tuple[Json]] = {
    "another partition": ({"pk": s("other"), "sk": s("s1")},),
    "too few attributes": ({"pk": s("other")},),
    "too many attributes": ({"pk": s("x"), "sk": s("s1"), "a": n(1)},),
    "wrong type": ({"pk": s("x"), "sk": n(1)},),
    "empty": ({},),
}


@probe(rule=26, cases=_STARTS)
def a_start_key_that_is_not_of_the_query_is_refused(api: Api, start: Json) -> None:
    """The contents of the partition do not matter."""
    partition = _filled(api, 1)
    values = {":p": partition["pk"]}
    query: dict[str, Any] = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values}
    refused(api, "Query", TableName=api.table("pair"), ExclusiveStartKey=start, **query)


@probe(rule=26)
def a_start_key_outside_of_the_range_is_refused(api: Api) -> None:
    """The range is that of the sort key."""
    partition = _filled(api)
    refused(
        api,
        "Query",
        TableName=api.table("pair"),
        KeyConditionExpression="pk = :p AND sk < :v",
        ExpressionAttributeValues={":p": partition["pk"], ":v": s("s2")},
        ExclusiveStartKey={**partition, "sk": s("s4")},
    )


_OUTSIDE: dict[str, tuple[str, str, str]] = {
    "without a range": ("", "s1", "The provided starting key is outside query boundaries based on provided conditions"),
    "outside of the range": (" AND sk < :v", "s4", "The provided starting key does not match the range key predicate"),
    "in the range": (" AND sk < :v", "s1", "The query can return at most one row and cannot be restarted"),
}


@probe(rule=26, tier=3, cases=_OUTSIDE)
def a_start_key_of_another_partition_is_worded_by_the_range(api: Api, span: str, sort: str, message: str) -> None:
    """The range is checked before the partition."""
    values = {":p": api.new_key()["pk"]} | ({":v": s("s2")} if span else {})
    query: dict[str, Any] = {"KeyConditionExpression": f"pk = :p{span}", "ExpressionAttributeValues": values}
    start = {"pk": s("another"), "sk": s(sort)}
    refused(api, "Query", message=message, TableName=api.table("pair"), ExclusiveStartKey=start, **query)


_MISMATCH = "The provided key element does not match the schema"
_START = "The provided starting key is invalid"


@probe(rule=26, tier=3)
def a_wrong_start_key_is_worded_by_the_operation(api: Api) -> None:
    """A scan of a table adds what is wrong."""
    table, values = api.table("pair"), {":p": s("x")}
    query: dict[str, Any] = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values}
    few, wrong = {"pk": s("x")}, {"pk": s("x"), "sk": n(1)}
    refused(api, "Query", message=_START, TableName=table, ExclusiveStartKey=few, **query)
    refused(api, "Query", message=_MISMATCH, TableName=table, ExclusiveStartKey=wrong, **query)
    for start in (few, wrong):
        refused(api, "Scan", message=f"{_START}: {_MISMATCH}", TableName=table, ExclusiveStartKey=start)
    empty = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
    refused(api, "Scan", message=f"{_START}: {empty}", TableName=table, ExclusiveStartKey={"pk": {}})


@probe(rule=45, tier=3)
def a_condition_on_the_sort_key_alone_misses_the_partition(api: Api) -> None:
    """A range of the partition key is not supported."""
    for name, message in (
        ("sk", "Query condition missed key schema element: pk"),
        ("pk", "Query key condition not supported"),
    ):
        values = {":v": s("a")}
        query: dict[str, Any] = {"KeyConditionExpression": f"{name} > :v", "ExpressionAttributeValues": values}
        refused(api, "Query", message=message, TableName=api.table("pair"), **query)


@probe(rule=26, tier=3)
def a_start_key_in_a_table_without_a_sort_key_is_refused(api: Api) -> None:
    """No item can follow the only item of a partition."""
    key = api.new_key()
    api.put("hash", key)
    query: dict[str, Any] = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": key["pk"]}}
    refused(api, "Query", TableName=api.table("hash"), ExclusiveStartKey=key, **query)


_SELECTS: dict[str, tuple[dict[str, Any]]] = {
    "all with a projection": ({"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "a"},),
    "count with a projection": ({"Select": "COUNT", "ProjectionExpression": "a"},),
    "projected without an index": ({"Select": "ALL_PROJECTED_ATTRIBUTES"},),
    "specific without a projection": ({"Select": "SPECIFIC_ATTRIBUTES"},),
    "unknown": ({"Select": "EVERYTHING"},),
    "limit of none": ({"Limit": 0},),
}


@probe(rule=24, cases=_SELECTS)
def a_selection_that_cannot_be_is_refused(api: Api, given: dict[str, Any]) -> None:
    """Queries and scans refuse the same selections."""
    table = api.table("pair")
    query: dict[str, Any] = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": s("x")}}
    refused(api, "Query", TableName=table, **query, **given)
    refused(api, "Scan", TableName=table, **given)


def _scanned(api: Api, table: str, **others: Any) -> list[str]:
    found: list[str] = []
    start: dict[str, Any] = {}
    while True:
        page = api("Scan", TableName=table, **start, **others)
        found += [item["pk"]["S"] for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            return found
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def _scattered(api: Api, count: int) -> list[str]:
    """Put items with sorted partition keys into a separate table; return the keys."""
    names = [f"p{number:02}" for number in range(count)]
    table = api.table("scanned")
    for first in range(0, count, 25):
        writes = [{"PutRequest": {"Item": {"pk": s(name)}}} for name in names[first : first + 25]]
        api("BatchWriteItem", RequestItems={table: writes})
    return names


@probe(rule=46, tier=2)
def a_scan_is_not_in_the_order_of_partition_keys(api: Api) -> None:
    """The order is not that of the writes either, but the same each time."""
    names = _scattered(api, 40)
    found = _scanned(api, api.table("scanned"))
    same(sorted(found), names)
    holds(found not in (names, names[::-1]), "a scan returns partitions in the order of their keys")
    same(_scanned(api, api.table("scanned")), found)


@probe(rule=46)
def a_scan_in_pages_has_every_item_once(api: Api) -> None:
    """The order is that of a scan without pages."""
    names = _scattered(api, 40)
    found = _scanned(api, api.table("scanned"), Limit=7)
    same((sorted(found), found), (names, _scanned(api, api.table("scanned"))))


@probe(rule=46)
def segments_of_a_scan_have_every_item_once(api: Api) -> None:
    """Each segment is read in pages."""
    names = _scattered(api, 40)
    parts = [_scanned(api, api.table("scanned"), Segment=part, TotalSegments=4, Limit=3) for part in range(4)]
    same(sorted(name for part in parts for name in part), names)


_SEGMENTS: dict[str, tuple[dict[str, int]]] = {
    "segment alone": ({"Segment": 0},),
    "number alone": ({"TotalSegments": 2},),
    "beyond": ({"Segment": 2, "TotalSegments": 2},),
    "negative": ({"Segment": -1, "TotalSegments": 2},),
    "too many": ({"Segment": 0, "TotalSegments": 1_000_001},),
    "none": ({"Segment": 0, "TotalSegments": 0},),
}


@probe(rule=46, cases=_SEGMENTS)
def segments_that_cannot_be_are_refused(api: Api, given: dict[str, Any]) -> None:
    """One of both parameters is missing, or out of range."""
    refused(api, "Scan", TableName=api.table("pair"), **given)


@probe(rule=46)
def a_start_key_that_does_not_fit_the_table_is_refused_in_a_scan(api: Api) -> None:
    """The key has too few attributes, or wrong ones."""
    refused(api, "Scan", TableName=api.table("pair"), ExclusiveStartKey={"pk": s("x")})
    refused(api, "Scan", TableName=api.table("pair"), ExclusiveStartKey={"pk": s("x"), "no": s("x")})


ITEM: Json = {
    "a": n(1),
    "m": {"M": {"k": s("v"), "j": s("w")}},
    "l": {"L": [n(0), {"M": {"x": n(1), "y": n(2)}}, n(2)]},
}

_PARTS: dict[str, tuple[str, Json]] = {
    "attribute": ("a", {"a": n(1)}),
    "path": ("m.k", {"m": {"M": {"k": s("v")}}}),
    "two of one map": ("m.k, m.j", {"m": {"M": {"k": s("v"), "j": s("w")}}}),
    "elements in order": ("l[2], l[0]", {"l": {"L": [n(0), n(2)]}}),
    "two of one element": ("l[1].y, l[1].x", {"l": {"L": [{"M": {"x": n(1), "y": n(2)}}]}}),
    "element and below another": ("l[1].x, l[2]", {"l": {"L": [{"M": {"x": n(1)}}, n(2)]}}),
    "missing": ("a, gap, m.gap, l[9]", {"a": n(1)}),
    "nothing": ("gap", {}),
}


def _asked(api: Api, projection: str) -> tuple[dict[str, Any], Json]:
    key = api.new_key("a")
    api.put("pair", {**key, **ITEM})
    return {"TableName": api.table("pair"), "ProjectionExpression": projection}, key


@probe(rule=23, cases=_PARTS)
def a_get_returns_these_parts(api: Api, projection: str, found: Json) -> None:
    """The keys are not added, and lists are compacted."""
    shared, key = _asked(api, projection)
    same(api("GetItem", Key=key, **shared)["Item"], found)


@probe(rule=23, cases={name: case for name, case in _PARTS.items() if name != "nothing"})
def a_query_and_a_batch_return_these_parts(api: Api, projection: str, found: Json) -> None:
    """The parts are the same as those of a get."""
    shared, key = _asked(api, projection)
    condition = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": key["pk"]}}
    same(api("Query", **condition, **shared)["Items"], [found])
    table = shared["TableName"]
    batch = {table: {"Keys": [key], "ProjectionExpression": projection}}
    same(api("BatchGetItem", RequestItems=batch)["Responses"][table], [found])


@probe(rule=23)
def a_transaction_returns_no_item_where_no_path_matches(api: Api) -> None:
    """A get would return an empty item."""
    shared, key = _asked(api, "gap")
    response = api("TransactGetItems", TransactItems=[{"Get": {"Key": key, **shared}}])
    same(response["Responses"], [{}])


_CONFLICTS = ["a, a", "a, a.b", "a.b, a", "a, a.b.c", "l, l[0]", "l[0], l[0].x", "m.k, m[0]"]


@probe(rule=23, tier=3, cases={text: (text,) for text in _CONFLICTS})
def a_projection_with_overlapping_paths_is_refused(api: Api, projection: str) -> None:
    """The order of the paths does not matter."""
    refused(api, "GetItem", TableName=api.table("hash"), Key=api.new_key(), ProjectionExpression=projection)


@probe(rule=23, tier=3, cases={"two names": ("#a, #b",), "name and text": ("#a, x",), "below": ("#a, #b.c",)})
def paths_overlap_by_what_their_names_stand_for(api: Api, projection: str) -> None:
    """Placeholders are resolved first."""
    names = {"#a": "x", "#b": "x"} if "#b" in projection else {"#a": "x"}
    refused(
        api,
        "GetItem",
        TableName=api.table("hash"),
        Key=api.new_key(),
        ProjectionExpression=projection,
        ExpressionAttributeNames=names,
    )


_SCHEMA = "One or more parameter values were invalid: Condition parameter type does not match schema type"
_OPERAND = "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: "
_UNDEFINED = "An expression attribute value used in expression is not defined; attribute value: :gap"
_PREFIX = f"{_OPERAND}begins_with, operand type: N"
_KEYS: dict[str, tuple[str, Json, str]] = {
    "prefix of a number": ("pk = :p AND begins_with(sk, :v)", s("a"), _SCHEMA),
    "equal to a bool": ("pk = :p AND sk = :v", {"BOOL": True}, _SCHEMA),
    "prefix that is a bool": (
        "pk = :p AND begins_with(sk, :v)",
        {"BOOL": True},
        f"{_OPERAND}begins_with, operand type: BOOL",
    ),
    "two for one": (
        "pk = :p AND sk > :v AND sk < :v",
        n(1),
        "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
    ),
    "three attributes": (
        "pk = :p AND sk > :v AND extra = :v",
        n(1),
        "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
    ),
    "undefined, then operand": ("pk = :gap AND begins_with(sk, :v)", n(1), _UNDEFINED),
    "operand, then undefined": ("begins_with(sk, :v) AND pk = :gap", n(1), _PREFIX),
    "operand between": ("pk = :p AND begins_with(sk, :v) AND sk = :gap", n(1), _PREFIX),
    "operand, then a third": ("pk = :p AND begins_with(sk, :v) AND sk > :v", n(1), _PREFIX),
}


@probe(13, 45, tier=3, cases=_KEYS)
def the_first_mistake_of_a_key_condition_is_told(api: Api, condition: str, value: Json, message: str) -> None:
    """Operands are checked from left to right, and only then key types and the number of conditions."""
    values = {name: given for name, given in {":p": s("q"), ":v": value}.items() if name in condition}
    given: dict[str, Any] = {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}
    found = refused(api, "Query", TableName=api.table("numbers"), **given)
    holds(found.message.endswith(message), f"expected {message}, found {found.message}")


@probe(rule=45, tier=3)
def constraints_of_a_query_are_told_by_name(api: Api) -> None:
    """The constraints are checked before the existence of the table."""
    given: dict[str, Any] = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": s("x")}}
    table = api.table("hash")
    refused(api, "Query", TableName="abc!", Select="BOGUS", pattern="validation error", **given)
    refused(api, "Query", TableName=table, Limit=0, pattern="Limit", **given)
    bogus = {"ReturnConsumedCapacity": "BOGUS", "Select": "BOGUS"}
    refused(api, "Query", TableName=table, pattern="returnConsumedCapacity", **bogus, **given)
