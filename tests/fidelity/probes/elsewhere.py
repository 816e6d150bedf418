"""Operations that reach beyond tables: backups, exports and imports, global tables."""

from __future__ import annotations

from tests.fidelity import Api, holds, probe, refused, same
from tests.fidelity._attributes import n
from tests.fidelity._shapes import shape

HASH = shape(("pk",), {"pk": "S"})


@probe(rule=53, tier=2, billed=True)
def a_backup_is_made_described_listed_and_deleted(api: Api) -> None:
    """A deleted backup is not found."""
    table = api.new_table(**HASH)
    arn = api("CreateBackup", TableName=table, BackupName="first")["BackupDetails"]["BackupArn"]
    described = api("DescribeBackup", BackupArn=arn)["BackupDescription"]["BackupDetails"]
    same((described["BackupName"], described["BackupType"]), ("first", "USER"))
    same([each["BackupArn"] for each in api("ListBackups", TableName=table)["BackupSummaries"]], [arn])
    api("DeleteBackup", BackupArn=arn)
    refused(api, "DescribeBackup", kind="BackupNotFoundException", BackupArn=arn)


@probe(rule=53, tier=2, billed=True)
def a_backup_is_restored_into_a_new_table(api: Api) -> None:
    """The new table has the items of the old one."""
    table = api.new_table(**HASH)
    api("PutItem", TableName=table, Item={**api.new_key(), "a": n(1)})
    arn = api("CreateBackup", TableName=table, BackupName="first")["BackupDetails"]["BackupArn"]
    target = api.will_make(api.new_name())
    api("RestoreTableFromBackup", TargetTableName=target, BackupArn=arn)
    same(api.wait_until_active(target)["TableName"], target)
    same(api("Scan", TableName=target)["Count"], 1)


@probe(rule=63, tier=2)
def an_export_needs_recovery_to_a_point_in_time(api: Api) -> None:
    """While point-in-time recovery is off, the export is refused."""
    arn = api("DescribeTable", TableName=api.table("hash"))["Table"]["TableArn"]
    kind = "PointInTimeRecoveryUnavailableException"
    refused(api, "ExportTableToPointInTime", kind=kind, TableArn=arn, S3Bucket="nowhere")


@probe(
    63,
    64,
    tier=2,
    cases={"exports": ("ListExports", "ExportSummaries"), "imports": ("ListImports", "ImportSummaryList")},
)
def exports_and_imports_are_listed(api: Api, operation: str, part: str) -> None:
    """The list may be empty."""
    holds(isinstance(api(operation).get(part, []), list), "there is no list")


@probe(rule=59, tier=2)
def global_tables_of_the_first_kind_are_listed(api: Api) -> None:
    """The list may be empty."""
    holds(isinstance(api("ListGlobalTables")["GlobalTables"], list), "there is no list")


@probe(rule=59, tier=2)
def scaling_of_a_table_is_described(api: Api) -> None:
    """The description names the table."""
    found = api("DescribeTableReplicaAutoScaling", TableName=api.table("hash"))["TableAutoScalingDescription"]
    same(found["TableName"], api.table("hash"))
