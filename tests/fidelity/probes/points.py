"""Points in time: continuous backups, restored tables, and streams that are read from a given time."""

from __future__ import annotations

import time
from typing import Any

from tests.fidelity import Api, holds, probe, refused, same
from tests.fidelity._attributes import Json
from tests.fidelity._shapes import shape

HASH = shape(("pk",), {"pk": "S"})


def _enable(api: Api, table: str, **given: Any) -> Json:
    wanted = {"PointInTimeRecoveryEnabled": True, **given}
    response = api("UpdateContinuousBackups", TableName=table, PointInTimeRecoverySpecification=wanted)
    found: Json = response["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    return found


@probe(rule=60, tier=2)
def continuous_backups_are_off_until_they_are_enabled(api: Api) -> None:
    """On-demand backups are always enabled."""
    found = api("DescribeContinuousBackups", TableName=api.table("hash"))["ContinuousBackupsDescription"]
    status = found["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"]
    same((found["ContinuousBackupsStatus"], status), ("ENABLED", "DISABLED"))


@probe(rule=60, tier=2, billed=True)
def continuous_backups_are_kept_for_35_days_unless_said_otherwise(api: Api) -> None:
    """The description has the earliest time that can be restored."""
    found = _enable(api, api.new_table(**HASH))
    same((found["PointInTimeRecoveryStatus"], found.get("RecoveryPeriodInDays")), ("ENABLED", 35))
    holds("EarliestRestorableDateTime" in found, "there is no earliest time")


@probe(rule=60, tier=3)
def continuous_backups_of_more_than_35_days_are_refused(api: Api) -> None:
    """A period of 1 to 35 days is valid."""
    wanted = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 36}
    table = api.table("hash")
    refused(api, "UpdateContinuousBackups", TableName=table, PointInTimeRecoverySpecification=wanted)


@probe(rule=61, tier=2)
def a_table_without_continuous_backups_is_not_restored(api: Api) -> None:
    """Not even the latest state can be restored."""
    names = {"SourceTableName": api.table("hash"), "TargetTableName": api.new_name()}
    kind = "PointInTimeRecoveryUnavailableException"
    refused(api, "RestoreTableToPointInTime", kind=kind, UseLatestRestorableTime=True, **names)


@probe(rule=61, tier=2, billed=True)
def an_instant_before_the_backups_is_refused(api: Api) -> None:
    """The backups begin when continuous backups are enabled."""
    table = api.new_table(**HASH)
    _enable(api, table)
    names = {"SourceTableName": table, "TargetTableName": api.new_name()}
    kind = "InvalidRestoreTimeException"
    refused(api, "RestoreTableToPointInTime", kind=kind, RestoreDateTime=int(time.time()) - 864_000, **names)


@probe(rule=62, tier=2)
def a_stream_is_read_from_a_time_on(api: Api) -> None:
    """A time before the oldest record starts at that record."""
    view = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    table = api.new_table(**HASH, StreamSpecification=view)
    api("PutItem", TableName=table, Item={"pk": {"S": "first"}})
    stream = api("DescribeTable", TableName=table)["Table"]["LatestStreamArn"]
    shards = api("DescribeStream", StreamArn=stream)["StreamDescription"]["Shards"]
    begun = {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": int(time.time()) - 3_600}

    def read() -> list[Json]:
        found = []
        for shard in shards:
            at = api("GetShardIterator", StreamArn=stream, ShardId=shard["ShardId"], **begun)["ShardIterator"]
            found += api("GetRecords", ShardIterator=at)["Records"]
        return found

    same(len(api.eventually(read, lambda found: len(found) == 1)), 1)
