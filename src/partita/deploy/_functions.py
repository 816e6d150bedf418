"""AWS Lambda functions of a service: their event sources, their permissions, and where failed events go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from partita.deploy._compute import (
    ISSUER_PARAMETERS,
    SECRET,
    ComputeParts,
    Functions,
    allow,
    attribute,
    captured,
    log_group,
    may_log,
    may_read_secret,
    may_use_lake,
    policies_of,
    role,
    secret,
    served,
    sub,
)
from partita.deploy._policy import Json
from partita.deploy._resources import Resources, dead_letter_alarm, logical
from partita.service import Service
from partita.store import TableNames

PRINCIPAL: Final = "lambda.amazonaws.com"
WINDOW_SECONDS: Final = 300
"""The tumbling window. It is needed only because without one, events do not name their shard."""
RECORD_SECONDS: Final = 23 * 60 * 60
"""Records that fail for this long go to the dead letters, an hour before the stream itself drops them."""
_MESSAGES: Final = 10
_RECORDS: Final = 1_000
_KEPT_SECONDS: Final = 14 * 24 * 60 * 60

_PARAMETERS: Final[Resources] = {
    "CodeBucket": {"Type": "String", "Description": "The bucket with the code."},
    "CodeKey": {"Type": "String", "Description": "The key of its zip file; docs/lambda.md says how to build the file."},
    "Metrics": {
        "Type": "String",
        "Default": "off",
        "AllowedValues": ["off", "emf"],
        "Description": "Whether functions log figures, such as consumed capacity, which become CloudWatch metrics.",
    },
}


def functions(
    service: Service, compute: Functions, names: TableNames, *, alarm_topic: str | None = None
) -> ComputeParts:
    """All functions of a service; nothing if the service has nothing to run.

    Raises:
        OperationError: the address of the lake is not an S3 address.
    """
    parts = ComputeParts()
    if served(service):
        parts += _requests(service, compute, names)
    if service.worker is not None:
        parts += _worker(service, compute, names)
    if parts.resources:
        parts += ComputeParts(secret(service), ISSUER_PARAMETERS)
    if compute.lake is not None and captured(service):
        parts += _stream(service, compute, names, compute.lake)
        parts.resources["StreamDeadLettersFound"] = dead_letter_alarm(
            "StreamDeadLetters", "Changes failed for too long: rebuild the lake.", alarm_topic=alarm_topic
        )
    return parts + ComputeParts(parameters=_PARAMETERS) if parts.resources else parts


def _requests(service: Service, compute: Functions, names: TableNames) -> ComputeParts:
    own = [may_log("RequestLogs"), may_read_secret()]
    arn = attribute("RequestFunction")
    resources = {
        "RequestFunction": _function("Request", "http", compute.request_seconds, service, compute, names),
        "RequestRole": role(PRINCIPAL, policies_of(service, "request"), own),
        "RequestLogs": log_group(compute.log_days),
        "Api": {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Name": service.title, "ProtocolType": "HTTP"}},
        "ApiIntegration": {
            "Type": "AWS::ApiGatewayV2::Integration",
            "Properties": {
                "ApiId": {"Ref": "Api"},
                "IntegrationType": "AWS_PROXY",
                "IntegrationUri": arn,
                "PayloadFormatVersion": "2.0",
            },
        },
        "ApiRoute": {
            "Type": "AWS::ApiGatewayV2::Route",
            "Properties": {
                "ApiId": {"Ref": "Api"},
                "RouteKey": "$default",
                "Target": {"Fn::Join": ["/", ["integrations", {"Ref": "ApiIntegration"}]]},
            },
        },
        "ApiStage": {
            "Type": "AWS::ApiGatewayV2::Stage",
            "Properties": {"ApiId": {"Ref": "Api"}, "StageName": "$default", "AutoDeploy": True},
        },
        "ApiPermission": _permission(
            "RequestFunction",
            "apigateway.amazonaws.com",
            sub("arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*"),
        ),
    }
    url = {"Description": f"{service.title}: the URL of the API.", "Value": attribute("Api", "ApiEndpoint")}
    return ComputeParts(resources, outputs={"Url": url})


def _worker(service: Service, compute: Functions, names: TableNames) -> ComputeParts:
    own = [may_log("WorkerLogs"), may_read_secret()]
    resources = {
        "WorkerFunction": _function("Worker", "worker", compute.worker_seconds, service, compute, names),
        "WorkerRole": role(PRINCIPAL, policies_of(service, "worker"), own),
        "WorkerLogs": log_group(compute.log_days),
        "WorkerSchedule": {
            "Type": "AWS::Events::Rule",
            "Properties": {
                "Description": f"{service.title}: work that no message triggers.",
                "ScheduleExpression": compute.every,
                "Targets": [{"Id": "worker", "Arn": attribute("WorkerFunction"), "RetryPolicy": _ONCE}],
            },
        },
        "WorkerSchedulePermission": _permission("WorkerFunction", "events.amazonaws.com", attribute("WorkerSchedule")),
    }
    return ComputeParts(resources | dict(_message_sources(service)))


_ONCE: Final = {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}
"""No retries: the next scheduled event comes soon."""


def _message_sources(service: Service) -> Iterator[tuple[str, Json]]:
    """Event sources for the queues. A queue itself moves messages that fail too often to its dead letters."""
    for name in service.queues:
        yield (
            logical(name, "Source"),
            {
                "Type": "AWS::Lambda::EventSourceMapping",
                "Properties": {
                    "EventSourceArn": attribute(logical(name, "Queue")),
                    "FunctionName": {"Ref": "WorkerFunction"},
                    "BatchSize": _MESSAGES,
                    "FunctionResponseTypes": ["ReportBatchItemFailures"],
                },
            },
        )


def _stream(service: Service, compute: Functions, names: TableNames, lake: str) -> ComputeParts:
    own = [
        may_log("StreamLogs"),
        allow(("dynamodb:ListStreams",), "*"),  # this action does not accept a narrower resource
        allow(("sqs:SendMessage",), attribute("StreamDeadLetters")),
        *may_use_lake(lake),
    ]
    function = _function("Stream", "stream", compute.stream_seconds, service, compute, names)
    function["Properties"]["ReservedConcurrentExecutions"] = 1  # a lake has one writer
    letters = {"MessageRetentionPeriod": _KEPT_SECONDS, "SqsManagedSseEnabled": True}
    resources = {
        "StreamFunction": function,
        "StreamRole": role(PRINCIPAL, policies_of(service, "cdc"), own),
        "StreamLogs": log_group(compute.log_days),
        "StreamDeadLetters": {
            "Type": "AWS::SQS::Queue",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": letters,
        },
    }
    return ComputeParts(resources | {logical(name, "Source"): _record_source(name) for name in captured(service)})


def _record_source(table: str) -> Json:
    return {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": {
            "EventSourceArn": attribute(logical(table), "StreamArn"),
            "FunctionName": {"Ref": "StreamFunction"},
            "StartingPosition": "TRIM_HORIZON",
            "BatchSize": _RECORDS,
            "MaximumBatchingWindowInSeconds": 5,
            "TumblingWindowInSeconds": WINDOW_SECONDS,
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
            "BisectBatchOnFunctionError": True,
            "MaximumRetryAttempts": -1,
            "MaximumRecordAgeInSeconds": RECORD_SECONDS,
            "DestinationConfig": {"OnFailure": {"Destination": attribute("StreamDeadLetters")}},
        },
    }


def _function(name: str, handler: str, seconds: int, service: Service, compute: Functions, names: TableNames) -> Json:
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Description": f"{service.title}: {handler}.",
            "Handler": f"partita.functions.{handler}",
            "Role": attribute(f"{name}Role"),
            "Code": {"S3Bucket": {"Ref": "CodeBucket"}, "S3Key": {"Ref": "CodeKey"}},
            "Runtime": compute.runtime,
            "Architectures": [compute.architecture],
            "MemorySize": compute.memory,
            "Timeout": seconds,
            "LoggingConfig": {"LogFormat": "JSON", "LogGroup": {"Ref": f"{name}Logs"}},
            "Environment": {"Variables": dict(_environment(name, service, compute, names))},
        },
    }


def _environment(
    name: str, service: Service, compute: Functions, names: TableNames
) -> Iterator[tuple[str, str | Json]]:
    yield "PARTITA_SERVICES", service.name
    yield "PARTITA_STORE", sub("https://dynamodb.${AWS::Region}.${AWS::URLSuffix}")
    if names.prefix:
        yield "PARTITA_TABLE_PREFIX", names.prefix
    if service.encryption_key is not None:
        yield "PARTITA_KEYS", f"kms:{service.encryption_key}"
    yield "PARTITA_METRICS", {"Ref": "Metrics"}
    if name == "Stream":
        yield "PARTITA_LAKE", compute.lake or ""
        return
    yield "PARTITA_QUEUE", sub("https://sqs.${AWS::Region}.${AWS::URLSuffix}")
    yield "PARTITA_SECRET_ID", {"Ref": SECRET}
    yield "PARTITA_SECRET_ENDPOINT", sub("https://secretsmanager.${AWS::Region}.${AWS::URLSuffix}")
    if name == "Request":
        yield "PARTITA_ISSUER", {"Ref": "Issuer"}
        yield "PARTITA_AUDIENCE", {"Ref": "Audience"}


def _permission(function: str, principal: str, source: Json) -> Json:
    return {
        "Type": "AWS::Lambda::Permission",
        "Properties": {
            "Action": "lambda:InvokeFunction",
            "FunctionName": {"Ref": function},
            "Principal": principal,
            "SourceArn": source,
        },
    }


def give_time(resources: Mapping[str, Json], queues: Sequence[str], compute: Functions) -> None:
    """Set the visibility timeout of queues to six times the timeout of the worker function, as AWS recommends."""
    for name in queues:
        resources[logical(name, "Queue")]["Properties"]["VisibilityTimeout"] = 6 * compute.worker_seconds
