"""The CloudFormation template of a service: its tables, its queues, its alarms, and a policy for each role."""

from __future__ import annotations

from typing import Final

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


def template(service: Service, settings: TableSettings = SAFE, *, table_names: TableNames = AS_DECLARED) -> Json:
    """All that a service needs in an account of AWS, besides something to run it on.

    Raises:
        ModelError: a pattern does not say what it sends. OperationError: a table has no name among those given.
    """
    policies = _policies(service)
    return {
        "AWSTemplateFormatVersion": VERSION,
        "Description": f"{service.title}: {service.summary}",
        "Resources": _data_resources(service, settings, table_names) | policies,
        "Outputs": {
            f"{name}Arn": {"Description": each["Properties"]["Description"], "Value": {"Ref": name}}
            for name, each in policies.items()
        },
    }


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
    """A resource of the same template; a key of KMS is one of the same account."""
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
