"""Settings of tables, which are stored and described, or refused."""

from __future__ import annotations

import json
from typing import Any

from tests.fidelity import Api, holds, probe, refused, same
from tests.fidelity._attributes import Json
from tests.fidelity._shapes import shape

HASH = shape(("pk",), {"pk": "S"})
UNITS = {"ReadCapacityUnits": 2, "WriteCapacityUnits": 2}


def _settled(api: Api) -> str:
    return api.shared_table("settled", HASH)


def _describe(api: Api, table: str) -> Json:
    found: Json = api("DescribeTable", TableName=table)["Table"]
    return found


@probe(rule=48)
def a_table_has_no_settings_that_nobody_asked_for(api: Api) -> None:
    """Deletion protection is off; encryption, table class and limits are not described."""
    table = _describe(api, api.table("hash"))
    same(table["DeletionProtectionEnabled"], False)
    same({"SSEDescription", "TableClassSummary", "OnDemandThroughput"} & set(table), set())


@probe(rule=48)
def what_an_on_demand_table_can_take_at_once_is_described(api: Api) -> None:
    """The warm throughput is 12,000 reads and 4,000 writes per second from the start."""
    warm = _describe(api, api.table("hash")).get("WarmThroughput", {})
    same((warm.get("ReadUnitsPerSecond"), warm.get("WriteUnitsPerSecond")), (12_000, 4_000))


@probe(rule=48)
def protection_is_kept_and_enforced(api: Api) -> None:
    """A protected table cannot be deleted."""
    table = api.new_table(**HASH, DeletionProtectionEnabled=True)
    same(_describe(api, table)["DeletionProtectionEnabled"], True)
    pattern = "protected against deletion"
    refused(api, "DeleteTable", pattern=pattern, TableName=table)


@probe(rule=48)
def the_class_is_kept(api: Api) -> None:
    """The table class is set when a table is created."""
    table = api.new_table(**HASH, TableClass="STANDARD_INFREQUENT_ACCESS")
    same(_describe(api, table)["TableClassSummary"]["TableClass"], "STANDARD_INFREQUENT_ACCESS")


@probe(rule=48)
def limits_of_an_on_demand_table_are_kept(api: Api) -> None:
    """The limits can be set one by one, and removed with -1."""
    table = api.new_table(**HASH, OnDemandThroughput={"MaxReadRequestUnits": 10})
    same(_describe(api, table)["OnDemandThroughput"], {"MaxReadRequestUnits": 10})
    api("UpdateTable", TableName=table, OnDemandThroughput={"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": 7})
    wanted = {"MaxWriteRequestUnits": 7}
    found = api.eventually(lambda: _describe(api, table)["OnDemandThroughput"], lambda limits: limits == wanted)
    same(found, wanted)


@probe(rule=48, billed=True)
def encryption_with_the_managed_key_is_described(api: Api) -> None:
    """The description has the ARN of the key."""
    table = api.new_table(**HASH, SSESpecification={"Enabled": True})
    found = _describe(api, table)["SSEDescription"]
    same((found["Status"], found["SSEType"]), ("ENABLED", "KMS"))
    holds(found["KMSMasterKeyArn"].startswith("arn:aws:kms:"), found["KMSMasterKeyArn"])


_REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "encryption that AWS does not offer": (
        {"SSESpecification": {"Enabled": True, "SSEType": "AES256"}},
        "SSEType AES256 is not supported",
    ),
    "key without encryption": (
        {"SSESpecification": {"Enabled": False, "KMSMasterKeyId": "x"}},
        "KMSMasterKeyId can not be specified if Enabled is false",
    ),
    "no change of encryption": ({"SSESpecification": {"Enabled": False}}, "Table is already encrypted by default"),
    "unknown class": ({"TableClass": "GLACIAL"}, "Invalid table-class parameter provided"),
    "limit of none": ({"OnDemandThroughput": {"MaxReadRequestUnits": 0}}, "is outside of valid range"),
    "less at once": ({"WarmThroughput": {"ReadUnitsPerSecond": 1}}, "decreasing WarmThroughput is not supported"),
    "class and protection": (
        {"TableClass": "STANDARD", "DeletionProtectionEnabled": True},
        "TableClass modification must be the only operation in the request",
    ),
    "protection and billing": (
        {"DeletionProtectionEnabled": True, "BillingMode": "PAY_PER_REQUEST"},
        "DeletionProtection modification must be the only operation in the request",
    ),
    "stream and units": (
        {
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": UNITS,
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        },
        "You cannot modify stream status while updating table IOPS",
    ),
    "units of an on-demand table": ({"ProvisionedThroughput": UNITS}, "Neither ReadCapacityUnits nor"),
    "provisioned without units": ({"BillingMode": "PROVISIONED"}, "ProvisionedThroughput must be specified"),
    "stream without a view": (
        {"StreamSpecification": {"StreamEnabled": True}},
        "If stream is being enabled then UpdateViewType is required",
    ),
}


@probe(rule=48, tier=3, cases=_REFUSED)
def a_change_of_settings_that_cannot_be_is_refused(api: Api, given: dict[str, Any], pattern: str) -> None:
    """The message names the reason."""
    refused(api, "UpdateTable", pattern=pattern, TableName=_settled(api), **given)


@probe(rule=48)
def units_are_raised_and_lowered(api: Api) -> None:
    """The description has the times of both, and the number of decreases today."""
    table = api.new_table(BillingMode="PROVISIONED", ProvisionedThroughput=UNITS, **HASH)
    for units in (3, 1):
        wanted = {"ReadCapacityUnits": units, "WriteCapacityUnits": units}
        api("UpdateTable", TableName=table, ProvisionedThroughput=wanted)
        found = api.wait_until_active(table)["ProvisionedThroughput"]
        same({name: found[name] for name in wanted}, wanted)
    same(found["NumberOfDecreasesToday"], 1)
    holds(found["LastDecreaseDateTime"] >= found["LastIncreaseDateTime"], "it was lowered before it was raised")


@probe(rule=48, tier=2, billed=True)
def insights_are_switched_on_and_off(api: Api) -> None:
    """Insights are off by default."""
    table = _settled(api)

    def status() -> str:
        return str(api("DescribeContributorInsights", TableName=table)["ContributorInsightsStatus"])

    same(status(), "DISABLED")
    response = api("UpdateContributorInsights", TableName=table, ContributorInsightsAction="ENABLE")
    same(response["ContributorInsightsStatus"], "ENABLING")
    same(api.eventually(status, lambda found: found == "ENABLED"), "ENABLED")
    listed = api("ListContributorInsights", TableName=table)["ContributorInsightsSummaries"]
    same([each["TableName"] for each in listed], [table])
    api("UpdateContributorInsights", TableName=table, ContributorInsightsAction="DISABLE")
    same(api.eventually(status, lambda found: found == "DISABLED"), "DISABLED")


@probe(rule=48, tier=2)
def insights_of_a_missing_table_or_index_are_not_found(api: Api) -> None:
    """Insights belong to a table or to a global index."""
    kind = "ResourceNotFoundException"
    refused(api, "DescribeContributorInsights", kind=kind, TableName=f"{api.prefix}nowhere")
    refused(api, "DescribeContributorInsights", kind=kind, TableName=_settled(api), IndexName="nowhere")


@probe(rule=48, tier=2)
def a_table_has_no_kinesis_destinations_at_first(api: Api) -> None:
    """The list is empty; a destination that was never enabled cannot be disabled."""
    table = _settled(api)
    same(api("DescribeKinesisStreamingDestination", TableName=table)["KinesisDataStreamDestinations"], [])
    arn = f"arn:aws:kinesis:{api.region}:000000000000:stream/nowhere"
    pattern = "KinesisStreamingDestination must be ACTIVE to perform DISABLE operation"
    refused(api, "DisableKinesisStreamingDestination", pattern=pattern, TableName=table, StreamArn=arn)


@probe(rule=48, tier=2)
def recovery_is_off_at_first(api: Api) -> None:
    """Continuous backups are enabled nevertheless; a missing table has a different error here."""
    table = _settled(api)

    def described() -> Json:
        found: Json = api("DescribeContinuousBackups", TableName=table)["ContinuousBackupsDescription"]
        return found

    found = api.eventually(described, lambda backups: backups["ContinuousBackupsStatus"] == "ENABLED")
    same(found["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"], "DISABLED")
    refused(api, "DescribeContinuousBackups", kind="TableNotFoundException", TableName=f"{api.prefix}nowhere")


@probe(rule=48, tier=2, billed=True)
def recovery_is_switched_on(api: Api) -> None:
    """The description has the earliest and the latest time that can be restored."""
    wanted = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}
    response = api("UpdateContinuousBackups", TableName=_settled(api), PointInTimeRecoverySpecification=wanted)
    found = response["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    same((found["PointInTimeRecoveryStatus"], found["RecoveryPeriodInDays"]), ("ENABLED", 7))
    holds(found["EarliestRestorableDateTime"] <= found["LatestRestorableDateTime"], "the earliest is after the latest")


def _policy(api: Api, table: str) -> tuple[str, str]:
    arn = api("DescribeTable", TableName=table)["Table"]["TableArn"]
    root = f"arn:aws:iam::{arn.split(':')[4]}:root"
    statement = {
        "Resource": [arn],
        "Effect": "Allow",
        "Principal": {"AWS": root},
        "Action": ["dynamodb:GetItem"],
    }
    return arn, json.dumps({"Statement": [statement], "Version": "2012-10-17"}, indent=2)


@probe(rule=49, tier=2)
def a_table_without_a_policy_has_none(api: Api) -> None:
    """Deleting a policy that does not exist succeeds."""
    arn, _ = _policy(api, _settled(api))
    refused(api, "GetResourcePolicy", kind="PolicyNotFoundException", ResourceArn=arn)
    api("DeleteResourcePolicy", ResourceArn=arn)


@probe(rule=49, tier=2)
def a_policy_comes_back_in_one_form(api: Api) -> None:
    """An equivalent policy gets the same revision."""
    arn, policy = _policy(api, api.new_table(**HASH))
    revision = api("PutResourcePolicy", ResourceArn=arn, Policy=policy)["RevisionId"]

    def kept() -> Json:
        return api("GetResourcePolicy", ResourceArn=arn)

    found = api.eventually(kept, lambda reply: reply["RevisionId"] == revision)
    statement = json.loads(policy)["Statement"][0]
    one = {"Effect": "Allow", "Principal": statement["Principal"], "Action": "dynamodb:GetItem", "Resource": arn}
    expected = json.dumps({"Version": "2012-10-17", "Statement": [one]}, separators=(",", ":"))
    same(found["Policy"], expected)
    same(api("PutResourcePolicy", ResourceArn=arn, Policy=found["Policy"])["RevisionId"], revision)


@probe(
    rule=49,
    tier=3,
    cases={
        "not JSON": ("{", "Invalid policy document"),
        "no statement": ('{"Version": "2012-10-17", "Statement": []}', "Invalid policy document"),
    },
)
def a_policy_that_cannot_be_is_refused(api: Api, policy: str, pattern: str) -> None:
    """The message names the reason."""
    arn, _ = _policy(api, _settled(api))
    refused(api, "PutResourcePolicy", pattern=pattern, ResourceArn=arn, Policy=policy)
