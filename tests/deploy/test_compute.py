"""Functions and containers that run a service on AWS: cfn-lint accepts them, and an emulator deploys them."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Iterator
from typing import Any

import boto3
import httpx
import pytest
from msgspec.structs import replace
from tests.deploy.linting import faults
from tests.functions.recorded import recorded
from tests.referee import ministack

from partita.deploy import DOCKERFILE, Compute, Containers, Functions, template
from partita.errors import OperationError
from partita.functions import FunctionSettings
from partita.functions._secret import secret_for
from partita.http import Caller, Identity, Role
from partita.service import Service, discover
from partita.store import TableNames

pytestmark = [pytest.mark.xdist_group("deploy"), pytest.mark.req("A07")]

SERVICES = {service.name: service for service in discover()}
LAKE = Functions(lake="s3://my-lake/partita")
WAIT_SECONDS = 120.0
OF_AWS = ("dynamodb", "sqs", "secretsmanager")


@pytest.mark.parametrize("compute", [LAKE, Containers()], ids=["lambda", "container"])
@pytest.mark.parametrize("name", SERVICES)
def test_cfn_lint_accepts_every_template(name: str, compute: Compute) -> None:
    made = template(SERVICES[name], compute=compute, table_names=TableNames(prefix="dev-"))
    assert faults(made) == []


def test_what_has_nothing_to_run_has_nothing_that_runs() -> None:
    without = tuple(table for table in SERVICES["accounts"].tables if table.schema.stream is None)
    idle = Service("idle", "Idle", "Only tables.", without)
    assert template(idle, compute=LAKE) == template(idle, compute=Containers()) == template(idle)


def statements(resources: dict[str, Any], role: str) -> list[tuple[list[str], list[Any]]]:
    """Return the actions and resources of a role's inline policy."""
    (own,) = resources[role]["Properties"]["Policies"]
    return [(each["Action"], each["Resource"]) for each in own["PolicyDocument"]["Statement"]]


def test_a_function_may_do_what_its_role_needs_and_nothing_else() -> None:
    resources = template(SERVICES["todo"], compute=LAKE)["Resources"]
    policies = {
        name: resources[f"{name}Role"]["Properties"]["ManagedPolicyArns"] for name in ("Request", "Worker", "Stream")
    }
    assert policies == {
        "Request": [{"Ref": "RequestPolicy"}],
        "Worker": [{"Ref": "WorkerPolicy"}],
        "Stream": [{"Ref": "CdcPolicy"}],
    }
    logs, secret = (
        ["logs:CreateLogStream", "logs:PutLogEvents"],
        (["secretsmanager:GetSecretValue"], [{"Ref": "Secret"}]),
    )
    for name in ("Request", "Worker"):
        assert statements(resources, f"{name}Role") == [(logs, [{"Fn::GetAtt": [f"{name}Logs", "Arn"]}]), secret]
    lake = "arn:${AWS::Partition}:s3:::my-lake"
    assert statements(resources, "StreamRole") == [
        (logs, [{"Fn::GetAtt": ["StreamLogs", "Arn"]}]),
        (["dynamodb:ListStreams"], ["*"]),
        (["sqs:SendMessage"], [{"Fn::GetAtt": ["StreamDeadLetters", "Arn"]}]),
        (["s3:DeleteObject", "s3:GetObject", "s3:PutObject"], [{"Fn::Sub": f"{lake}/partita/*"}]),
        (["s3:ListBucket"], [{"Fn::Sub": lake}]),
    ]


@pytest.mark.parametrize("address", ["/tmp/lake", "http://x/y", "s3://", "s3://UPPER/x", "s3://b/x?y=z"])  # noqa: S108
def test_a_lake_of_functions_is_on_s3(address: str) -> None:
    with pytest.raises(OperationError, match="Write s3://BUCKET/PREFIX"):
        template(SERVICES["todo"], compute=Functions(lake=address))


def test_records_that_fail_are_tried_again_until_the_stream_would_forget_them() -> None:
    source = template(SERVICES["todo"], compute=LAKE)["Resources"]["TodoAppDataSource"]["Properties"]
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert source["BisectBatchOnFunctionError"] is True
    assert source["TumblingWindowInSeconds"] > 0  # otherwise, events would not name their shard
    assert (source["MaximumRetryAttempts"], source["MaximumRecordAgeInSeconds"]) == (-1, 23 * 3600)
    assert source["DestinationConfig"]["OnFailure"]["Destination"] == {"Fn::GetAtt": ["StreamDeadLetters", "Arn"]}


@pytest.mark.parametrize("name", [name for name, service in SERVICES.items() if service.worker])
def test_every_queue_calls_the_worker_and_waits_for_it(name: str) -> None:
    resources = template(SERVICES[name], compute=Functions(worker_seconds=100))["Resources"]
    sources = [each["Properties"] for each in resources.values() if each["Type"] == "AWS::Lambda::EventSourceMapping"]
    assert len(sources) == len(SERVICES[name].queues)
    for source in sources:
        assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        queue = resources[source["EventSourceArn"]["Fn::GetAtt"][0]]["Properties"]
        assert queue["VisibilityTimeout"] >= 6 * resources["WorkerFunction"]["Properties"]["Timeout"] == 600
        assert "deadLetterTargetArn" in queue["RedrivePolicy"]


def resolved(variables: dict[str, Any]) -> dict[str, str]:
    """Return a function's environment with text in place of CloudFormation's references, as after a deployment."""
    made = {name: value if isinstance(value, str) else str(value) for name, value in variables.items()}
    return made | {"PARTITA_METRICS": "off"}


def test_functions_for_streams_alone_have_all_their_parameters() -> None:
    service = replace(SERVICES["todo"], router=None, site=None, pages=None, worker=None)
    made = template(service, compute=LAKE)
    assert "RequestFunction" not in made["Resources"]
    assert made["Resources"]["StreamFunction"]["Properties"]["Environment"]["Variables"]["PARTITA_METRICS"]
    assert faults(made) == []  # such as a reference to a parameter that is not declared


@pytest.mark.parametrize("name", ["Request", "Worker", "Stream"])
def test_a_function_reads_every_variable_that_its_template_sets(name: str) -> None:
    whole = template(SERVICES["todo"], compute=LAKE, table_names=TableNames(prefix="dev-"))
    declared = whole["Resources"][f"{name}Function"]["Properties"]["Environment"]["Variables"]
    assert declared["PARTITA_METRICS"] == {"Ref": "Metrics"}
    assert "Metrics" in whole["Parameters"]
    variables = resolved(declared)
    read: set[str] = set()

    class Watched(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:
            read.add(key)
            return super().get(key, default)

    settings = FunctionSettings.from_environment(Watched(variables))
    assert variables.keys() <= read
    assert (settings.services, settings.table_prefix) == (("todo",), "dev-")


def test_a_task_is_not_root_and_writes_to_its_data_alone() -> None:
    resources = template(SERVICES["events"], compute=Containers(tasks=3))["Resources"]
    (container,) = resources["Task"]["Properties"]["ContainerDefinitions"]
    assert (container["User"], container["ReadonlyRootFilesystem"]) == ("10001", True)
    assert container["Command"][:2] == ["serve", "events"]
    assert "--no-seed" in container["Command"]
    assert container["Secrets"] == [{"Name": "PARTITA_SECRET", "ValueFrom": {"Ref": "Secret"}}]
    assert resources["Tasks"]["Properties"]["DesiredCount"] == 3
    ((actions, (table,)),) = statements(resources, "TaskRole")
    assert (actions, resources[table["Fn::GetAtt"][0]]["Type"]) == (["dynamodb:Scan"], "AWS::DynamoDB::Table")


def test_the_image_installs_wheels_with_constraints_and_is_not_root() -> None:
    lines = [line.partition(" ") for line in DOCKERFILE.splitlines() if line and line[0] not in "# "]
    instructions = [name for name, _, _ in lines]
    assert instructions.index("USER") > instructions.index("RUN")
    assert "HEALTHCHECK" in instructions
    assert [said for name, _, said in lines if name == "USER"] == ["10001:10001"]
    assert "--constraint /build/constraints.txt /build/wheels/*.whl" in DOCKERFILE
    assert "--no-compile" not in DOCKERFILE  # bytecode is compiled in the image, because the file system is read-only
    assert all(":" in image.split()[0] and "latest" not in image for name, _, image in lines if name == "FROM")


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    others = ("apigateway", "cloudformation", "cloudwatch", "ecs", "events", "iam", "lambda", "logs", "s3")
    with ministack(tmp_path_factory.mktemp("ministack"), *others, "secretsmanager") as url:
        yield url


def client(endpoint: str, api: str) -> Any:
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return boto3.client(api, endpoint_url=endpoint, region_name="us-east-1", **keys)


def deploy(endpoint: str, name: str, compute: Compute, **parameters: str) -> dict[str, Any]:
    """Deploy a service whose functions call the emulator; return its physical resource names by logical name."""
    made = json.dumps(template(SERVICES[name], compute=compute))
    for api in OF_AWS:
        made = made.replace(json.dumps(f"https://{api}.${{AWS::Region}}.${{AWS::URLSuffix}}"), json.dumps(endpoint))
    stack = f"{name}-{type(compute).__name__.lower()}"
    cloudformation = client(endpoint, "cloudformation")
    given = [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
    cloudformation.create_stack(StackName=stack, TemplateBody=made, Parameters=given, Capabilities=["CAPABILITY_IAM"])
    cloudformation.get_waiter("stack_create_complete").wait(StackName=stack, WaiterConfig={"Delay": 0.2})
    found = cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
    return {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found}


@pytest.fixture(scope="module")
def code(endpoint: str) -> dict[str, str]:
    """The parameters of the code of functions: an empty archive, because the emulator uses the installed Partita."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("README", "")
    s3 = client(endpoint, "s3")
    s3.create_bucket(Bucket="code")
    s3.put_object(Bucket="code", Key="code.zip", Body=content.getvalue())
    return {"CodeBucket": "code", "CodeKey": "code.zip"}


def invoke(endpoint: str, function: str, event: dict[str, Any]) -> Any:
    response = client(endpoint, "lambda").invoke(FunctionName=function, Payload=json.dumps(event))
    payload = json.loads(response["Payload"].read())
    assert "FunctionError" not in response, payload
    return payload


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SERVICES if name != "events"])
def test_functions_that_were_deployed_run(name: str, endpoint: str, code: dict[str, str]) -> None:
    made = deploy(endpoint, name, LAKE, **code)
    event = recorded("function-url")
    event["requestContext"]["http"]["path"] = "/healthz"
    response = invoke(endpoint, made["RequestFunction"], event)
    assert (response["statusCode"], json.loads(response["body"])) == (200, {"status": "ok"})
    if SERVICES[name].worker is not None:
        assert invoke(endpoint, made["WorkerFunction"], recorded("schedule")) == {}


@pytest.mark.slow
def test_a_request_goes_through_the_api_and_the_queue_to_the_worker(endpoint: str, code: dict[str, str]) -> None:
    """A request goes from the API's address to a function, to SQS, and to the worker, which decides it."""
    made = deploy(endpoint, "events", Functions(), **code)
    value = client(endpoint, "secretsmanager").get_secret_value(SecretId=made["Secret"])["SecretString"]
    identity = Identity(secret_for("tokens", value.encode()))
    host = {"Host": f"{made['Api']}.execute-api.localhost:{endpoint.rpartition(':')[2]}"}
    draft = {
        "name": "Concert",
        "eventType": "FIRST_COME",
        "capacityTotal": 1,
        "opensAt": "2026-01-01T11:00:00Z",
        "closesAt": "2126-01-01T12:30:00Z",
    }
    with httpx.Client(base_url=f"{endpoint}/events/api", headers=host, timeout=60) as api:

        def ask(method: str, path: str, caller: Caller, **body: Any) -> Any:
            response = api.request(method, path, headers={"Authorization": f"Bearer {identity.token(caller)}"}, **body)
            assert response.is_success, response.text
            return response.json()

        event = ask("POST", "/events", Caller("olga", Role.OPERATOR), json=draft)["eventId"]
        request = ask("POST", f"/events/{event}/requests", Caller("ann"))["requestId"]
        deadline = time.monotonic() + WAIT_SECONDS
        while (found := ask("GET", f"/requests/{request}", Caller("ann")))["status"] != "SUCCEEDED":
            assert time.monotonic() < deadline, found
            time.sleep(0.2)


@pytest.mark.slow
def test_containers_are_deployed(endpoint: str) -> None:
    parameters = {
        "Image": "registry.test/events:1",
        "Cluster": "default",
        "Subnets": "subnet-1,subnet-2",
        "SecurityGroups": "sg-1",
        "TargetGroup": "arn:aws:elasticloadbalancing:us-east-1:000000000000:targetgroup/events/1",
    }
    made = deploy(endpoint, "countries", Containers(), **parameters)
    task = client(endpoint, "ecs").describe_task_definition(taskDefinition=made["Task"])["taskDefinition"]
    assert (task["networkMode"], task["containerDefinitions"][0]["name"]) == ("awsvpc", "countries")
