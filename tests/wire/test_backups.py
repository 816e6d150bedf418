"""Backups of single tables."""

from __future__ import annotations

import pytest
from tests.wire.support import TASKS, Caller, Json, task

from partita import EmbeddedStore
from partita.errors import ValidationFailed
from partita.store import PutItem, ScanTable
from partita.wire._faults import Fault
from partita.wire.tables._settings import TABLE as SETTINGS


def made(call: Caller, name: str = "first") -> str:
    arn: str = call("CreateBackup", TableName="tasks", BackupName=name)["BackupDetails"]["BackupArn"]
    return arn


def listed(call: Caller, **wanted: object) -> list[str]:
    return [summary["BackupName"] for summary in call("ListBackups", **wanted)["BackupSummaries"]]


@pytest.mark.rule(53)
def test_a_backup_stays_as_it_was_and_no_client_sees_its_table(call: Caller) -> None:
    for number in range(30):
        call("PutItem", TableName="tasks", Item=task("u", f"{number:02}", status="open"))
    arn = made(call)
    call("DeleteItem", TableName="tasks", Key=task("u", "00"))
    assert call("ListTables")["TableNames"] == ["tasks"]
    call("RestoreTableFromBackup", TargetTableName="again", BackupArn=arn)
    assert (call("Scan", TableName="again")["Count"], call("Scan", TableName="tasks")["Count"]) == (30, 29)
    table: Json = call("DescribeTable", TableName="again")["Table"]
    assert ("StreamSpecification" in table, table["KeySchema"]) == (False, TASKS["KeySchema"])
    assert call("Scan", TableName="again", IndexName="by_status")["Count"] == 30


@pytest.mark.rule(53)
def test_a_backup_is_described_and_survives_its_table(call: Caller, store: EmbeddedStore) -> None:
    call("PutItem", TableName="tasks", Item=task("u", "1"))
    arn = made(call)
    call("DeleteTable", TableName="tasks")
    found = Caller(store)("DescribeBackup", BackupArn=arn)["BackupDescription"]
    assert (found["BackupDetails"]["BackupStatus"], found["SourceTableDetails"]["ItemCount"]) == ("AVAILABLE", 1)
    assert found["SourceTableFeatureDetails"]["StreamDescription"] == TASKS["StreamSpecification"]
    call("RestoreTableFromBackup", TargetTableName="tasks", BackupArn=arn)
    assert call("Scan", TableName="tasks")["Count"] == 1


def test_a_backup_has_the_identity_and_the_time_of_its_table() -> None:
    with EmbeddedStore(":memory:", clock=lambda: 1_700_000_000.1234567) as store:
        call = Caller(store)
        table = call("CreateTable", **TASKS)["TableDescription"]
        found = call("DescribeBackup", BackupArn=made(call))["BackupDescription"]["SourceTableDetails"]
        (listed,) = call("ListBackups")["BackupSummaries"]
    assert (found["TableId"], found["TableCreationDateTime"]) == (table["TableId"], table["CreationDateTime"])
    assert listed["TableId"] == table["TableId"]


def test_a_backup_of_an_earlier_version_has_the_time_of_its_table_in_milliseconds(
    call: Caller, store: EmbeddedStore
) -> None:
    arn = made(call)
    (stored,) = [each for each in store.execute(ScanTable(SETTINGS)).items if "backup" in each]
    kept = {name: value for name, value in stored["backup"].items() if name != "table_created"}
    store.execute(PutItem(SETTINGS, {**stored, "backup": kept}))
    found = call("DescribeBackup", BackupArn=arn)["BackupDescription"]["SourceTableDetails"]
    created = call("DescribeTable", TableName="tasks")["Table"]["CreationDateTime"]
    assert found["TableCreationDateTime"] == int(created * 1000) / 1000


@pytest.mark.rule(53)
def test_backups_are_listed_in_pages_and_deleted(call: Caller) -> None:
    arns = [made(call, name) for name in ("one", "two", "three")]
    assert listed(call, TableName="tasks") == ["one", "two", "three"]
    first = call("ListBackups", Limit=2)
    assert listed(call, ExclusiveStartBackupArn=first["LastEvaluatedBackupArn"]) == ["three"]
    assert (listed(call, BackupType="SYSTEM"), listed(call, TableName="other")) == ([], [])
    deleted = call("DeleteBackup", BackupArn=arns[1])["BackupDescription"]["BackupDetails"]
    assert (deleted["BackupStatus"], listed(call)) == ("DELETED", ["one", "three"])
    with pytest.raises(Fault) as failure:
        call("DescribeBackup", BackupArn=arns[1])
    assert failure.value.kind == "BackupNotFoundException"


@pytest.mark.parametrize(("operation", "size"), [("ListBackups", "Limit"), ("ListContributorInsights", "MaxResults")])
@pytest.mark.parametrize(("value", "bound"), [(-1, "greater than or equal to 1"), (101, "less than or equal to 100")])
def test_the_size_of_a_page_has_bounds(call: Caller, operation: str, size: str, value: int, bound: str) -> None:
    with pytest.raises(ValidationFailed, match=f"Member must have value {bound}"):
        call(operation, **{size: value})


@pytest.mark.rule(53)
def test_what_cannot_be_backed_up_or_restored_is_refused(call: Caller) -> None:
    with pytest.raises(Fault) as failure:
        call("CreateBackup", TableName="nothing", BackupName="first")
    assert failure.value.kind == "TableNotFoundException"
    with pytest.raises(ValidationFailed, match="backupName"):
        made(call, "x")
    with pytest.raises(ValidationFailed, match="Invalid Backup ARN"):
        call("DescribeBackup", BackupArn="arn:of:nothing")
    with pytest.raises(Fault) as failure:
        call("RestoreTableFromBackup", TargetTableName="tasks", BackupArn=made(call))
    assert failure.value.kind == "TableAlreadyExistsException"
