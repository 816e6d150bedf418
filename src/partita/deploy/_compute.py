"""The common parts of functions and containers: their roles, their logs, and the secret that they share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from partita.deploy._policy import Json
from partita.deploy._resources import Resources, logical
from partita.deploy._roles import RoleName, needs
from partita.errors import OperationError
from partita.service import Service

SECRET: Final = "Secret"  # noqa: S105 - the logical name of one
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


class Functions(Struct, frozen=True):
    """Compute on AWS Lambda: a function for requests, one for messages, one for records."""

    lake: str | None = None
    """`s3://BUCKET/PREFIX` of the lake to which changes are written."""
    runtime: str = "python3.13"
    architecture: str = "arm64"
    memory: int = 1024
    """In MB, for each function; its CPU share is proportional to it."""
    request_seconds: int = 30
    worker_seconds: int = 60
    stream_seconds: int = 300
    every: str = "rate(1 minute)"
    """How often a worker does the work that no message triggers."""
    log_days: int = 30


class Containers(Struct, frozen=True):
    """Compute on Amazon ECS: Fargate tasks that serve requests and run workers in one container."""

    cpu: int = 512
    memory: int = 1024
    tasks: int = 2
    port: int = 8321
    log_days: int = 30


Compute: TypeAlias = Functions | Containers
"""The compute that runs the services: functions, or containers."""


class ComputeParts(Struct, frozen=True):
    """The parts that compute adds to a template."""

    resources: Resources = {}
    parameters: Resources = {}
    outputs: Resources = {}

    def __add__(self, other: ComputeParts) -> ComputeParts:
        """Return the parts of both."""
        return ComputeParts(
            self.resources | other.resources, self.parameters | other.parameters, self.outputs | other.outputs
        )


ISSUER_PARAMETERS: Final[Resources] = {
    "Issuer": {
        "Type": "String",
        "Default": "",
        "Description": "The OpenID Connect issuer whose tokens are accepted; if empty, tokens signed with the secret.",
    },
    "Audience": {"Type": "String", "Default": "", "Description": "The audience that the issuer's tokens must have."},
}


def sub(text: str) -> Json:
    """A string in which CloudFormation replaces `${…}`."""
    return {"Fn::Sub": text}


def attribute(name: str, of: str = "Arn") -> Json:
    """An attribute of a resource of the same template."""
    return {"Fn::GetAtt": [name, of]}


def allow(actions: Iterable[str], *resources: Any, **condition: Any) -> Json:
    """A statement of a policy."""
    statement: Json = {"Effect": "Allow", "Action": sorted(actions), "Resource": list(resources)}
    return {**statement, **({"Condition": condition} if condition else {})}


def secret(service: Service) -> Resources:
    """The secret that seals cursors and signs tokens, which all functions and tasks of the service share."""
    return {
        SECRET: {
            "Type": "AWS::SecretsManager::Secret",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {
                "Description": f"{service.title}: seals cursors and signs tokens.",
                "GenerateSecretString": {"PasswordLength": 64, "ExcludePunctuation": True},
            },
        }
    }


def log_group(days: int) -> Json:
    """The log group of a function or container, which is deleted with its stack."""
    return {
        "Type": "AWS::Logs::LogGroup",
        "DeletionPolicy": "Delete",
        "UpdateReplacePolicy": "Delete",
        "Properties": {"RetentionInDays": days},
    }


def may_log(group: str) -> Json:
    """Allow writing to this log group, and to no other."""
    return allow(("logs:CreateLogStream", "logs:PutLogEvents"), attribute(group))


def may_read_secret() -> Json:
    """Allow reading the secret of the installation."""
    return allow(("secretsmanager:GetSecretValue",), {"Ref": SECRET})


def role(principal: str, policies: Sequence[Json], statements: Sequence[Json], *managed: Any) -> Json:
    """A role that an AWS service assumes, with policies of this template and its own statements."""
    assumed = {"Effect": "Allow", "Principal": {"Service": principal}, "Action": "sts:AssumeRole"}
    document = {"Version": "2012-10-17", "Statement": list(statements)}
    properties: Json = {
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [assumed]},
        "ManagedPolicyArns": [*policies, *managed],
    }
    if statements:
        properties["Policies"] = [{"PolicyName": "own", "PolicyDocument": document}]
    return {"Type": "AWS::IAM::Role", "Properties": properties}


def policies_of(service: Service, *roles: RoleName) -> list[Json]:
    """The policies of these roles, as far as the service needs any."""
    return [{"Ref": logical(each, "Policy")} for each in roles if needs(service, each)]


def may_use_lake(address: str) -> list[Json]:
    """Allow reading and writing a lake on S3, and nothing else.

    Raises:
        OperationError: the address is not an S3 address.
    """
    parts = urlsplit(address)
    prefix = parts.path.strip("/")
    if parts.scheme != "s3" or not _BUCKET.fullmatch(parts.netloc) or parts.query or parts.fragment:
        raise OperationError(f"{address!r} is not the address of a lake on S3.", hint="Write s3://BUCKET/PREFIX.")
    bucket = f"arn:${{AWS::Partition}}:s3:::{parts.netloc}"
    objects = f"{bucket}/{prefix}/*" if prefix else f"{bucket}/*"
    listed = {"StringLike": {"s3:prefix": [f"{prefix}/*"]}} if prefix else {}
    return [
        allow(("s3:DeleteObject", "s3:GetObject", "s3:PutObject"), sub(objects)),
        allow(("s3:ListBucket",), sub(bucket), **listed),
    ]


def served(service: Service) -> bool:
    """Whether a service has routes or pages to serve."""
    return bool(service.router or service.site or service.pages)


def captured(service: Service) -> list[str]:
    """The tables whose changes can be written to a lake."""
    return [table.name for table in service.tables if table.schema.stream == "NEW_AND_OLD_IMAGES"]
