"""The CloudFormation template of a service: its tables, its queues, its alarms, and a policy for each role."""

from __future__ import annotations

from typing import Final

from partita.deploy._compute import Compute, ComputeParts, Containers, Functions
from partita.deploy._containers import containers
from partita.deploy._functions import functions, give_time
from partita.deploy._policy import AS_DECLARED, Json, policy
from partita.deploy._resources import (
    SAFE,
    Resources,
    TableSettings,
    budget_alarm,
    logical,
    queue_resources,
    table_resources,
)
from partita.deploy._roles import ROLES, Resource, RoleName, needs
from partita.service import Service
from partita.store import TableNames

VERSION: Final = "2010-09-09"


def template(
    service: Service,
    settings: TableSettings = SAFE,
    *,
    table_names: TableNames = AS_DECLARED,
    compute: Compute | None = None,
) -> Json:
    """Return a template with everything that a service needs in an AWS account.

    Args:
        service: the service.
        settings: the settings of its tables.
        table_names: the names of the tables in DynamoDB.
        compute: functions or containers that run the service. None if it runs on your own machines.

    Raises:
        ModelError: a pattern does not declare which requests it sends. OperationError: `table_names` has no name for
            a table, or the lake's address is not an S3 address.
    """
    policies = _policies(service)
    parts = _compute(service, compute, table_names, settings.alarm_topic)
    data = _data_resources(service, settings, table_names)
    if isinstance(compute, Functions) and service.worker is not None:
        give_time(data, tuple(service.queues), compute)
    outputs = {
        f"{name}Arn": {"Description": each["Properties"]["Description"], "Value": {"Ref": name}}
        for name, each in policies.items()
    }
    return {
        "AWSTemplateFormatVersion": VERSION,
        "Description": f"{service.title}: {service.summary}",
        **({"Parameters": parts.parameters} if parts.parameters else {}),
        "Resources": data | policies | parts.resources,
        "Outputs": outputs | parts.outputs,
    }


def _compute(service: Service, compute: Compute | None, names: TableNames, topic: str | None) -> ComputeParts:
    match compute:
        case Functions():
            return functions(service, compute, names, alarm_topic=topic)
        case Containers():
            return containers(service, compute, names)
        case _:
            return ComputeParts()


def _data_resources(service: Service, settings: TableSettings, names: TableNames) -> Resources:
    resources: Resources = {}
    for table in service.tables:
        resources |= table_resources(table.schema, settings, names)
    for name, queue_policy in service.queues.items():
        resources |= queue_resources(name, queue_policy, alarm_topic=settings.alarm_topic, table_names=names)
    return resources | {"BudgetsExceeded": budget_alarm(service.name, alarm_topic=settings.alarm_topic)}


def _policies(service: Service) -> Resources:
    documents: dict[RoleName, Json] = {role: policy(needs(service, role), reference) for role in ROLES}
    return {
        logical(role, "Policy"): _managed_policy(service, role, document)
        for role, document in documents.items()
        if document["Statement"]
    }


def _managed_policy(service: Service, role: RoleName, document: Json) -> Json:
    description = f"{service.title}, {role}: {ROLES[role]}"
    return {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {"Description": description, "PolicyDocument": document},
    }


def reference(resource: Resource) -> Json:
    """A reference to a resource of the same template; for a KMS key, an ARN in the same account."""
    match resource.kind:
        case "key":
            return {"Fn::Sub": f"arn:${{AWS::Partition}}:kms:${{AWS::Region}}:${{AWS::AccountId}}:key/{resource.name}"}
        case "table":
            return {"Fn::GetAtt": [logical(resource.name), "Arn"]}
        case "index":
            return {"Fn::Sub": f"${{{logical(resource.name)}.Arn}}/index/{resource.index}"}
        case "stream":
            return {"Fn::GetAtt": [logical(resource.name), "StreamArn"]}
        case "queue":
            return {"Fn::GetAtt": [logical(resource.name, "Queue"), "Arn"]}
        case _:
            return {"Fn::GetAtt": [logical(resource.name, "DeadLetters"), "Arn"]}
