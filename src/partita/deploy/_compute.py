"""What functions and containers have in common: their roles, their logs, the secret that they share."""

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
    """`s3://BUCKET/PREFIX` that changes are brought into."""
    runtime: str = "python3.13"
    architecture: str = "arm64"
    memory: int = 1024
    """In MB, for each function; the processor grows with it."""
    request_seconds: int = 30
    worker_seconds: int = 60
    stream_seconds: int = 300
    every: str = "rate(1 minute)"
    """How often a worker does what no message asks for."""
    log_days: int = 30


class Containers(Struct, frozen=True):
    """Compute on Amazon ECS: a task of Fargate that serves, and works, in one container."""

    cpu: int = 512
    memory: int = 1024
    tasks: int = 2
    port: int = 8321
    log_days: int = 30


Compute: TypeAlias = Functions | Containers
"""What runs the services: functions, or containers."""


class ComputeParts(Struct, frozen=True):
    """What compute adds to a template."""

    resources: Resources = {}
    parameters: Resources = {}
    outputs: Resources = {}

    def __add__(self, other: ComputeParts) -> ComputeParts:
        """Both."""
        return ComputeParts(
            self.resources | other.resources, self.parameters | other.parameters, self.outputs | other.outputs
        )


ISSUER_PARAMETERS: Final[Resources] = {
    "Issuer": {
        "Type": "String",
        "Default": "",
        "Description": "The OpenID Connect issuer whose tokens are taken; those of the secret where there is none.",
    },
    "Audience": {"Type": "String", "Default": "", "Description": "What the issuer's tokens must be meant for."},
}


def sub(text: str) -> Json:
    """Text in which CloudFormation replaces `${…}`."""
    return {"Fn::Sub": text}


def attribute(name: str, of: str = "Arn") -> Json:
    """An attribute of a resource of the same template."""
    return {"Fn::GetAtt": [name, of]}


def allow(actions: Iterable[str], *resources: Any, **condition: Any) -> Json:
    """A statement of a policy."""
    statement: Json = {"Effect": "Allow", "Action": sorted(actions), "Resource": list(resources)}
    return {**statement, **({"Condition": condition} if condition else {})}


def secret(service: Service) -> Resources:
    """The secret that seals cursors and signs tokens: the same for all that run the service."""
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
    """Where a function or container logs to. It goes with its stack."""
    return {
        "Type": "AWS::Logs::LogGroup",
        "DeletionPolicy": "Delete",
        "UpdateReplacePolicy": "Delete",
        "Properties": {"RetentionInDays": days},
    }


def may_log(group: str) -> Json:
    """To write to a log group, and to no other."""
    return allow(("logs:CreateLogStream", "logs:PutLogEvents"), attribute(group))


def may_read_secret() -> Json:
    """To read the secret of the installation."""
    return allow(("secretsmanager:GetSecretValue",), {"Ref": SECRET})


def role(principal: str, policies: Sequence[Json], statements: Sequence[Json], *managed: Any) -> Json:
    """A role that a service of AWS assumes, with policies of this template and statements of its own."""
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
    """The policies of roles, as far as a service has them."""
    return [{"Ref": logical(each, "Policy")} for each in roles if needs(service, each)]


def may_use_lake(address: str) -> list[Json]:
    """To read and write a lake on S3, and nothing beside it.

    Raises:
        OperationError: the address is not one of S3.
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
    """Whether a service has anything to answer requests with."""
    return bool(service.router or service.site or service.pages)


def captured(service: Service) -> list[str]:
    """The tables whose changes can be brought into a lake."""
    return [table.name for table in service.tables if table.schema.stream == "NEW_AND_OLD_IMAGES"]
