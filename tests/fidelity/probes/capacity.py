"""Consumed capacity: what AWS would charge for a call."""

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, probe, refused, same
from tests.fidelity._attributes import Json, filled, n, s


def _total(api: Api, operation: str, **parameters: Any) -> float:
    units: float = api(operation, ReturnConsumedCapacity="TOTAL", **parameters)["ConsumedCapacity"]["CapacityUnits"]
    return units


@probe(rule=32, cases={"small": (100, 0.5), "4 KB": (4096, 0.5), "one more": (4097, 1.0), "9 KB": (9000, 1.5)})
def a_read_is_charged_in_units_of_4_kb(api: Api, size: int, units: float) -> None:
    """An eventually consistent read costs half as much."""
    key = api.new_key()
    api.put("hash", filled(key, size))
    table = api.table("hash")
    same(_total(api, "GetItem", TableName=table, Key=key), units)
    same(_total(api, "GetItem", TableName=table, Key=key, ConsistentRead=True), 2 * units)


@probe(rule=32)
def a_missing_item_costs_the_minimum(api: Api) -> None:
    """A get costs half a unit, a delete one."""
    table = api.table("hash")
    same(_total(api, "GetItem", TableName=table, Key=api.new_key()), 0.5)
    same(_total(api, "DeleteItem", TableName=table, Key=api.new_key()), 1.0)


@probe(rule=32, cases={"small": (100, 1.0), "1 KB": (1024, 1.0), "one more": (1025, 2.0), "3 KB": (3000, 3.0)})
def a_write_is_charged_in_units_of_1_kb(api: Api, size: int, units: float) -> None:
    """The size of the whole item counts."""
    same(_total(api, "PutItem", TableName=api.table("hash"), Item=filled(api.new_key(), size)), units)


@probe(rule=32)
def a_write_is_charged_by_the_larger_of_both_items(api: Api) -> None:
    """The two items are the old and the new one."""
    table, key = api.table("hash"), api.new_key()
    api.put("hash", filled(key, 3000))
    same(_total(api, "PutItem", TableName=table, Item=key), 3.0)
    api.put("hash", filled(key, 3000))
    same(_total(api, "DeleteItem", TableName=table, Key=key), 3.0)


@probe(24, 32)
def filter_and_projection_do_not_make_a_query_cheaper(api: Api) -> None:
    """The query is charged for all items that it reads, and the sum of their sizes is rounded once."""
    partition = api.new_key()
    for sort in "abc":
        api.put("pair", filled({**partition, "sk": s(sort)}, 3000))
    values = {":p": partition["pk"]}
    query = {"TableName": api.table("pair"), "KeyConditionExpression": "pk = :p"}
    same(_total(api, "Query", ExpressionAttributeValues=values, **query), 1.5)
    same(_total(api, "Query", ExpressionAttributeValues=values, ProjectionExpression="sk", **query), 1.5)
    filtered = {**values, ":v": s("none")}
    same(_total(api, "Query", ExpressionAttributeValues=filtered, FilterExpression="f = :v", **query), 1.5)
    same(_total(api, "Query", ExpressionAttributeValues=values, Select="COUNT", **query), 1.5)


def _indexed(api: Api, **others: Json) -> Json:
    key = api.new_key("a")
    return {**key, **others}


def _parts(api: Api, operation: str, **parameters: Any) -> tuple[float, Json, Json]:
    used = api(operation, TableName=api.table("indexed"), ReturnConsumedCapacity="INDEXES", **parameters)
    capacity = used["ConsumedCapacity"]
    parts = [
        {name: units["CapacityUnits"] for name, units in capacity.get(kind, {}).items()}
        for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
    ]
    same(
        capacity["CapacityUnits"], sum(parts[0].values()) + sum(parts[1].values()) + capacity["Table"]["CapacityUnits"]
    )
    return capacity["Table"]["CapacityUnits"], parts[0], parts[1]


@probe(rule=33)
def an_item_that_is_in_an_index_is_charged_there(api: Api) -> None:
    """Each entry added or deleted costs one unit; an index that the item is not in costs nothing."""
    item = _indexed(api, g=s("x"), l=s("x"))
    same(_parts(api, "PutItem", Item=item), (1.0, {"all": 1.0}, {"local": 1.0}))
    same(_parts(api, "PutItem", Item=item), (1.0, {}, {}))
    key = {name: item[name] for name in ("pk", "sk")}
    same(_parts(api, "DeleteItem", Key=key), (1.0, {"all": 1.0}, {"local": 1.0}))


_LADDER: dict[str, tuple[str, Json, dict[str, float]]] = {
    "key": ("SET g = :v", {":v": s("y")}, {"all": 2.0}),
    "key removed": ("REMOVE g", {}, {"all": 1.0}),
    "projected": ("SET a = :v", {":v": s("y")}, {"all": 1.0}),
}


@probe(rule=33, cases=_LADDER)
def a_change_is_charged_by_what_changes_in_the_index(api: Api, expression: str, values: Json, units: Json) -> None:
    """A changed index key costs a deletion and an addition."""
    item = _indexed(api, g=s("x"), a=s("x"))
    api.put("indexed", item)
    update: dict[str, Any] = {"UpdateExpression": expression}
    if values:
        update["ExpressionAttributeValues"] = values
    same(_parts(api, "UpdateItem", Key={name: item[name] for name in ("pk", "sk")}, **update), (1.0, units, {}))


@probe(rule=33)
def a_change_of_what_is_not_projected_costs_nothing_in_the_index(api: Api) -> None:
    """Only the table is charged."""
    item = _indexed(api, n=n(1), a=s("x"))
    api.put("indexed", item)
    update = {"UpdateExpression": "SET a = :v", "ExpressionAttributeValues": {":v": s("y")}}
    same(_parts(api, "UpdateItem", Key={name: item[name] for name in ("pk", "sk")}, **update), (1.0, {}, {}))


@probe(rule=34, tier=2)
def a_transaction_doubles_what_the_table_costs(api: Api) -> None:
    """The cost of the indexes is not doubled."""
    put = {"Put": {"TableName": api.table("indexed"), "Item": _indexed(api, g=s("x"))}}
    response = api("TransactWriteItems", TransactItems=[put], ReturnConsumedCapacity="INDEXES")
    used = response["ConsumedCapacity"][0]
    found = used["Table"]["WriteCapacityUnits"], used["GlobalSecondaryIndexes"]["all"]["WriteCapacityUnits"]
    same((*found, used["CapacityUnits"]), (2.0, 1.0, 3.0))


@probe(rule=34, tier=2)
def a_condition_check_costs_two(api: Api) -> None:
    """The check is charged in write units."""
    check = {"TableName": api.table("hash"), "Key": api.new_key(), "ConditionExpression": "attribute_not_exists(pk)"}
    response = api("TransactWriteItems", TransactItems=[{"ConditionCheck": check}], ReturnConsumedCapacity="TOTAL")
    used = response["ConsumedCapacity"][0]
    same((used["CapacityUnits"], used.get("WriteCapacityUnits")), (2.0, 2.0))


@probe(34, 38, tier=2)
def a_replay_is_charged_as_reads(api: Api) -> None:
    """The first call is charged as writes."""
    put = {"Put": {"TableName": api.table("hash"), "Item": api.new_key()}}
    token = api.new_token()
    given = {"TransactItems": [put], "ClientRequestToken": token, "ReturnConsumedCapacity": "TOTAL"}
    first = api("TransactWriteItems", **given)["ConsumedCapacity"][0]
    again = api("TransactWriteItems", **given)["ConsumedCapacity"][0]
    same((first.get("WriteCapacityUnits"), first.get("ReadCapacityUnits")), (2.0, None))
    same((again.get("WriteCapacityUnits"), again.get("ReadCapacityUnits")), (None, 2.0))


@probe(rule=34, tier=2)
def a_transactional_get_costs_two(api: Api) -> None:
    """Two units are the price of each 4 KB, and of a missing item."""
    get = {"Get": {"TableName": api.table("hash"), "Key": api.new_key()}}
    response = api("TransactGetItems", TransactItems=[get], ReturnConsumedCapacity="TOTAL")
    same(response["ConsumedCapacity"][0]["CapacityUnits"], 2.0)


@probe(rule=34)
def a_failed_condition_reports_no_capacity(api: Api) -> None:
    """AWS charges for the write nevertheless."""
    refusal = refused(
        api,
        "PutItem",
        kind="ConditionalCheckFailedException",
        TableName=api.table("hash"),
        Item=api.new_key(),
        ConditionExpression="attribute_exists(pk)",
        ReturnConsumedCapacity="TOTAL",
    )
    same("ConsumedCapacity" in refusal.body, False)


@probe(rule=32)
def the_capacity_of_one_item_is_not_split(api: Api) -> None:
    """Only transactions report reads and writes separately; NONE reports nothing."""
    table, key = api.table("hash"), api.new_key()
    used = api("PutItem", TableName=table, Item=key, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    same(used, {"TableName": table, "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}})
    same("ConsumedCapacity" in api("PutItem", TableName=table, Item=key, ReturnConsumedCapacity="NONE"), False)


@probe(rule=32, cases={"put": ("PutItem", "Item"), "delete": ("DeleteItem", "Key")})
def a_write_tells_the_size_of_its_item_collection(api: Api, operation: str, part: str) -> None:
    """If asked, a table with local indexes reports a range of whole gigabytes."""
    key, table = api.new_key("a"), api.table("indexed")
    given: dict[str, Any] = {"TableName": table, part: key}
    metrics = api(operation, ReturnItemCollectionMetrics="SIZE", **given)["ItemCollectionMetrics"]
    same(metrics["ItemCollectionKey"], {"pk": key["pk"]})
    same(metrics["SizeEstimateRangeGB"], [0, 1])
    same("ItemCollectionMetrics" in api(operation, ReturnItemCollectionMetrics="NONE", **given), False)
