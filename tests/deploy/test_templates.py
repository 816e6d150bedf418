"""Every template passes cfn-lint and can be deployed with CloudFormation, and its service runs on the result."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from tests.deploy.journeys import JOURNEYS
from tests.deploy.linting import faults
from tests.deploy.running import Site, Visit
from tests.referee import ministack

from partita import AsyncSession, Index, LocalIndex, Registry, Table
from partita._aws._http_transport import HttpTransport
from partita._aws._transport import HttpRequest, HttpResponse
from partita.cli.data._tables import differences
from partita.deploy import ROLES, Provisioned, TableSettings, arns_in, needs, policy, template
from partita.deploy._resources import table_resources
from partita.queue import Acknowledge, Create, GetStats, Postpone, Receive, Send
from partita.queue.sqs import SqsQueue
from partita.service import discover
from partita.store import DescribeTable, TableNames
from partita.store.remote import Credentials, Limits, RemoteStore

pytestmark = [pytest.mark.xdist_group("deploy"), pytest.mark.req("A07")]

SERVICES = {service.name: service for service in discover()}
STREAM_LABEL = re.compile(r"stream/[^\"]+")
CHOSEN = TableSettings(
    capacity=Provisioned(5, 2),
    recovery=False,
    protected=False,
    retained=False,
    encryption="aws-managed",
    tags={"team": "north"},
    alarm_topic="arn:aws:sns:eu-north-1:123456789012:alarms",
)
SHELVES = Table(
    "shelves",
    hash=("number", "N"),
    indexes=[Index("GSI1", projection=("colour",)), LocalIndex("LSI1", projection="KEYS_ONLY")],
    ttl="gone",
    stream="NEW_IMAGE",
    registry=Registry(),
)


@pytest.mark.parametrize(("name", "settings"), [*((name, TableSettings()) for name in SERVICES), ("todo", CHOSEN)])
def test_cfn_lint_accepts_every_template(name: str, settings: TableSettings) -> None:
    assert faults(template(SERVICES[name], settings)) == []


def test_a_template_with_a_mistake_is_not_accepted() -> None:
    made = template(SERVICES["todo"])
    table = next(each for each in made["Resources"].values() if each["Type"] == "AWS::DynamoDB::Table")
    table["Properties"]["BillingMode"] = "FREE"
    assert any("'FREE' is not one of" in fault for fault in faults(made))
    assert faults(template(SERVICES["todo"])) == []


@pytest.mark.parametrize("name", SERVICES)
def test_the_template_of_a_stage_differs_in_names_alone(name: str) -> None:
    usual, stage = template(SERVICES[name]), template(SERVICES[name], table_names=TableNames(prefix="dev-"))
    assert faults(stage) == []
    for resource in (each["Properties"] for each in stage["Resources"].values()):
        for kind in {"TableName", "QueueName"} & resource.keys():
            assert resource[kind].startswith("dev-")
            resource[kind] = resource[kind].removeprefix("dev-")
    assert stage == usual


def test_a_table_may_have_any_name_in_a_stage() -> None:
    names = TableNames({"shelves": "shelves-of-2024"})
    assert table_resources(SHELVES.schema, CHOSEN, names)["Shelves"]["Properties"]["TableName"] == "shelves-of-2024"


def test_a_table_is_safe_unless_said_otherwise() -> None:
    table = table_resources(SHELVES.schema)["Shelves"]
    assert table == {
        "Type": "AWS::DynamoDB::Table",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "TableName": "shelves",
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [
                {"AttributeName": "number", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
            "AttributeDefinitions": [
                {"AttributeName": "number", "AttributeType": "N"},
                {"AttributeName": "SK", "AttributeType": "S"},
                {"AttributeName": "GSI1PK", "AttributeType": "S"},
                {"AttributeName": "GSI1SK", "AttributeType": "S"},
                {"AttributeName": "LSI1SK", "AttributeType": "S"},
            ],
            "LocalSecondaryIndexes": [
                {
                    "IndexName": "LSI1",
                    "KeySchema": [
                        {"AttributeName": "number", "KeyType": "HASH"},
                        {"AttributeName": "LSI1SK", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "GSI1",
                    "KeySchema": [
                        {"AttributeName": "GSI1PK", "KeyType": "HASH"},
                        {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["colour"]},
                }
            ],
            "StreamSpecification": {"StreamViewType": "NEW_IMAGE"},
            "TimeToLiveSpecification": {"AttributeName": "gone", "Enabled": True},
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
            "DeletionProtectionEnabled": True,
        },
    }


def test_every_setting_of_a_table_can_be_chosen() -> None:
    resources = table_resources(SHELVES.schema, CHOSEN)
    table, units = resources["Shelves"], {"ReadCapacityUnits": 5, "WriteCapacityUnits": 2}
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Delete", "Delete")
    properties = table["Properties"]
    assert properties["BillingMode"] == "PROVISIONED"
    assert [properties["ProvisionedThroughput"], properties["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]] == [
        units,
        units,
    ]
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": False}
    assert properties["DeletionProtectionEnabled"] is False
    assert properties["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}
    assert properties["Tags"] == [{"Key": "team", "Value": "north"}]
    alarms = [each for each in resources.values() if each["Type"] == "AWS::CloudWatch::Alarm"]
    assert [alarm["Properties"]["AlarmActions"] for alarm in alarms] == [[CHOSEN.alarm_topic]] * 4


def test_a_key_of_your_own_may_encrypt_a_table() -> None:
    key = "arn:aws:kms:eu-north-1:123456789012:key/1"
    properties = table_resources(SHELVES.schema, TableSettings(encryption=key))["Shelves"]["Properties"]
    assert properties["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}


def test_throttles_are_watched_on_the_table_and_on_each_global_index() -> None:
    alarms = {
        name: (each["Properties"]["MetricName"], [d["Value"] for d in each["Properties"]["Dimensions"]])
        for name, each in table_resources(SHELVES.schema).items()
        if each["Type"] == "AWS::CloudWatch::Alarm"
    }
    table = {"Ref": "Shelves"}
    assert alarms == {
        "ShelvesReadThrottles": ("ReadThrottleEvents", [table]),
        "ShelvesWriteThrottles": ("WriteThrottleEvents", [table]),
        "ShelvesGSI1ReadThrottles": ("ReadThrottleEvents", [table, "GSI1"]),
        "ShelvesGSI1WriteThrottles": ("WriteThrottleEvents", [table, "GSI1"]),
    }


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A separate emulator with CloudFormation, because other tests create the same tables on the shared one."""
    with ministack(tmp_path_factory.mktemp("ministack"), "cloudformation", "cloudwatch", "iam") as url:
        yield url


@pytest.fixture(scope="module")
def deployed(endpoint: str) -> Iterator[RemoteStore]:
    """A store whose tables were created by the templates."""
    cloudformation = _client(endpoint, "cloudformation")
    for name, service in SERVICES.items():
        cloudformation.create_stack(
            StackName=_stack(name), TemplateBody=json.dumps(template(service)), Capabilities=["CAPABILITY_IAM"]
        )
        cloudformation.get_waiter("stack_create_complete").wait(StackName=_stack(name), WaiterConfig={"Delay": 0.1})
    with RemoteStore(endpoint, credentials=Credentials("test", "test")) as store:
        yield store


def _stack(service: str) -> str:
    """Return the name of a service's stack, which must not contain underscores."""
    return service.replace("_", "-")


def _client(endpoint: str, api: str) -> Any:
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return boto3.client(api, endpoint_url=endpoint, region_name="us-east-1", **keys)


@pytest.mark.parametrize("name", SERVICES)
def test_a_deployed_table_is_as_it_is_declared(name: str, deployed: RemoteStore) -> None:
    for table in SERVICES[name].tables:
        found = differences(table.schema, deployed.execute(DescribeTable(table.name)).schema)
        # The emulator sets the TTL of a table only by its own API call.
        assert [each.what for each in found if each.what != f"TTL {table.schema.ttl} is not set"] == []


class Noting(HttpTransport):
    """A transport that records which API calls are sent."""

    def __init__(self) -> None:
        super().__init__(Limits())
        self.names: set[str] = set()

    def send(self, call: HttpRequest) -> HttpResponse:
        self.names.add(call.headers["X-Amz-Target"].partition(".")[2])
        return super().send(call)

    async def send_async(self, call: HttpRequest) -> HttpResponse:
        self.names.add(call.headers["X-Amz-Target"].partition(".")[2])
        return await super().send_async(call)


TRANSACTIONS = {"TransactGetItems", "TransactWriteItems"}
"""Calls that need the permissions of their parts instead of one of their own."""


@pytest.mark.parametrize("name", JOURNEYS)
async def test_a_service_runs_on_what_was_deployed_by_calls_that_its_policies_allow(
    name: str, deployed: RemoteStore, endpoint: str, site: Site
) -> None:
    service, journey, noting = SERVICES[name], JOURNEYS[name](site.clock), Noting()
    await AsyncSession(deployed).create_tables(service.tables)
    db = site.session(deployed)
    journey.prepare(db)
    with (
        RemoteStore(endpoint, credentials=Credentials("test", "test"), transport=noting) as store,
        site.resources(service, journey) as resources,
        site.projection(service, deployed) as projection,
    ):
        async with site.client(service, store, resources, projection) as api:
            work = site.worker(service, store, resources)
            await journey.walk(Visit(api, site.clock, work, db, site.queues))
    allowed = {need.action.partition(":")[2] for role in ("request", "worker") for need in needs(service, role)}
    assert noting.names - TRANSACTIONS <= allowed


@pytest.mark.parametrize("name", [name for name, service in SERVICES.items() if service.queues])
def test_a_queue_that_was_deployed_is_used_by_the_calls_that_a_worker_may_make(
    name: str, deployed: RemoteStore, endpoint: str
) -> None:
    service = SERVICES[name]
    called: set[str] = set()
    for queue_name, queue_policy in service.queues.items():
        noting = Noting()
        with SqsQueue(
            queue_name, endpoint, policy=queue_policy, credentials=Credentials("test", "test"), transport=noting
        ) as queue:
            queue.execute(Create())
            queue.execute(Send("{}", "group", "once"))
            (message,) = queue.execute(Receive())
            queue.execute(Postpone((message.receipt,), 30))
            queue.execute(Acknowledge((message.receipt,)))
            queue.execute(GetStats())
        called |= {call.removesuffix("Batch") for call in noting.names}
    actions = {need.action for need in needs(service, "worker")}
    allowed = {action.partition(":")[2] for action in actions if action.startswith("sqs:")}
    assert called == allowed


@pytest.mark.parametrize("name", SERVICES)
def test_the_policies_of_a_stack_are_those_of_its_roles(name: str, deployed: RemoteStore, endpoint: str) -> None:
    stack = _client(endpoint, "cloudformation").describe_stacks(StackName=_stack(name))["Stacks"][0]
    iam = _client(endpoint, "iam")
    found = {}
    for output in stack["Outputs"]:
        version = iam.get_policy(PolicyArn=output["OutputValue"])["Policy"]["DefaultVersionId"]
        document = iam.get_policy_version(PolicyArn=output["OutputValue"], VersionId=version)["PolicyVersion"]
        found[output["OutputKey"]] = json.loads(STREAM_LABEL.sub("stream/*", json.dumps(document["Document"])))
    roles = {role: needs(SERVICES[name], role) for role in ROLES}
    arns = arns_in("us-east-1", "000000000000")
    assert {f"{role.title()}PolicyArn": policy(needed, arns) for role, needed in roles.items() if needed} == found
