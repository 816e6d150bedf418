"""Streams and TTL: records of changes, shards, and expiry."""

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, probe, refused, same
from tests.fidelity._attributes import Json, n
from tests.fidelity._shapes import shape


def _records(api: Api, table: str, count: int) -> list[Json]:
    """Return the records of all shards of a table's stream, once there are at least `count`."""
    arn = api("DescribeTable", TableName=table)["Table"]["LatestStreamArn"]

    def read() -> list[Json]:
        found: list[Json] = []
        for shard in api("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
            start = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
            iterator = api("GetShardIterator", **start)["ShardIterator"]
            found += api("GetRecords", ShardIterator=iterator)["Records"]
        return found

    return api.eventually(read, lambda records: len(records) >= count)


def _streamed(api: Api, view: str) -> str:
    stream = {"StreamEnabled": True, "StreamViewType": view}
    return api.new_table(**shape(("pk",), {"pk": "S"}, StreamSpecification=stream))


_VIEWS = {
    "NEW_AND_OLD_IMAGES": (["Keys", "NewImage"], ["Keys", "NewImage", "OldImage"], ["Keys", "OldImage"]),
    "NEW_IMAGE": (["Keys", "NewImage"], ["Keys", "NewImage"], ["Keys"]),
    "OLD_IMAGE": (["Keys"], ["Keys", "OldImage"], ["Keys", "OldImage"]),
    "KEYS_ONLY": (["Keys"], ["Keys"], ["Keys"]),
}


@probe(rule=41, tier=2, cases={view: (view, parts) for view, parts in _VIEWS.items()})
def a_record_has_the_images_of_the_view(api: Api, view: str, parts: tuple[list[str], ...]) -> None:
    """There is a record of an insertion, a modification and a removal."""
    table, key = _streamed(api, view), api.new_key()
    api("PutItem", TableName=table, Item=key)
    api("PutItem", TableName=table, Item={**key, "a": n(1)})
    api("DeleteItem", TableName=table, Key=key)
    records = _records(api, table, 3)
    same([record["eventName"] for record in records], ["INSERT", "MODIFY", "REMOVE"])
    images = [sorted({"Keys", "NewImage", "OldImage"} & set(record["dynamodb"])) for record in records]
    same(images, list(parts))
    same({record["dynamodb"]["StreamViewType"] for record in records}, {view})
    same({record["eventSource"] for record in records}, {"aws:dynamodb"})


@probe(rule=40, tier=2)
def a_write_that_changes_nothing_has_no_record(api: Api) -> None:
    """Such a write puts the same item, adds 0, or deletes or removes something that is missing."""
    table, key = _streamed(api, "NEW_AND_OLD_IMAGES"), api.new_key()
    item = {**key, "a": n(1), "m": {"M": {"x": n(1), "y": n(2)}}}
    api("PutItem", TableName=table, Item=item)
    api("PutItem", TableName=table, Item={**item, "m": {"M": {"y": n(2), "x": n("1.0")}}})
    update: dict[str, Any] = {"TableName": table, "Key": key}
    api("UpdateItem", UpdateExpression="ADD a :z", ExpressionAttributeValues={":z": n(0)}, **update)
    api("UpdateItem", UpdateExpression="REMOVE gap", **update)
    api("DeleteItem", TableName=table, Key=api.new_key())
    api("DeleteItem", TableName=table, Key=key)
    same([record["eventName"] for record in _records(api, table, 2)], ["INSERT", "REMOVE"])


@probe(rule=41, tier=2)
def a_stream_is_described_and_listed(api: Api) -> None:
    """The list of shards after the last one is empty."""
    table = api.table("streamed")
    described = api("DescribeTable", TableName=table)["Table"]
    arn = described["LatestStreamArn"]
    same(described["StreamSpecification"], {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    same([each["StreamArn"] for each in api("ListStreams", TableName=table)["Streams"]], [arn])
    stream = api("DescribeStream", StreamArn=arn)["StreamDescription"]
    same((stream["StreamStatus"], stream["TableName"]), ("ENABLED", table))
    last = stream["Shards"][-1]["ShardId"]
    after = api("DescribeStream", StreamArn=arn, ExclusiveStartShardId=last)["StreamDescription"]
    same(after["Shards"], [])


@probe(rule=42, tier=2)
def a_stream_that_is_disabled_is_closed(api: Api) -> None:
    """After the records there is no further iterator; enabled again, the stream has another ARN."""
    table = _streamed(api, "KEYS_ONLY")
    api("PutItem", TableName=table, Item=api.new_key())
    arn = api("DescribeTable", TableName=table)["Table"]["LatestStreamArn"]
    _records(api, table, 1)
    api("UpdateTable", TableName=table, StreamSpecification={"StreamEnabled": False})
    api.wait_until_active(table)
    stream = api("DescribeStream", StreamArn=arn)["StreamDescription"]
    same(stream["StreamStatus"], "DISABLED")
    start = {"StreamArn": arn, "ShardId": stream["Shards"][0]["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
    page = api("GetRecords", ShardIterator=api("GetShardIterator", **start)["ShardIterator"])
    same((len(page["Records"]), page.get("NextShardIterator")), (1, None))
    enabled = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    api("UpdateTable", TableName=table, StreamSpecification=enabled)
    same(api.wait_until_active(table)["LatestStreamArn"] != arn, True)
    refused(api, "UpdateTable", TableName=table, StreamSpecification=enabled)


@probe(rule=42, tier=2)
def a_stream_that_is_not_enabled_cannot_be_disabled(api: Api) -> None:
    """The update is refused."""
    refused(api, "UpdateTable", TableName=api.table("hash"), StreamSpecification={"StreamEnabled": False})


@probe(rule=43, tier=2)
def expiry_is_switched_on_and_described(api: Api) -> None:
    """Enabling TTL again is refused. An expired item can be read until it is deleted."""
    table = api.new_table(**shape(("pk",), {"pk": "S"}))
    same(api("DescribeTimeToLive", TableName=table)["TimeToLiveDescription"]["TimeToLiveStatus"], "DISABLED")
    wanted = {"Enabled": True, "AttributeName": "until"}
    response = api("UpdateTimeToLive", TableName=table, TimeToLiveSpecification=wanted)
    same(response["TimeToLiveSpecification"], wanted)

    def described() -> Json:
        found: Json = api("DescribeTimeToLive", TableName=table)["TimeToLiveDescription"]
        return found

    same(api.eventually(described, lambda found: found["TimeToLiveStatus"] == "ENABLED")["AttributeName"], "until")
    refused(api, "UpdateTimeToLive", TableName=table, TimeToLiveSpecification=wanted)
    item = {**api.new_key(), "until": n(1_700_000_000)}
    api("PutItem", TableName=table, Item=item)
    key = {"pk": item["pk"]}
    same(api("GetItem", TableName=table, Key=key, ConsistentRead=True).get("Item"), item)


@probe(rule=43, tier=2)
def expiry_needs_a_name_and_a_table(api: Api) -> None:
    """An empty name is refused, and a missing table is not found."""
    empty = {"Enabled": True, "AttributeName": ""}
    refused(api, "UpdateTimeToLive", TableName=api.table("hash"), TimeToLiveSpecification=empty)
    name, kind = f"{api.prefix}nowhere", "ResourceNotFoundException"
    wanted = {"Enabled": True, "AttributeName": "until"}
    refused(api, "UpdateTimeToLive", kind=kind, TableName=name, TimeToLiveSpecification=wanted)
    refused(api, "DescribeTimeToLive", kind=kind, TableName=name)
