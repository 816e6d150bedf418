"""Secondary indexes: their contents, what they return, and how they are added."""

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, probe, refused, same
from tests.fidelity._attributes import Json, n, s
from tests.fidelity._shapes import shape


def _query(api: Api, index: str, condition: str, values: Json, **others: Any) -> Json:
    return api(
        "Query",
        TableName=api.table("indexed"),
        IndexName=index,
        KeyConditionExpression=condition,
        ExpressionAttributeValues=values,
        **others,
    )


def _group(api: Api, count: int) -> str:
    """Put items of one group into all indexes, three in each partition, with equal sort keys; return the group."""
    group = str(api.new_key()["pk"]["S"])
    for number in range(count):
        key = {"pk": s(f"{group}-{number // 3}"), "sk": s(f"s{number}")}
        item = {**key, "g": s(group), "h": s("same"), "l": s("same"), "keep": n(number), "rest": n(number)}
        api.put("indexed", item)
    api.eventually(
        lambda: _query(api, "all", "g = :g", {":g": s(group)}, Select="COUNT")["Count"], lambda found: found == count
    )
    return group


_KEYS = {"all": {"pk", "sk", "g"}, "some": {"pk", "sk", "g", "h"}}


@probe(rule=25, cases={"hash alone": ("all",), "hash and range": ("some",)})
def pages_of_an_index_have_every_entry_once(api: Api, index: str) -> None:
    """The index keys are equal; the last evaluated key has the keys of the index and of the table."""
    group = _group(api, 7)
    found: list[tuple[str, str]] = []
    start: dict[str, Any] = {}
    for _ in range(8):
        page = _query(api, index, "g = :g", {":g": s(group)}, Limit=2, **start)
        found += [(item["pk"]["S"], item["sk"]["S"]) for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            break
        same(set(page["LastEvaluatedKey"]), _KEYS[index])
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    same(sorted(found), [(f"{group}-{number // 3}", f"s{number}") for number in range(7)])


@probe(rule=25)
def pages_of_a_local_index_have_every_entry_once(api: Api) -> None:
    """The sort keys of the index are equal."""
    group = _group(api, 3)
    values = {":p": s(f"{group}-0")}
    found: list[str] = []
    start: dict[str, Any] = {}
    for _ in range(4):
        page = _query(api, "local", "pk = :p", values, Limit=1, ConsistentRead=True, **start)
        found += [item["sk"]["S"] for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            break
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    same(found, ["s0", "s1", "s2"])


@probe(rule=26)
def a_start_key_of_an_index_must_be_complete(api: Api) -> None:
    """The start key needs the keys of the index and of the table."""
    query: dict[str, Any] = {"KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": s("x")}}
    start = {"pk": s("x"), "sk": s("x")}
    refused(api, "Query", TableName=api.table("indexed"), IndexName="all", ExclusiveStartKey=start, **query)


@probe(rule=27)
def a_consistent_read_of_a_global_index_is_refused(api: Api) -> None:
    """Queries and scans return the same error."""
    query: dict[str, Any] = {"KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": s("x")}}
    shared: dict[str, Any] = {"TableName": api.table("indexed"), "IndexName": "all", "ConsistentRead": True}
    message = "Consistent reads are not supported on global secondary indexes"
    refused(api, "Query", message=message, **shared, **query)
    refused(api, "Scan", message=message, **shared)


@probe(rule=27)
def a_global_index_returns_what_it_projects(api: Api) -> None:
    """The items also have the keys of the index and of the table."""
    group = _group(api, 1)
    page = _query(api, "some", "g = :g", {":g": s(group)})
    same([set(item) for item in page["Items"]], [{"pk", "sk", "g", "h", "keep"}])


@probe(rule=27)
def all_attributes_of_a_global_index_that_has_not_all_is_refused(api: Api) -> None:
    """A global index never fetches attributes from the table."""
    query: dict[str, Any] = {"KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": s("x")}}
    shared: dict[str, Any] = {"TableName": api.table("indexed"), "IndexName": "some", "Select": "ALL_ATTRIBUTES"}
    refused(api, "Query", **shared, **query)
    refused(api, "Scan", **shared)


@probe(rule=27)
def a_projection_beyond_a_global_index_is_refused(api: Api) -> None:
    """A global index never fetches attributes from the table."""
    refused(
        api,
        "Query",
        TableName=api.table("indexed"),
        IndexName="some",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": s("x")},
        ProjectionExpression="rest",
    )


@probe(rule=27)
def a_local_index_fetches_what_it_does_not_project(api: Api) -> None:
    """A query fetches attributes by name, or all of them."""
    group = _group(api, 1)
    values = {":p": s(f"{group}-0")}
    named = _query(api, "local", "pk = :p", values, ProjectionExpression="rest")
    same(named["Items"], [{"rest": n(0)}])
    whole = _query(api, "local", "pk = :p", values, Select="ALL_ATTRIBUTES")
    same([set(item) for item in whole["Items"]], [{"pk", "sk", "g", "h", "l", "keep", "rest"}])
    same([set(item) for item in _query(api, "local", "pk = :p", values)["Items"]], [{"pk", "sk", "l"}])


@probe(rule=27)
def a_filter_beyond_an_index_is_refused_in_a_query(api: Api) -> None:
    """The index is a global one."""
    refused(
        api,
        "Query",
        TableName=api.table("indexed"),
        IndexName="some",
        KeyConditionExpression="g = :g",
        FilterExpression="rest = :g",
        ExpressionAttributeValues={":g": s("x")},
    )


@probe(rule=27)
def an_index_that_is_not_there_is_refused(api: Api) -> None:
    """Queries and scans return the same error."""
    query: dict[str, Any] = {"KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": s("x")}}
    pattern = "The table does not have the specified index"
    shared: dict[str, Any] = {"TableName": api.table("indexed"), "IndexName": "nowhere"}
    refused(api, "Query", pattern=pattern, **shared, **query)
    refused(api, "Scan", pattern=pattern, **shared)


_NEW = {
    "IndexName": "new",
    "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}
_DEFINED = [{"AttributeName": "k", "AttributeType": "S"}]


@probe(28, 29, tier=2)
def an_index_that_is_added_is_filled(api: Api) -> None:
    """Only items with a valid index key are added; the status is CREATING, with Backfilling, and then ACTIVE."""
    table = api.new_table(**shape(("pk",), {"pk": "S"}))
    items = [{"pk": s("a"), "k": s("x")}, {"pk": s("b"), "k": n(1)}, {"pk": s("c"), "k": s("")}, {"pk": s("d")}]
    items.append({"pk": s("e"), "k": s("x" * 2049)})
    for item in items:
        api("PutItem", TableName=table, Item=item)
    updates = [{"Create": _NEW}]
    response = api("UpdateTable", TableName=table, AttributeDefinitions=_DEFINED, GlobalSecondaryIndexUpdates=updates)
    index = response["TableDescription"]["GlobalSecondaryIndexes"][0]
    same((index["IndexStatus"], "Backfilling" in index), ("CREATING", True))
    described = api.wait_until_active(table)
    same(sorted(each["AttributeName"] for each in described["AttributeDefinitions"]), ["k", "pk"])
    same([item["pk"]["S"] for item in api("Scan", TableName=table, IndexName="new")["Items"]], ["a"])


@probe(rule=28, tier=2)
def one_call_adds_at_most_one_index(api: Api) -> None:
    """A call that adds two is refused."""
    table = api.table("hash")
    updates = [{"Create": _NEW}, {"Create": {**_NEW, "IndexName": "newer"}}]
    refused(
        api,
        "UpdateTable",
        kind="LimitExceededException",
        TableName=table,
        AttributeDefinitions=_DEFINED,
        GlobalSecondaryIndexUpdates=updates,
    )


@probe(rule=28, tier=2)
def an_index_that_is_not_there_cannot_be_deleted(api: Api) -> None:
    """The error type is ResourceNotFoundException."""
    updates = [{"Delete": {"IndexName": "nowhere"}}]
    refused(
        api,
        "UpdateTable",
        kind="ResourceNotFoundException",
        TableName=api.table("hash"),
        GlobalSecondaryIndexUpdates=updates,
    )


@probe(rule=29, cases={"not used": ({"x": "S"},), "not used, of a key": ({"sk": "S"},)})
def definitions_that_no_key_uses_are_refused(api: Api, types: dict[str, str]) -> None:
    """CreateTable checks the definitions."""
    definition = shape(("pk",), {"pk": "S", **types})
    refused(api, "CreateTable", TableName=api.new_name(), BillingMode="PAY_PER_REQUEST", **definition)


@probe(rule=29, tier=2)
def an_index_needs_its_keys_among_the_definitions_of_the_call(api: Api) -> None:
    """The call must repeat even definitions that the table has already."""
    index = {**_NEW, "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}
    refused(api, "UpdateTable", TableName=api.table("hash"), GlobalSecondaryIndexUpdates=[{"Create": index}])


_PROJECTIONS: dict[str, tuple[Json]] = {
    "include nothing": ({"ProjectionType": "INCLUDE"},),
    "all and names": ({"ProjectionType": "ALL", "NonKeyAttributes": ["a"]},),
    "keys and names": ({"ProjectionType": "KEYS_ONLY", "NonKeyAttributes": ["a"]},),
    "no type": ({},),
    "unknown": ({"ProjectionType": "SOME"},),
}


@probe(rule=29, cases=_PROJECTIONS)
def a_projection_that_cannot_be_is_refused(api: Api, projection: Json) -> None:
    """INCLUDE needs attribute names, and the other types do not take any."""
    definition = shape(("pk",), {"pk": "S", "k": "S"}, GlobalSecondaryIndexes=[{**_NEW, "Projection": projection}])
    refused(api, "CreateTable", TableName=api.new_name(), BillingMode="PAY_PER_REQUEST", **definition)


def _many_keys(api: Api) -> str:
    keys = [{"AttributeName": name, "KeyType": "HASH"} for name in ("a", "b")]
    keys += [{"AttributeName": name, "KeyType": "RANGE"} for name in ("c", "d")]
    index = {"IndexName": "many", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}
    types = {"pk": "S", "a": "S", "b": "S", "c": "S", "d": "N"}
    table = api.shared_table("many", shape(("pk",), types, GlobalSecondaryIndexes=[index]))
    for number in range(4):
        item = {"pk": s(f"p{number}"), "a": s("a"), "b": s("b"), "c": s(f"c{number // 2}"), "d": n(number)}
        api("PutItem", TableName=table, Item=item)
    return table


@probe(rule=30, tier=2)
def an_index_with_several_key_attributes_is_queried_from_left_to_right(api: Api) -> None:
    """All partition attributes need an equality; only the last given sort attribute may have a range."""
    table = _many_keys(api)
    values = {":a": s("a"), ":b": s("b"), ":c": s("c1"), ":d": n(2)}
    query: dict[str, Any] = {"TableName": table, "IndexName": "many"}

    def found(condition: str) -> list[str]:
        given = {name: value for name, value in values.items() if name in condition}
        page = api("Query", KeyConditionExpression=condition, ExpressionAttributeValues=given, **query)
        return [item["pk"]["S"] for item in page["Items"]]

    whole = api.eventually(lambda: found("a = :a AND b = :b"), lambda items: len(items) > 3)
    same(whole, ["p0", "p1", "p2", "p3"])
    same(found("a = :a AND b = :b AND c = :c"), ["p2", "p3"])
    same(found("a = :a AND b = :b AND c = :c AND d > :d"), ["p3"])


@probe(rule=30, tier=2, cases={"partition": ("a = :a",), "gap": ("a = :a AND b = :b AND d = :d",)})
def a_gap_in_the_keys_of_an_index_is_refused(api: Api, condition: str) -> None:
    """The gap is a missing partition attribute, or a missing sort attribute before the last."""
    values = {":a": s("a"), ":b": s("b"), ":d": n(1)}
    refused(
        api,
        "Query",
        TableName=_many_keys(api),
        IndexName="many",
        KeyConditionExpression=condition,
        ExpressionAttributeValues={name: value for name, value in values.items() if name in condition},
    )


_FIVE = {
    "p1": ("T", "live", "b", "r1"),
    "p2": ("T", "live", "a", "r2"),
    "p3": ("T", "live", "a", "r1"),
    "p4": ("T", "draft", "c", "r1"),
    "p5": ("F", "live", "a", "r0"),
}


def _five_keys(api: Api) -> dict[str, Any]:
    """Return the parameters of an index with one partition and four sort attributes; one item lacks the third."""
    names = ("h", "a", "b", "c", "d")
    keys = [{"AttributeName": name, "KeyType": "HASH" if name == "h" else "RANGE"} for name in names]
    index = {"IndexName": "five", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}
    types = {"pk": "S", **dict.fromkeys(names, "S")}
    table = api.shared_table("five", shape(("pk",), types, GlobalSecondaryIndexes=[index]))
    for pk, parts in _FIVE.items():
        item = {name: s(part) for name, part in zip(names, ("o", *parts), strict=True)}
        api("PutItem", TableName=table, Item={"pk": s(pk), **item})
    api("PutItem", TableName=table, Item={"pk": s("p6"), "h": s("o"), "a": s("T"), "b": s("live"), "d": s("r1")})
    given: dict[str, Any] = {"TableName": table, "IndexName": "five"}
    whole = {"KeyConditionExpression": "h = :h", "ExpressionAttributeValues": {":h": s("o")}}
    api.eventually(lambda: api("Query", **given, **whole)["Count"], lambda count: count >= len(_FIVE))
    return given


def _five_condition(condition: str) -> dict[str, Any]:
    texts = {":h": "o", ":a": "T", ":b": "live", ":c": "a", ":d": "r", ":x": "r1"}
    values = {name: s(text) for name, text in texts.items() if name in condition}
    return {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}


_LEFT_TO_RIGHT: dict[str, tuple[str, list[str]]] = {
    "partition": ("h = :h", ["p5", "p4", "p3", "p2", "p1"]),
    "one": ("h = :h AND a = :a", ["p4", "p3", "p2", "p1"]),
    "two": ("h = :h AND a = :a AND b = :b", ["p3", "p2", "p1"]),
    "three": ("h = :h AND a = :a AND b = :b AND c = :c", ["p3", "p2"]),
    "more than the third": ("h = :h AND a = :a AND b = :b AND c > :c", ["p1"]),
    "prefix of the fourth": ("h = :h AND a = :a AND b = :b AND c = :c AND begins_with(d, :d)", ["p3", "p2"]),
    "between of the fourth": ("h = :h AND a = :a AND b = :b AND c = :c AND d BETWEEN :x AND :x", ["p3"]),
    "less than the second": ("h = :h AND a = :a AND b < :b", ["p4"]),
    "in another order": ("b = :b AND h = :h AND a = :a", ["p3", "p2", "p1"]),
}


@probe(rule=30, cases=_LEFT_TO_RIGHT)
def an_index_with_four_sort_attributes_is_ordered_by_each(api: Api, condition: str, found: list[str]) -> None:
    """The order holds in both directions; an item that lacks one of the attributes is not in the index."""
    given = {**_five_keys(api), **_five_condition(condition)}
    same([item["pk"]["S"] for item in api("Query", **given)["Items"]], found)
    back = api("Query", ScanIndexForward=False, **given)
    same([item["pk"]["S"] for item in back["Items"]], found[::-1])


@probe(rule=30)
def a_page_of_an_index_with_four_sort_attributes_names_them_all(api: Api) -> None:
    """The last evaluated key has all of them."""
    page = api("Query", Limit=2, **_five_keys(api), **_five_condition("h = :h AND a = :a"))
    same(set(page["LastEvaluatedKey"]), {"pk", "h", "a", "b", "c", "d"})


_GAPS: dict[str, tuple[str, str, str]] = {
    "left out": ("h = :h AND a = :a AND c = :c", "b", "c"),
    "a range before the last": ("h = :h AND a = :a AND b > :b AND c = :c", "b", "c"),
    "the first left out": ("h = :h AND b = :b", "a", "b"),
}


@probe(rule=30, cases=_GAPS)
def a_sort_attribute_that_is_left_out_is_named(api: Api, condition: str, missing: str, present: str) -> None:
    """The message also names the attribute that has a condition."""
    pattern = (
        f"RANGE key attributes {missing} must have equality conditions specified in the query "
        f"because a condition is present on key attribute {present}"
    )
    refused(api, "Query", pattern=pattern, **_five_keys(api), **_five_condition(condition))


@probe(rule=10, tier=3)
def the_type_of_an_index_key_is_worded_by_what_is_assigned(api: Api) -> None:
    """The type of a literal is known before the item is read, that of another attribute only then."""
    key = {**api.new_key("a"), "sk": s("a")}
    api.put("indexed", {**key, "rest": n(1)})
    shared: dict[str, Any] = {"TableName": api.table("indexed"), "Key": key}
    literal: dict[str, Any] = {"UpdateExpression": "SET g = :v", "ExpressionAttributeValues": {":v": n(1)}}
    refused(api, "UpdateItem", pattern="Type mismatch for Index Key g Expected: S Actual: N", **shared, **literal)
    copied = "The update expression attempted to update the secondary index key to unsupported type"
    refused(api, "UpdateItem", pattern=copied, UpdateExpression="SET g = rest", **shared)


@probe(rule=10, tier=3)
def an_index_key_has_no_parts(api: Api) -> None:
    """Neither as the target of an update, nor as what it reads."""
    message = "list random access .* and map lookup .* are not allowed: IndexKey: g"
    for update in ("SET g.a = pk", "SET rest = g[1]"):
        given: dict[str, Any] = {"TableName": api.table("indexed"), "Key": api.new_key("a"), "UpdateExpression": update}
        refused(api, "UpdateItem", pattern=message, **given)
