"""botocore's model of DynamoDB: the server knows every operation, and the waiters and paginators work with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.session import Session as BotocoreSession
from tests.wire.bulk.conftest import asked, lines, tasks
from tests.wire.support import TASKS, Json, serving, task
from tests.wire.test_boto3 import connect

from partita import EmbeddedStore
from partita.buckets import FolderBuckets
from partita.wire._operations import operations

PAGE = (Path(__file__).parents[2] / "docs" / "wire.md").read_text(encoding="utf-8")
LATER = {"ExportCompleted", "ImportCompleted"}
"""Waiters that other tests cover."""
STREAM = "arn:aws:kinesis:us-east-1:000000000000:stream/changes"


def model(name: str) -> Any:
    return BotocoreSession().get_component("data_loader").load_service_model("dynamodb", name)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("model")
    for bucket in ("in", "out"):
        (folder / bucket).mkdir()
    (folder / "in" / "a.json").write_bytes(lines(*tasks(5)))
    with (
        EmbeddedStore(folder / "model.db", durable=False) as store,
        serving(store, buckets=FolderBuckets(folder)) as address,
    ):
        client = connect("dynamodb", address)
        client.create_table(**TASKS)
        for name in ("another", "one-more"):
            client.create_table(**{**TASKS, "TableName": name})
        for number in range(5):
            client.put_item(TableName="tasks", Item=task("u", f"{number:05}"))
        yield client
        client.close()


@pytest.mark.rule(59)
def test_every_operation_is_served_or_refused_as_aws_would() -> None:
    known = set(model("service-2")["operations"])
    assert sorted(known - operations(lambda: 0.0).keys()) == []
    assert sorted(name for name in known if f"`{name}`" not in PAGE) == []


def _bulk(client: Any) -> Json:
    started = client.start_bulk_put_items(**asked())["BulkOperationDescription"]
    return {"BulkOperationArn": started["BulkOperationArn"]}


def _insights(client: Any) -> Json:
    client.update_contributor_insights(TableName="tasks", ContributorInsightsAction="ENABLE")
    return {"TableName": "tasks"}


def _kinesis(client: Any) -> Json:
    client.enable_kinesis_streaming_destination(TableName="tasks", StreamArn=STREAM)
    return {"TableName": "tasks"}


WAITERS: dict[str, Callable[[Any], Json]] = {
    "BulkOperationCompleted": _bulk,
    "ContributorInsightsEnabled": _insights,
    "KinesisStreamingDestinationActive": _kinesis,
    "TableExists": lambda _: {"TableName": "tasks"},
    "TableNotExists": lambda _: {"TableName": "nothing"},
}


@pytest.mark.rule(59)
def test_every_waiter_comes_to_its_end(client: Any) -> None:
    assert sorted(model("waiters-2")["waiters"].keys() - WAITERS.keys() - LATER) == []
    names = {name.replace("_", ""): name for name in client.waiter_names}
    for name, prepare in WAITERS.items():
        wanted = prepare(client)
        client.get_waiter(names[name.lower()]).wait(**wanted, WaiterConfig={"Delay": 0.01, "MaxAttempts": 6_000})


def _tagged(client: Any) -> Json:
    arn = client.describe_table(TableName="tasks")["Table"]["TableArn"]
    client.tag_resource(ResourceArn=arn, Tags=[{"Key": f"k{number}", "Value": "v"} for number in range(15)])
    return {"ResourceArn": arn}


def _backed_up(client: Any) -> Json:
    for number in range(3):
        client.create_backup(TableName="another", BackupName=f"backup-{number}")
    return {}


def _loaded(client: Any) -> Json:
    for _ in range(3):
        arn = _bulk(client)
        client.get_waiter("bulk_operation_completed").wait(**arn, WaiterConfig={"Delay": 0.01, "MaxAttempts": 6_000})
    return {}


QUERY = {"KeyConditionExpression": "#u = :u", "ExpressionAttributeNames": {"#u": "user"}}
PAGINATORS: dict[str, tuple[Callable[[Any], Json], int]] = {
    "ListBackups": (_backed_up, 3),
    "ListBulkOperations": (_loaded, 3),
    "ListTables": (lambda _: {}, 3),
    "ListTagsOfResource": (_tagged, 15),
    "Query": (lambda _: {"TableName": "tasks", **QUERY, "ExpressionAttributeValues": {":u": {"S": "u"}}}, 5),
    "Scan": (lambda _: {"TableName": "tasks"}, 5),
}


@pytest.mark.rule(59)
def test_every_paginator_gives_everything_once(client: Any) -> None:
    pages: Json = model("paginators-1")["pagination"]
    assert sorted(pages.keys() - PAGINATORS.keys()) == []
    for name, (prepare, least) in PAGINATORS.items():
        wanted = prepare(client)
        paginator = client.get_paginator(_snake(name))
        small = {} if "limit_key" not in pages[name] else {"PageSize": 2}
        key = pages[name]["result_key"]
        key = key[0] if isinstance(key, list) else key
        found = [
            json.dumps(each, default=str)
            for page in paginator.paginate(**wanted, PaginationConfig=small)
            for each in page[key]
        ]
        assert len(found) >= least, name
        assert len(set(found)) == len(found), name


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


@pytest.mark.rule(59)
def test_a_plain_table_is_described_in_every_way(client: Any) -> None:
    """Make the calls with which Terraform and similar tools read a new table."""
    table = {"TableName": "one-more"}
    arn = client.describe_table(**table)["Table"]["TableArn"]
    backups = client.describe_continuous_backups(**table)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "DISABLED"
    assert client.describe_time_to_live(**table)["TimeToLiveDescription"] == {"TimeToLiveStatus": "DISABLED"}
    assert client.list_tags_of_resource(ResourceArn=arn)["Tags"] == []
    assert client.describe_contributor_insights(**table)["ContributorInsightsStatus"] == "DISABLED"
    assert client.describe_kinesis_streaming_destination(**table)["KinesisDataStreamDestinations"] == []
    scaling = client.describe_table_replica_auto_scaling(**table)["TableAutoScalingDescription"]
    assert scaling == {"TableName": "one-more", "TableStatus": "ACTIVE", "Replicas": []}
    assert client.list_global_tables()["GlobalTables"] == []
    with pytest.raises(client.exceptions.PolicyNotFoundException):
        client.get_resource_policy(ResourceArn=arn)


@pytest.mark.rule(59)
def test_what_was_set_is_described_as_it_was_set(client: Any) -> None:
    """Write all settings of Terraform's `aws_dynamodb_table` and related resources, and read them as Terraform does."""
    made = {
        **TASKS,
        "TableName": "described",
        "Tags": [{"Key": "team", "Value": "a"}],
        "DeletionProtectionEnabled": True,
        "SSESpecification": {"Enabled": True, "SSEType": "KMS"},
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
    }
    client.create_table(**made)
    table = {"TableName": "described"}
    client.get_waiter("table_exists").wait(**table, WaiterConfig={"Delay": 0.01, "MaxAttempts": 6_000})
    recovery = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 3}
    client.update_continuous_backups(**table, PointInTimeRecoverySpecification=recovery)
    client.update_time_to_live(**table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ends"})
    client.update_contributor_insights(**table, ContributorInsightsAction="ENABLE")
    client.enable_kinesis_streaming_destination(**table, StreamArn=STREAM)
    found = client.describe_table(**table)["Table"]
    arn = found["TableArn"]
    policy = json.dumps({"Version": "2012-10-17", "Statement": [_allowed(arn)]})
    revision = client.put_resource_policy(ResourceArn=arn, Policy=policy)["RevisionId"]
    assert (found["TableStatus"], found["DeletionProtectionEnabled"]) == ("ACTIVE", True)
    assert found["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert (found["SSEDescription"]["Status"], found["SSEDescription"]["SSEType"]) == ("ENABLED", "KMS")
    assert found["StreamSpecification"] == made["StreamSpecification"]
    assert found["LatestStreamArn"].startswith(f"{arn}/stream/")
    assert (found["KeySchema"], found["BillingModeSummary"]["BillingMode"]) == (TASKS["KeySchema"], "PAY_PER_REQUEST")
    backups = client.describe_continuous_backups(**table)["ContinuousBackupsDescription"]
    window = backups["PointInTimeRecoveryDescription"]
    assert (window["PointInTimeRecoveryStatus"], window["RecoveryPeriodInDays"]) == ("ENABLED", 3)
    lives = client.describe_time_to_live(**table)["TimeToLiveDescription"]
    assert lives == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ends"}
    assert client.list_tags_of_resource(ResourceArn=arn)["Tags"] == made["Tags"]
    assert client.describe_contributor_insights(**table)["ContributorInsightsStatus"] == "ENABLED"
    (destination,) = client.describe_kinesis_streaming_destination(**table)["KinesisDataStreamDestinations"]
    assert (destination["StreamArn"], destination["DestinationStatus"]) == (STREAM, "ACTIVE")
    stored = client.get_resource_policy(ResourceArn=arn)
    assert (json.loads(stored["Policy"]), stored["RevisionId"]) == (json.loads(policy), revision)
    client.update_table(**table, DeletionProtectionEnabled=False)
    client.delete_table(**table)
    client.get_waiter("table_not_exists").wait(**table, WaiterConfig={"Delay": 0.01, "MaxAttempts": 6_000})


def _allowed(arn: str) -> Json:
    principal = {"AWS": "arn:aws:iam::000000000000:root"}
    return {"Effect": "Allow", "Principal": principal, "Action": "dynamodb:GetItem", "Resource": arn}


@pytest.mark.rule(59)
def test_no_table_is_a_global_one(client: Any) -> None:
    missing = client.exceptions.GlobalTableNotFoundException
    name = {"GlobalTableName": "tasks"}
    for call in (client.describe_global_table, client.describe_global_table_settings):
        with pytest.raises(missing, match="'tasks' does not exist"):
            call(**name)
    with pytest.raises(missing):
        client.update_global_table(**name, ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    with pytest.raises(missing):
        client.update_global_table_settings(**name, GlobalTableBillingMode="PAY_PER_REQUEST")
    group = [{"RegionName": "eu-west-1"}]
    with pytest.raises(client.exceptions.TableNotFoundException):
        client.create_global_table(GlobalTableName="nothing", ReplicationGroup=group)
    with pytest.raises(ClientError, match=r"ValidationException.*Replicas"):
        client.create_global_table(**name, ReplicationGroup=group)
    with pytest.raises(ClientError, match=r"ValidationException.*Replicas"):
        client.update_table_replica_auto_scaling(TableName="tasks")
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.describe_table_replica_auto_scaling(TableName="nothing")
