"""Tables, their settings and their streams, as a client manages them."""

from __future__ import annotations

import pytest
from tests.wire.support import TASKS, Caller, Json, task

from partita import EmbeddedStore
from partita.errors import TableInUse, ValidationFailed
from partita.wire._faults import Fault

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tasks"
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}


DEFINED = TASKS["AttributeDefinitions"]


def index(*roles: str, names: tuple[str, ...] = ("status", "user", "task"), projected: list[str] | None = None) -> Json:
    projection: Json = {"ProjectionType": "ALL"}
    if projected is not None:
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": projected}
    return {
        "IndexName": "one",
        "KeySchema": [{"AttributeName": name, "KeyType": role} for name, role in zip(names, roles, strict=False)],
        "Projection": projection,
    }


def described(call: Caller) -> Json:
    table: Json = call("DescribeTable", TableName="tasks")["Table"]
    return table


@pytest.mark.rule(47)
def test_a_table_is_described_as_it_was_made(call: Caller) -> None:
    table = described(call)
    parts = ("TableName", "KeySchema", "AttributeDefinitions", "StreamSpecification")
    assert {part: table[part] for part in parts} == {part: TASKS[part] for part in parts}
    assert (table["TableStatus"], table["TableArn"]) == ("ACTIVE", ARN)
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert table["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"


def test_a_table_is_made_once(call: Caller) -> None:
    with pytest.raises(TableInUse):
        call("CreateTable", **TASKS)


def test_names_are_listed_page_by_page_without_our_own(call: Caller) -> None:
    call("CreateTable", **{**TASKS, "TableName": "other", "Tags": [{"Key": "a", "Value": "b"}]})
    first = call("ListTables", Limit=1)
    assert first == {"TableNames": ["other"], "LastEvaluatedTableName": "other"}
    assert call("ListTables", ExclusiveStartTableName="other") == {"TableNames": ["tasks"]}


@pytest.mark.rule(29)
def test_an_attribute_keeps_the_type_that_it_has_whatever_a_new_index_says(call: Caller) -> None:
    redefined = [{"AttributeName": "status", "AttributeType": "N"}, {"AttributeName": "unused", "AttributeType": "S"}]
    updates = [{"Create": index("HASH")}]
    call("UpdateTable", TableName="tasks", AttributeDefinitions=redefined, GlobalSecondaryIndexUpdates=updates)
    assert sorted(described(call)["AttributeDefinitions"], key=str) == sorted(DEFINED, key=str)


@pytest.mark.rule(28, 29)
def test_an_index_may_be_added_and_is_filled(call: Caller) -> None:
    call("PutItem", TableName="tasks", Item={**task("u", "1"), "n": {"N": "1"}})
    create = {
        "IndexName": "by_number",
        "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    response = call(
        "UpdateTable",
        TableName="tasks",
        AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
        GlobalSecondaryIndexUpdates=[{"Create": create}],
    )
    indexes = {index["IndexName"]: index for index in response["TableDescription"]["GlobalSecondaryIndexes"]}
    assert {name: index["IndexStatus"] for name, index in indexes.items()} == {
        "by_status": "ACTIVE",
        "by_number": "CREATING",
    }
    assert {name for name, index in indexes.items() if "Backfilling" in index} == {"by_number"}
    assert [index["IndexStatus"] for index in described(call)["GlobalSecondaryIndexes"]] == ["ACTIVE", "ACTIVE"]
    assert call("Scan", TableName="tasks", IndexName="by_number")["Count"] == 1
    call("UpdateTable", TableName="tasks", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by_number"}}])
    assert [index["IndexName"] for index in described(call)["GlobalSecondaryIndexes"]] == ["by_status"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "At least one of"),
        ({"GlobalSecondaryIndexUpdates": []}, "At least one of"),
        ({"GlobalSecondaryIndexUpdates": [{}]}, "must not be null"),
        ({"GlobalSecondaryIndexUpdates": [{"Create": index("HASH"), "Delete": {"IndexName": "a"}}]}, "Only one global"),
        ({"GlobalSecondaryIndexUpdates": [{"Create": index("HASH")}]}, "not defined in AttributeDefinitions"),
        ({"StreamSpecification": TASKS["StreamSpecification"]}, "already has an enabled stream"),
    ],
)
def test_a_change_that_breaks_a_rule_is_refused(call: Caller, change: Json, message: str) -> None:
    with pytest.raises(ValidationFailed, match=message):
        call("UpdateTable", TableName="tasks", **change)


def test_what_is_wrong_in_itself_is_refused_before_the_table_is_looked_for(call: Caller) -> None:
    with pytest.raises(ValidationFailed, match="must not be null"):
        call("UpdateTable", TableName="nothing", GlobalSecondaryIndexUpdates=[{}])
    with pytest.raises(ValidationFailed, match="readCapacityUnits"):
        call("UpdateTable", TableName="nothing", ProvisionedThroughput={"ReadCapacityUnits": 0})
    with pytest.raises(ValidationFailed, match="exclusiveStartTableName"):
        call("ListTables", ExclusiveStartTableName="x" * 256)


@pytest.mark.rule(28)
@pytest.mark.parametrize(
    "updates",
    [
        [{"Delete": {"IndexName": "by_status"}}, {"Delete": {"IndexName": "other"}}],
        [{"Create": index("HASH")}, {"Create": {**index("HASH"), "IndexName": "two"}}],
    ],
    ids=["deleted", "created"],
)
def test_two_indexes_at_once_are_too_many(call: Caller, updates: list[Json]) -> None:
    with pytest.raises(Fault, match="Only 1 online index"):
        call("UpdateTable", TableName="tasks", AttributeDefinitions=DEFINED, GlobalSecondaryIndexUpdates=updates)


def test_billing_is_kept(call: Caller, store: EmbeddedStore) -> None:
    call("UpdateTable", TableName="tasks", BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    table = Caller(store)("DescribeTable", TableName="tasks")["Table"]
    assert table["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **UNITS}
    with pytest.raises(ValidationFailed, match="will not change"):
        call("UpdateTable", TableName="tasks", ProvisionedThroughput=UNITS)


def test_a_protected_table_is_not_deleted(call: Caller) -> None:
    call("UpdateTable", TableName="tasks", DeletionProtectionEnabled=True)
    with pytest.raises(ValidationFailed, match="protected against deletion"):
        call("DeleteTable", TableName="tasks")
    call("UpdateTable", TableName="tasks", DeletionProtectionEnabled=False)
    deleted = call("DeleteTable", TableName="tasks")["TableDescription"]
    assert (deleted["TableName"], deleted["TableStatus"]) == ("tasks", "DELETING")
    assert not {"KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes"} & deleted.keys()


def test_settings_are_gone_with_their_table(call: Caller) -> None:
    call("TagResource", ResourceArn=ARN, Tags=[{"Key": "a", "Value": "b"}])
    call("DeleteTable", TableName="tasks")
    call("CreateTable", **TASKS)
    assert call("ListTagsOfResource", ResourceArn=ARN) == {"Tags": []}


def test_tags_are_added_and_taken(call: Caller) -> None:
    call("TagResource", ResourceArn=ARN, Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
    call("UntagResource", ResourceArn=ARN, TagKeys=["a"])
    assert call("ListTagsOfResource", ResourceArn=ARN) == {"Tags": [{"Key": "b", "Value": "2"}]}


def test_expiry_is_switched(call: Caller) -> None:
    specification = {"Enabled": True, "AttributeName": "expires"}
    call("UpdateTimeToLive", TableName="tasks", TimeToLiveSpecification=specification)
    expected = {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
    assert call("DescribeTimeToLive", TableName="tasks") == {"TimeToLiveDescription": expected}
    with pytest.raises(ValidationFailed, match="TimeToLive is already enabled"):
        call("UpdateTimeToLive", TableName="tasks", TimeToLiveSpecification=specification)
    other = {"Enabled": False, "AttributeName": "other"}
    with pytest.raises(ValidationFailed, match="active on a different AttributeName"):
        call("UpdateTimeToLive", TableName="tasks", TimeToLiveSpecification=other)
    call("UpdateTimeToLive", TableName="tasks", TimeToLiveSpecification={**specification, "Enabled": False})
    assert call("DescribeTimeToLive", TableName="tasks") == {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}


@pytest.mark.rule(6, 29)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"AttributeDefinitions": TASKS["AttributeDefinitions"][:2]}, "Some index key attributes are not defined"),
        ({"GlobalSecondaryIndexes": None}, "Number of attributes in KeySchema does not exactly match"),
        ({"BillingMode": "PROVISIONED"}, "must both be specified when BillingMode is PROVISIONED"),
        ({"ProvisionedThroughput": UNITS}, "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified"),
        ({"StreamSpecification": {"StreamEnabled": True}}, "a stream enabled, UpdateViewType is required"),
        ({"KeySchema": TASKS["KeySchema"][::-1]}, "The first KeySchemaElement is not a HASH key type"),
        (
            {"AttributeDefinitions": [*DEFINED, {**DEFINED[0], "AttributeType": "N"}]},
            "Attribute Name is duplicated: user",
        ),
        ({"AttributeDefinitions": [{**DEFINED[0], "AttributeName": "x" * 256}]}, "less than or equal to 255"),
        ({"GlobalSecondaryIndexes": [index("RANGE")]}, "The first KeySchemaElement is not a HASH key type"),
        ({"GlobalSecondaryIndexes": [index("HASH", "RANGE", "HASH")]}, "All HASH key attributes must precede"),
        ({"GlobalSecondaryIndexes": [index("HASH", "HASH", names=("status", "status"))]}, "have the same name"),
        ({"GlobalSecondaryIndexes": [index("HASH", projected=["a", "a"])]}, "Duplicate element in NonKeyAttributes: a"),
        ({"GlobalSecondaryIndexes": [index("HASH", projected=[])]}, "INCLUDE, but NonKeyAttributes is not specified"),
        *(
            ({"GlobalSecondaryIndexes": [named]}, f"{kind}, but NonKeyAttributes is specified")
            for kind in ("ALL", "KEYS_ONLY")
            for named in ({**index("HASH"), "Projection": {"ProjectionType": kind, "NonKeyAttributes": ["a"]}},)
        ),
        ({"Tags": [{"Key": "x" * 129, "Value": "b"}]}, "The Tag Key provided is invalid"),
        ({"Tags": [{"Key": "a", "Value": "x" * 257}]}, "The Tag Value provided is invalid"),
        ({"Tags": [{"Key": "a", "Value": "100%"}]}, "The Tag Value provided is invalid, Value: 100%"),
        (
            {"Tags": [{"Key": str(number), "Value": "b"} for number in range(51)]},
            "Number of Tags exceed the current limit",
        ),
    ],
)
def test_a_definition_that_breaks_a_rule_is_refused(call: Caller, change: Json, message: str) -> None:
    with pytest.raises(ValidationFailed, match=message):
        call("CreateTable", **{**TASKS, "TableName": "other", **change})


def iterator(call: Caller, kind: str = "TRIM_HORIZON") -> str:
    arn = described(call)["LatestStreamArn"]
    shard = call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    given: str = call("GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType=kind)["ShardIterator"]
    return given


def test_the_latest_iterator_sees_what_comes_after_it(call: Caller) -> None:
    call("PutItem", TableName="tasks", Item=task("u", "1"))
    place = iterator(call, "LATEST")
    call("PutItem", TableName="tasks", Item=task("u", "2"))
    page = call("GetRecords", ShardIterator=place)
    assert [record["dynamodb"]["Keys"] for record in page["Records"]] == [task("u", "2")]
    assert call("GetRecords", ShardIterator=page["NextShardIterator"])["Records"] == []


@pytest.mark.rule(41)
def test_after_the_last_shard_the_list_is_empty(call: Caller) -> None:
    arn = described(call)["LatestStreamArn"]
    first = call("DescribeStream", StreamArn=arn, Limit=1)["StreamDescription"]
    assert (len(first["Shards"]), "LastEvaluatedShardId" in first) == (1, False)
    last = first["Shards"][0]["ShardId"]
    rest = call("DescribeStream", StreamArn=arn, ExclusiveStartShardId=last)["StreamDescription"]
    assert (rest["Shards"], "LastEvaluatedShardId" in rest) == ([], False)


def test_shards_are_listed_by_their_parent(call: Caller) -> None:
    arn = described(call)["LatestStreamArn"]
    shard = call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    children = {"Type": "CHILD_SHARDS", "ShardId": shard}
    assert call("DescribeStream", StreamArn=arn, ShardFilter=children)["StreamDescription"]["Shards"] == []
    for wrong in ({"ShardId": shard}, {**children, "Type": "all"}, {**children, "ShardId": "x"}):
        with pytest.raises(ValidationFailed, match=r"shardFilter\."):
            call("DescribeStream", StreamArn=arn, ShardFilter=wrong)


def test_a_place_by_number_needs_one_and_no_other_has_one(call: Caller) -> None:
    arn = described(call)["LatestStreamArn"]
    shard = call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    for kind, number in (("LATEST", "1"), ("TRIM_HORIZON", "1"), ("AT_SEQUENCE_NUMBER", None)):
        with pytest.raises(ValidationFailed, match=f"be specified for the ShardIteratorType {kind}"):
            call("GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType=kind, SequenceNumber=number)
    with pytest.raises(ValidationFailed, match="Invalid ExclusiveStartStreamArn"):
        call("ListStreams", ExclusiveStartStreamArn="x" * 40)


def test_an_iterator_grows_old(call: Caller) -> None:
    place = iterator(call)
    call.now += 901
    with pytest.raises(Fault, match="Iterator expired") as failure:
        call("GetRecords", ShardIterator=place)
    assert failure.value.kind == "ExpiredIteratorException"


@pytest.mark.rule(42)
def test_a_disabled_stream_is_read_to_its_end(call: Caller) -> None:
    call("PutItem", TableName="tasks", Item=task("u", "1"))
    place = iterator(call)
    arn = described(call)["LatestStreamArn"]
    call("UpdateTable", TableName="tasks", StreamSpecification={"StreamEnabled": False})
    page = call("GetRecords", ShardIterator=place)
    assert (len(page["Records"]), "NextShardIterator" in page) == (1, False)
    call(
        "UpdateTable",
        TableName="tasks",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    )
    assert described(call)["LatestStreamArn"] != arn
    assert call("DescribeStream", StreamArn=arn)["StreamDescription"]["StreamStatus"] == "DISABLED"


def test_limits_are_described(call: Caller) -> None:
    assert call("DescribeLimits")["TableMaxReadCapacityUnits"] == 40_000


def test_backups_of_a_missing_table_have_an_error_of_their_own(call: Caller) -> None:
    with pytest.raises(Fault) as failure:
        call("DescribeContinuousBackups", TableName="nothing")
    assert failure.value.kind == "TableNotFoundException"


@pytest.mark.rule(28)
def test_an_index_is_changed_once_in_a_call(call: Caller) -> None:
    """That the same index is named twice is reported before the number of changes."""
    twice = [{"Delete": {"IndexName": "by_status"}}] * 2
    message = "Only one global secondary index update per index is allowed simultaneously. Index: by_status"
    with pytest.raises(ValidationFailed, match=message):
        call("UpdateTable", TableName="tasks", GlobalSecondaryIndexUpdates=twice)


@pytest.mark.rule(48)
@pytest.mark.parametrize("name", ["ReadCapacityUnits", "WriteCapacityUnits"])
def test_units_have_a_bound(call: Caller, name: str) -> None:
    units = {**UNITS, name: 10**12 + 1}
    made = {**TASKS, "TableName": "made", "BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    with pytest.raises(ValidationFailed, match=f"^Given value 1000000000001 for {name} is out of bounds$"):
        call("CreateTable", **made)
    assert call("ListTables")["TableNames"] == ["tasks"]


@pytest.mark.rule(47)
def test_tags_belong_to_the_arn_of_a_valid_name(call: Caller) -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/ab"
    with pytest.raises(ValidationFailed, match="Invalid TableArn: Invalid ResourceArn provided as input"):
        call("TagResource", ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}])
