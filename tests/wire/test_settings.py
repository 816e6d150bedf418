"""Settings of tables: supported settings are stored and described, and others are refused."""

from __future__ import annotations

from typing import Any

import pytest
from tests.wire.support import TASKS, Caller, Json

from partita import EmbeddedStore
from partita.errors import ValidationFailed
from partita.wire._faults import Fault

UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
PROVISIONED = {
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": UNITS,
    "GlobalSecondaryIndexes": [{**TASKS["GlobalSecondaryIndexes"][0], "ProvisionedThroughput": UNITS}],
}
STREAM = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"


def described(call: Caller, table: str = "tasks") -> Json:
    found: Json = call("DescribeTable", TableName=table)["Table"]
    return found


def change(call: Caller, table: str = "tasks", **parts: Any) -> Json:
    changed: Json = call("UpdateTable", TableName=table, **parts)["TableDescription"]
    return changed


def make(call: Caller, **parts: Any) -> None:
    call("CreateTable", **{**TASKS, "TableName": "made", **parts})


@pytest.mark.rule(48)
@pytest.mark.parametrize(
    "given",
    [
        {"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]},
        {"MultiRegionConsistency": "STRONG"},
        {"GlobalTableWitnessUpdates": [{"Create": {"RegionName": "eu-west-1"}}]},
        {"GlobalTableSettingsReplicationMode": "ENABLED"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_what_is_not_served_is_refused_and_not_dropped(call: Caller, given: Json) -> None:
    with pytest.raises(ValidationFailed, match="not supported by this endpoint"):
        change(call, **given)


@pytest.mark.rule(48)
def test_encryption_is_described_with_its_key(call: Caller, store: EmbeddedStore) -> None:
    assert "SSEDescription" not in described(call)
    change(call, SSESpecification={"Enabled": True})
    managed = described(call)["SSEDescription"]
    assert (managed["Status"], managed["SSEType"]) == ("ENABLED", "KMS")
    assert managed["KMSMasterKeyArn"].startswith("arn:aws:kms:us-east-1:000000000000:key/")
    change(call, SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "1234"})
    key = Caller(store)("DescribeTable", TableName="tasks")["Table"]["SSEDescription"]["KMSMasterKeyArn"]
    assert key == "arn:aws:kms:us-east-1:000000000000:key/1234"
    change(call, SSESpecification={"Enabled": False})
    assert "SSEDescription" not in described(call)


@pytest.mark.rule(48)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"Enabled": False, "SSEType": "KMS"}, "SSEType can not be specified if Enabled is false"),
        ({"Enabled": False, "KMSMasterKeyId": "k"}, "KMSMasterKeyId can not be specified if Enabled is false"),
        ({"Enabled": True, "SSEType": "AES256"}, "SSEType AES256 is not supported"),
        ({"Enabled": True, "KMSMasterKeyId": "k"}, "SSEType KMS is required if KMSMasterKeyId is specified"),
        ({"Enabled": False}, "Table is already encrypted by default"),
    ],
)
def test_encryption_that_cannot_be_is_refused(call: Caller, given: Json, message: str) -> None:
    with pytest.raises(ValidationFailed, match=message):
        change(call, SSESpecification=given)


@pytest.mark.rule(48)
def test_limits_of_an_on_demand_table_are_kept_part_by_part(call: Caller) -> None:
    make(call, OnDemandThroughput={"MaxReadRequestUnits": 10})
    assert described(call, "made")["OnDemandThroughput"] == {"MaxReadRequestUnits": 10}
    change(call, "made", OnDemandThroughput={"MaxWriteRequestUnits": 20})
    assert described(call, "made")["OnDemandThroughput"] == {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20}
    change(call, "made", OnDemandThroughput={"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": -1})
    assert "OnDemandThroughput" not in described(call, "made")
    with pytest.raises(ValidationFailed, match="outside of valid range"):
        change(call, "made", OnDemandThroughput={"MaxReadRequestUnits": 0})
    make(call, **PROVISIONED, TableName="units")
    with pytest.raises(ValidationFailed, match="when the table BillingMode is PROVISIONED"):
        change(call, "units", OnDemandThroughput={"MaxReadRequestUnits": 1})


@pytest.mark.rule(48)
def test_what_a_table_can_take_at_once_never_becomes_less(call: Caller) -> None:
    first = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000, "Status": "ACTIVE"}
    assert described(call)["WarmThroughput"] == first
    change(call, WarmThroughput={"ReadUnitsPerSecond": 13_000})
    assert described(call)["WarmThroughput"] == {**first, "ReadUnitsPerSecond": 13_000}
    with pytest.raises(ValidationFailed, match="decreasing WarmThroughput is not supported"):
        change(call, WarmThroughput={"ReadUnitsPerSecond": 12_500})
    with pytest.raises(ValidationFailed, match="lower than initial throughput for OnDemand"):
        make(call, WarmThroughput={"ReadUnitsPerSecond": 1})


@pytest.mark.rule(48)
def test_a_provisioned_table_can_take_the_most_that_it_ever_had(call: Caller) -> None:
    make(call, **PROVISIONED)
    change(call, "made", ProvisionedThroughput={"ReadCapacityUnits": 9, "WriteCapacityUnits": 9})
    change(call, "made", ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})
    warm = described(call, "made")["WarmThroughput"]
    assert (warm["ReadUnitsPerSecond"], warm["WriteUnitsPerSecond"]) == (9, 9)


@pytest.mark.rule(48)
def test_it_is_known_when_units_were_raised_and_lowered(call: Caller) -> None:
    make(call, **PROVISIONED)
    assert "LastIncreaseDateTime" not in described(call, "made")["ProvisionedThroughput"]
    assert "BillingModeSummary" not in described(call, "made")
    call.now += 10
    more = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 6}
    response = change(call, "made", ProvisionedThroughput=more)
    assert (response["TableStatus"], response["ProvisionedThroughput"]["ReadCapacityUnits"]) == ("UPDATING", 5)
    raised = described(call, "made")["ProvisionedThroughput"]
    assert raised == {**more, "NumberOfDecreasesToday": 0, "LastIncreaseDateTime": call.now}
    call.now += 10
    change(call, "made", ProvisionedThroughput=UNITS)
    lowered = described(call, "made")["ProvisionedThroughput"]
    times = {"LastIncreaseDateTime": call.now - 10, "LastDecreaseDateTime": call.now}
    assert lowered == {**UNITS, "NumberOfDecreasesToday": 1, **times}
    call.now += 86_400
    assert described(call, "made")["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0


def of_index(name: str = "by_status", **parts: Any) -> Json:
    return {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": name, **parts}}]}


@pytest.mark.rule(48)
def test_the_units_of_an_index_are_changed_apart_from_those_of_the_table(call: Caller) -> None:
    make(call, **PROVISIONED)
    more = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 6}
    change(call, "made", **of_index(ProvisionedThroughput=more))
    found = described(call, "made")
    (index,) = found["GlobalSecondaryIndexes"]
    units = (index["ProvisionedThroughput"], found["ProvisionedThroughput"])
    assert [(each["ReadCapacityUnits"], each["WriteCapacityUnits"]) for each in units] == [(7, 6), (5, 6)]
    with pytest.raises(ValidationFailed, match="index by_status"):
        change(call, "made", **of_index(ProvisionedThroughput=more))  # these are the current units


@pytest.mark.rule(48)
def test_units_of_an_index_that_cannot_be_are_refused(call: Caller) -> None:
    with pytest.raises(ValidationFailed, match="when BillingMode is PAY_PER_REQUEST"):
        change(call, **of_index(ProvisionedThroughput=UNITS))
    with pytest.raises(Fault, match="nowhere"):
        change(call, **of_index("nowhere", ProvisionedThroughput=UNITS))


@pytest.mark.rule(48)
def test_it_is_known_since_when_a_table_is_on_demand(call: Caller) -> None:
    make(call, **PROVISIONED)
    call.now += 10
    change(call, "made", BillingMode="PAY_PER_REQUEST")
    since = {"LastUpdateToPayPerRequestDateTime": call.now}
    assert described(call, "made")["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST", **since}
    change(call, "made", BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    assert described(call, "made")["BillingModeSummary"] == {"BillingMode": "PROVISIONED", **since}


@pytest.mark.rule(48)
def test_the_class_is_described_since_it_was_changed(call: Caller) -> None:
    assert "TableClassSummary" not in described(call)
    change(call, TableClass="STANDARD_INFREQUENT_ACCESS")
    infrequent = {"TableClass": "STANDARD_INFREQUENT_ACCESS", "LastUpdateDateTime": call.now}
    assert described(call)["TableClassSummary"] == infrequent
    with pytest.raises(ValidationFailed, match="Invalid table-class parameter"):
        change(call, TableClass="GLACIAL")


@pytest.mark.rule(48)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"SSESpecification": {"Enabled": True}, "TableClass": "STANDARD"}, "Server-Side Encryption modification"),
        ({"TableClass": "STANDARD", "DeletionProtectionEnabled": True}, "TableClass modification must be the only"),
        ({"DeletionProtectionEnabled": True, "BillingMode": "PAY_PER_REQUEST"}, "DeletionProtection modification"),
        ({"WarmThroughput": {}, "BillingMode": "PAY_PER_REQUEST"}, "WarmThroughput must be the only operation"),
        (
            {"OnDemandThroughput": {"MaxReadRequestUnits": 1}, "StreamSpecification": {"StreamEnabled": False}},
            "OnDemandThroughput can only be combined with BillingMode",
        ),
        (
            {"ProvisionedThroughput": UNITS, "StreamSpecification": {"StreamEnabled": False}},
            "You cannot modify stream status while updating table IOPS",
        ),
        (
            {
                "StreamSpecification": {"StreamEnabled": False},
                "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_status"}}],
            },
            "You cannot create or delete index while changing stream status",
        ),
    ],
)
def test_changes_that_cannot_be_combined_are_refused(call: Caller, given: Json, message: str) -> None:
    before = described(call)
    with pytest.raises(ValidationFailed, match=message):
        change(call, **given)
    assert described(call) == before


@pytest.mark.rule(48)
def test_insights_are_of_a_table_and_of_each_index(call: Caller) -> None:
    def status(**index: str) -> Json:
        return call("DescribeContributorInsights", TableName="tasks", **index)

    assert status() == {"TableName": "tasks", "ContributorInsightsStatus": "DISABLED"}
    enabled = call("UpdateContributorInsights", TableName="tasks", ContributorInsightsAction="ENABLE")
    assert enabled["ContributorInsightsStatus"] == "ENABLING"
    found = status()
    assert (found["ContributorInsightsStatus"], len(found["ContributorInsightsRuleList"])) == ("ENABLED", 4)
    assert status(IndexName="by_status")["ContributorInsightsStatus"] == "DISABLED"
    again = call("UpdateContributorInsights", TableName="tasks", ContributorInsightsAction="ENABLE")
    assert again["ContributorInsightsStatus"] == "ENABLED"
    listed = call("ListContributorInsights")["ContributorInsightsSummaries"]
    assert [summary["TableName"] for summary in listed] == ["tasks"]
    call("UpdateContributorInsights", TableName="tasks", ContributorInsightsAction="DISABLE")
    assert call("ListContributorInsights", TableName="tasks") == {"ContributorInsightsSummaries": []}
    with pytest.raises(Fault, match="Index: nothing not found"):
        status(IndexName="nothing")


@pytest.mark.rule(48)
def test_one_kinesis_stream_is_active_at_a_time(call: Caller) -> None:
    def destinations() -> list[Json]:
        found = call("DescribeKinesisStreamingDestination", TableName="tasks")
        listed: list[Json] = found["KinesisDataStreamDestinations"]
        return listed

    assert destinations() == []
    named = {"TableName": "tasks", "StreamArn": STREAM}
    enabled = call("EnableKinesisStreamingDestination", **named)
    assert enabled == {**named, "DestinationStatus": "ENABLING", "EnableKinesisStreamingConfiguration": {}}
    assert destinations() == [{"StreamArn": STREAM, "DestinationStatus": "ACTIVE"}]
    with pytest.raises(ValidationFailed, match="must be DISABLED or ENABLE_FAILED"):
        call("EnableKinesisStreamingDestination", TableName="tasks", StreamArn=f"{STREAM}-2")
    precise = {"ApproximateCreationDateTimePrecision": "MICROSECOND"}
    call("UpdateKinesisStreamingDestination", **named, UpdateKinesisStreamingConfiguration=precise)
    with pytest.raises(ValidationFailed, match="already set"):
        call("UpdateKinesisStreamingDestination", **named, UpdateKinesisStreamingConfiguration=precise)
    identity = call("DescribeTable", TableName="tasks")["Table"]["TableId"]
    with pytest.raises(ValidationFailed, match=f"MICROSECOND for tableId: {identity}, kdsArn: {STREAM}$"):
        call("UpdateKinesisStreamingDestination", **named, UpdateKinesisStreamingConfiguration=precise)
    other = {"TableName": "tasks", "StreamArn": f"{STREAM}-2", "UpdateKinesisStreamingConfiguration": precise}
    with pytest.raises(ValidationFailed, match=f"streamArn: {STREAM}-2 found for table with tableName: tasks$"):
        call("UpdateKinesisStreamingDestination", **other)
    call("DisableKinesisStreamingDestination", **named)
    assert destinations() == [{"StreamArn": STREAM, "DestinationStatus": "DISABLED", **precise}]
    with pytest.raises(ValidationFailed, match="must be ACTIVE to perform DISABLE"):
        call("DisableKinesisStreamingDestination", **named)


def test_arns_have_the_region_that_was_asked(call: Caller) -> None:
    there = call.in_region("eu-west-1")
    table = described(there)
    assert table["TableArn"] == "arn:aws:dynamodb:eu-west-1:000000000000:table/tasks"
    assert table["LatestStreamArn"].startswith(f"{table['TableArn']}/stream/")
    assert table["GlobalSecondaryIndexes"][0]["IndexArn"].startswith(table["TableArn"])
    assert there("ListStreams")["Streams"][0]["StreamArn"] == table["LatestStreamArn"]
