"""CloudFormation resources: a declared table with its alarms, and a queue with its dead letters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from partita.deploy._policy import AS_DECLARED, Json, queue_name
from partita.deploy._roles import Resource
from partita.errors import ModelError
from partita.queue import QueuePolicy
from partita.store import TableNames, TableSchema, table_definition

Resources: TypeAlias = dict[str, Json]
"""Resources of a template by their logical names."""

METRICS: Final = "Partita"
"""The CloudWatch namespace of a service's own metrics."""
OVER_BUDGET: Final = "partita_over_budget_total"

_KEPT_SECONDS: Final = 14 * 24 * 60 * 60
_MINUTE: Final = 60
_WORD_BREAK: Final = re.compile(r"[^A-Za-z0-9]+")


class Provisioned(Struct, frozen=True):
    """Provisioned capacity, which costs the same whether it is used or not, of a table and each global index."""

    read: int
    write: int


class TableSettings(Struct, frozen=True):
    """The settings of a table. The defaults are safe: nothing is lost by mistake, and capacity follows the load."""

    capacity: Provisioned | Literal["on-demand"] = "on-demand"
    recovery: bool = True
    """Whether the table can be restored to any second of the last 35 days."""
    protected: bool = True
    """Whether deleting the table is refused."""
    retained: bool = True
    """Whether the table is kept when it is removed from its stack."""
    encryption: str = "aws-owned"
    """The key that encrypts the table: `aws-owned`, `aws-managed`, or the ARN of your own key."""
    tags: Mapping[str, str] = {}
    alarm_topic: str | None = None
    """The ARN of the SNS topic to which alarms are sent."""


SAFE: Final = TableSettings()


def logical(name: str, suffix: str = "") -> str:
    """The logical name for a name: `TodoAppData` for `todo-app-data`."""
    return "".join(word[:1].upper() + word[1:] for word in _WORD_BREAK.split(name)) + suffix


def table_resources(
    schema: TableSchema, settings: TableSettings = SAFE, table_names: TableNames = AS_DECLARED
) -> Resources:
    """A table, with alarms for throttling of the table and of its global indexes.

    Its logical name comes from the declared name in every stage; only its name in DynamoDB differs.
    """
    policy = "Retain" if settings.retained else "Delete"
    table: Json = {
        "Type": "AWS::DynamoDB::Table",
        "DeletionPolicy": policy,
        "UpdateReplacePolicy": policy,
        "Properties": _table_properties(replace(schema, name=table_names.stored(schema.name)), settings),
    }
    name = logical(schema.name)
    alarms = {
        f"{name}{logical(index or '')}{units}Throttles": _throttle_alarm(
            {"Ref": name}, index, units, settings.alarm_topic
        )
        for index in (None, *(index.name for index in schema.indexes if not index.local))
        for units in ("Read", "Write")
    }
    return {name: table, **alarms}


def queue_resources(
    name: str, policy: QueuePolicy, *, alarm_topic: str | None = None, table_names: TableNames = AS_DECLARED
) -> Resources:
    """A FIFO queue, its dead letter queue, and an alarm for dead letters."""
    own, dead = Resource("queue", name), Resource("dead letters", name)
    queue, letters = logical(name, "Queue"), logical(name, "DeadLetters")
    redrive = {"deadLetterTargetArn": {"Fn::GetAtt": [letters, "Arn"]}, "maxReceiveCount": policy.max_receives}
    return {
        queue: _queue(queue_name(own, table_names), RedrivePolicy=redrive),
        letters: _queue(queue_name(dead, table_names)),
        f"{letters}Found": dead_letter_alarm(letters, "A message failed too often.", alarm_topic=alarm_topic),
    }


def dead_letter_alarm(queue: str, description: str, *, alarm_topic: str | None = None) -> Json:
    """An alarm that fires if a queue of the template has messages."""
    metric = {
        "Namespace": "AWS/SQS",
        "MetricName": "ApproximateNumberOfMessagesVisible",
        "Dimensions": [{"Name": "QueueName", "Value": {"Fn::GetAtt": [queue, "QueueName"]}}],
        "Statistic": "Maximum",
        "Period": _MINUTE,
    }
    return _alarm(description, alarm_topic, **metric)


def budget_alarm(service: str, *, alarm_topic: str | None = None) -> Json:
    """An alarm that fires if an access pattern of a service exceeded its budget."""
    metric = {"Namespace": METRICS, "MetricName": OVER_BUDGET, "Dimensions": [{"Name": "job", "Value": service}]}
    what = "An access pattern consumed more than its declared budget."
    return _alarm(what, alarm_topic, **metric, Statistic="Sum", Period=5 * _MINUTE)


def _table_properties(schema: TableSchema, settings: TableSettings) -> Json:
    properties = table_definition(schema)
    if schema.stream is not None:
        properties["StreamSpecification"] = {"StreamViewType": schema.stream}
    if schema.ttl is not None:
        properties["TimeToLiveSpecification"] = {"AttributeName": schema.ttl, "Enabled": True}
    properties["PointInTimeRecoverySpecification"] = {"PointInTimeRecoveryEnabled": settings.recovery}
    properties["DeletionProtectionEnabled"] = settings.protected
    properties |= dict(_encryption(settings.encryption))
    if isinstance(settings.capacity, Provisioned):
        if schema.vectors:
            message = f"The table {schema.name!r} has vector indexes, which DynamoDB supports on demand only."
            raise ModelError(message, hint='Leave its capacity at "on-demand".')
        _provision(properties, settings.capacity)
    if settings.tags:
        properties["Tags"] = [{"Key": key, "Value": value} for key, value in settings.tags.items()]
    return properties


def _provision(properties: Json, capacity: Provisioned) -> None:
    throughput = {"ReadCapacityUnits": capacity.read, "WriteCapacityUnits": capacity.write}
    properties["BillingMode"] = "PROVISIONED"
    properties["ProvisionedThroughput"] = throughput
    for index in properties.get("GlobalSecondaryIndexes", ()):
        index["ProvisionedThroughput"] = throughput


def _encryption(choice: str) -> Iterator[tuple[str, Json]]:
    if choice == "aws-managed":
        yield "SSESpecification", {"SSEEnabled": True, "SSEType": "KMS"}
    elif choice != "aws-owned":
        yield "SSESpecification", {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": choice}


def _throttle_alarm(table: Json, index: str | None, units: str, topic: str | None) -> Json:
    dimensions: list[Json] = [{"Name": "TableName", "Value": table}]
    if index is not None:
        dimensions.append({"Name": "GlobalSecondaryIndexName", "Value": index})
    metric = {"Namespace": "AWS/DynamoDB", "MetricName": f"{units}ThrottleEvents", "Dimensions": dimensions}
    return _alarm("Requests are refused for lack of capacity.", topic, **metric, Statistic="Sum", Period=_MINUTE)


def _alarm(description: str, topic: str | None, **watched: Any) -> Json:
    properties: Json = {
        "AlarmDescription": description,
        "ComparisonOperator": "GreaterThanThreshold",
        "Threshold": 0,
        "EvaluationPeriods": 1,
        "TreatMissingData": "notBreaching",
        **watched,
    }
    if topic is not None:
        properties["AlarmActions"] = [topic]
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}


def _queue(name: str, **properties: Json) -> Json:
    return {
        "Type": "AWS::SQS::Queue",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "QueueName": name,
            "FifoQueue": True,
            "DeduplicationScope": "messageGroup",
            "FifoThroughputLimit": "perMessageGroupId",
            "MessageRetentionPeriod": _KEPT_SECONDS,
            **properties,
        },
    }
