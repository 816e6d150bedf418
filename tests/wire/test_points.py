"""Points in time over the wire: continuous backups, restored tables, and streams read from a point in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from tests.store.remote.served import served
from tests.wire.support import TASKS, Caller, Json, task

from partita import EmbeddedStore
from partita.errors import InstantOutOfRange, RecoveryDisabled, TableInUse, ValidationFailed
from partita.store import DescribeRecovery, DescribeStream, DescribeTable, FindInStream, RestoreTable, SetRecovery
from partita.testing import FakeClock
from partita.wire._faults import Fault


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(clock: FakeClock) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(":memory:", clock=clock) as store:
        yield store


@pytest.fixture
def call(store: EmbeddedStore, clock: FakeClock) -> Caller:
    caller = Caller(store)
    caller.now = clock()
    caller("CreateTable", **TASKS)
    return caller


def update(call: Caller, **given: Any) -> Json:
    response = call("UpdateContinuousBackups", TableName="tasks", PointInTimeRecoverySpecification=given)
    found: Json = response["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    return found


def pass_time(call: Caller, clock: FakeClock, seconds: float) -> float:
    clock.advance(seconds)
    call.now = clock()
    return call.now


def write(call: Caller, *names: str) -> None:
    for name in names:
        call("PutItem", TableName="tasks", Item=task("u", name, status="open"))


def names(call: Caller, table: str) -> list[str]:
    return sorted(item["task"]["S"] for item in call("Scan", TableName=table)["Items"])


def refused(call: Caller, **given: Any) -> str:
    with pytest.raises(Fault) as failure:
        call("RestoreTableToPointInTime", **{"SourceTableName": "tasks", "TargetTableName": "again", **given})
    return failure.value.kind


@pytest.mark.rule(48)
@pytest.mark.rule(60)
def test_recovery_is_described_with_its_times(call: Caller, clock: FakeClock) -> None:
    began = call.now
    first = update(call, PointInTimeRecoveryEnabled=True)
    times = {"EarliestRestorableDateTime": began, "LatestRestorableDateTime": began}
    assert first == {"PointInTimeRecoveryStatus": "ENABLED", "RecoveryPeriodInDays": 35, **times}
    pass_time(call, clock, 1_000)
    later = update(call, PointInTimeRecoveryEnabled=True, RecoveryPeriodInDays=7)
    assert (later["RecoveryPeriodInDays"], later["EarliestRestorableDateTime"]) == (7, began)
    assert later["LatestRestorableDateTime"] == call.now
    assert update(call, PointInTimeRecoveryEnabled=True)["RecoveryPeriodInDays"] == 7
    assert update(call, PointInTimeRecoveryEnabled=False) == {"PointInTimeRecoveryStatus": "DISABLED"}
    with pytest.raises(ValidationFailed, match="Cannot specify RecoveryPeriodInDays"):
        update(call, PointInTimeRecoveryEnabled=False, RecoveryPeriodInDays=7)


@pytest.mark.rule(60)
def test_seconds_are_described_that_clients_can_ask_for(call: Caller, clock: FakeClock) -> None:
    pass_time(call, clock, 0.25)
    found = update(call, PointInTimeRecoveryEnabled=True)
    latest = found["LatestRestorableDateTime"]
    assert (found["EarliestRestorableDateTime"], latest) == (latest, int(call.now) + 1)
    call("RestoreTableToPointInTime", SourceTableName="tasks", TargetTableName="again", RestoreDateTime=latest)
    assert names(call, "again") == []


@pytest.mark.rule(61)
def test_a_table_is_restored_to_the_second(call: Caller, clock: FakeClock) -> None:
    update(call, PointInTimeRecoveryEnabled=True)
    write(call, "a")
    then = call.now
    pass_time(call, clock, 60)
    write(call, "b")
    source = {"SourceTableName": "tasks", "TargetTableName": "again"}
    table = call("RestoreTableToPointInTime", **source, RestoreDateTime=then)["TableDescription"]
    summary = {"SourceTableArn": table["TableArn"].replace("again", "tasks"), "RestoreDateTime": then}
    assert table["RestoreSummary"] == {**summary, "RestoreInProgress": True}
    assert (names(call, "again"), names(call, "tasks")) == (["a"], ["a", "b"])
    arn = {"SourceTableArn": summary["SourceTableArn"], "TargetTableName": "latest"}
    call("RestoreTableToPointInTime", **arn, UseLatestRestorableTime=True)
    assert names(call, "latest") == ["a", "b"]
    assert call("Scan", TableName="latest", IndexName="by_status")["Count"] == 2
    described = call("DescribeTable", TableName="latest")["Table"]
    assert ("StreamSpecification" in described, described["TableStatus"]) == (False, "ACTIVE")


@pytest.mark.rule(61)
def test_what_the_call_overrides_is_otherwise(call: Caller) -> None:
    update(call, PointInTimeRecoveryEnabled=True)
    write(call, "a")
    units = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 2}
    call(
        "RestoreTableToPointInTime",
        SourceTableName="tasks",
        TargetTableName="again",
        UseLatestRestorableTime=True,
        BillingModeOverride="PROVISIONED",
        ProvisionedThroughputOverride=units,
        GlobalSecondaryIndexOverride=[],
        SSESpecificationOverride={"Enabled": True},
    )
    table = call("DescribeTable", TableName="again")["Table"]
    assert "GlobalSecondaryIndexes" not in table
    assert (table["ProvisionedThroughput"]["ReadCapacityUnits"], table["SSEDescription"]["Status"]) == (3, "ENABLED")
    with pytest.raises(ValidationFailed, match="does not have the index by_nothing"):
        call(
            "RestoreTableToPointInTime",
            SourceTableName="tasks",
            TargetTableName="third",
            UseLatestRestorableTime=True,
            GlobalSecondaryIndexOverride=[{"IndexName": "by_nothing"}],
        )


@pytest.mark.rule(61)
def test_what_cannot_be_restored_is_refused_in_words_of_aws(call: Caller) -> None:
    assert refused(call, UseLatestRestorableTime=True) == "PointInTimeRecoveryUnavailableException"
    update(call, PointInTimeRecoveryEnabled=True)
    assert refused(call, RestoreDateTime=call.now - 1) == "InvalidRestoreTimeException"
    assert refused(call, RestoreDateTime=call.now + 1) == "InvalidRestoreTimeException"
    assert refused(call, UseLatestRestorableTime=True, TargetTableName="tasks") == "TableAlreadyExistsException"
    assert refused(call, UseLatestRestorableTime=True, SourceTableName="nothing") == "TableNotFoundException"
    for wrong in ({}, {"UseLatestRestorableTime": True, "RestoreDateTime": call.now}):
        with pytest.raises(ValidationFailed, match="UseLatestRestorableTime"):
            call("RestoreTableToPointInTime", SourceTableName="tasks", TargetTableName="again", **wrong)
    with pytest.raises(ValidationFailed, match="SourceTableArn"):
        call("RestoreTableToPointInTime", TargetTableName="again", UseLatestRestorableTime=True)


def iterator(call: Caller, kind: str = "AT_TIMESTAMP", **given: Any) -> str:
    arn = call("ListStreams", TableName="tasks")["Streams"][0]["StreamArn"]
    shard = call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    found: str = call("GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType=kind, **given)[
        "ShardIterator"
    ]
    return found


@pytest.mark.rule(62)
def test_a_shard_is_read_from_a_time_on(call: Caller, clock: FakeClock) -> None:
    times = []
    for name in "abc":
        times.append(pass_time(call, clock, 10))
        write(call, name)

    def read(at: float) -> list[str]:
        records = call("GetRecords", ShardIterator=iterator(call, Timestamp=at))["Records"]
        return [record["dynamodb"]["Keys"]["task"]["S"] for record in records]

    assert (read(times[1]), read(times[1] + 0.5)) == (["b", "c"], ["c"])
    assert read(0) == ["a", "b", "c"]
    pass_time(call, clock, 10)
    nothing = iterator(call, Timestamp=call.now)
    write(call, "d")
    assert len(call("GetRecords", ShardIterator=nothing)["Records"]) == 1


@pytest.mark.rule(62)
def test_a_time_that_cannot_be_is_refused(call: Caller) -> None:
    with pytest.raises(ValidationFailed, match="future"):
        iterator(call, Timestamp=call.now + 1)
    with pytest.raises(ValidationFailed, match="Timestamp must be specified"):
        iterator(call)
    with pytest.raises(ValidationFailed, match="Timestamp must not be specified"):
        iterator(call, "LATEST", Timestamp=call.now)
    with pytest.raises(ValidationFailed, match="SequenceNumber must not be specified"):
        iterator(call, Timestamp=call.now, SequenceNumber="0" * 21)


@pytest.mark.rule(61)
def test_the_remote_store_asks_for_the_same(call: Caller, store: EmbeddedStore, clock: FakeClock) -> None:
    write(call, "a")
    schema = store.execute(DescribeTable("tasks")).schema
    again = replace(schema, name="again", indexes=(), stream=None)
    with served(store) as remote:
        with pytest.raises(RecoveryDisabled):
            remote.execute(RestoreTable("tasks", schema))
        enabled = remote.execute(SetRecovery("tasks", 3))
        assert (enabled.enabled, enabled.days, enabled.earliest) == (True, 3, clock())
        assert remote.execute(DescribeRecovery("tasks")) == enabled
        with pytest.raises(TableInUse):
            remote.execute(RestoreTable("tasks", schema))
        with pytest.raises(InstantOutOfRange):
            remote.execute(RestoreTable("tasks", again, clock() - 1))
        made = remote.execute(RestoreTable("tasks", again, clock()))
        assert (made.item_count, made.schema.indexes) == (1, ())
        shard = remote.execute(DescribeStream("tasks")).shards[0].id
        assert remote.execute(FindInStream("tasks", shard, clock())).after == 0
        assert not remote.execute(SetRecovery("tasks", None)).enabled
