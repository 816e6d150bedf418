"""A task of Amazon ECS that serves a service, and the Dockerfile of its image."""

from __future__ import annotations

from typing import Final

from partita.deploy._compute import (
    ISSUER_PARAMETERS,
    SECRET,
    ComputeParts,
    Containers,
    allow,
    attribute,
    log_group,
    may_log,
    may_read_secret,
    policies_of,
    role,
    secret,
    served,
    sub,
)
from partita.deploy._policy import Json
from partita.deploy._resources import Resources, logical
from partita.service import Service
from partita.store import TableNames

PRINCIPAL: Final = "ecs-tasks.amazonaws.com"
USER: Final = "10001"
"""A user id without an account on the host, and not root."""

DOCKERFILE: Final = f"""\
# The image of services, for `partita deploy synth --compute container`. The folder of this file must contain
#   wheels/*.whl      your wheels, and those of Partita: pip wheel --no-deps --wheel-dir wheels .
#   constraints.txt   the versions of everything else
FROM python:3.13-slim AS build
COPY constraints.txt /build/
COPY wheels/ /build/wheels/
RUN python -m venv /app \\
    && /app/bin/pip install --no-cache-dir --constraint /build/constraints.txt /build/wheels/*.whl \\
       'partita[aws,serve]'

FROM python:3.13-slim
COPY --from=build /app /app
RUN mkdir --mode 0700 /data && chown {USER}:{USER} /data
USER {USER}:{USER}
ENV PATH=/app/bin:$PATH PYTHONUNBUFFERED=1 PARTITA_DATA=/data
VOLUME /data
EXPOSE 8321
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \\
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8321/healthz', timeout=4)"]
ENTRYPOINT ["partita"]
CMD ["serve", "--all", "--host", "0.0.0.0"]
"""
"""The Dockerfile of an image with services."""

_PARAMETERS: Final[Resources] = {
    "Image": {"Type": "String", "Description": "The image built with the Dockerfile, by its digest or tag."},
    "Cluster": {"Type": "String", "Description": "The ECS cluster."},
    "Subnets": {"Type": "List<AWS::EC2::Subnet::Id>", "Description": "The subnets in which the tasks run."},
    "SecurityGroups": {"Type": "List<AWS::EC2::SecurityGroup::Id>", "Description": "The tasks' security groups."},
    "TargetGroup": {"Type": "String", "Description": "The ARN of the load balancer's target group, of type ip."},
    "AllowedHosts": {"Type": "String", "Default": "*", "Description": "The host names that the service accepts."},
}


def containers(service: Service, compute: Containers, names: TableNames) -> ComputeParts:
    """A task that serves and runs workers, and the ECS service that runs it; nothing if there is nothing to serve."""
    if not served(service):
        return ComputeParts()
    resources = {
        **secret(service),
        "TaskLogs": log_group(compute.log_days),
        "TaskRole": role(PRINCIPAL, policies_of(service, "request", "worker", "cdc"), _filling(service)),
        "ExecutionRole": role(PRINCIPAL, [], [may_log("TaskLogs"), may_read_secret(), *_PULLING]),
        "Task": _task(service, compute, names),
        "Tasks": _tasks(service, compute),
    }
    return ComputeParts(resources, _PARAMETERS | ISSUER_PARAMETERS)


_PULLING: Final = (
    allow(
        ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
        sub("arn:${AWS::Partition}:ecr:${AWS::Region}:${AWS::AccountId}:repository/*"),
    ),
    allow(("ecr:GetAuthorizationToken",), "*"),  # this action does not accept a narrower resource
)


def _filling(service: Service) -> list[Json]:
    """Allow a task to scan: it fills its own projection file when it starts, unless the stream has only keys."""
    if service.projection is None or service.projection.table.schema.stream == "KEYS_ONLY":
        return []
    return [allow(("dynamodb:Scan",), attribute(logical(service.projection.table.name)))]


def _task(service: Service, compute: Containers, names: TableNames) -> Json:
    return {
        "Type": "AWS::ECS::TaskDefinition",
        "Properties": {
            "RequiresCompatibilities": ["FARGATE"],
            "NetworkMode": "awsvpc",
            "Cpu": str(compute.cpu),
            "Memory": str(compute.memory),
            "TaskRoleArn": attribute("TaskRole"),
            "ExecutionRoleArn": attribute("ExecutionRole"),
            "Volumes": [{"Name": "data"}],
            "ContainerDefinitions": [_container(service, compute, names)],
        },
    }


def _container(service: Service, compute: Containers, names: TableNames) -> Json:
    health = f"import urllib.request as u; u.urlopen('http://127.0.0.1:{compute.port}/healthz', timeout=4)"
    workers = "1" if service.worker is not None else "0"
    return {
        "Name": service.name,
        "Image": {"Ref": "Image"},
        "Command": [
            *("serve", service.name, "--host", "0.0.0.0", "--port", str(compute.port)),  # noqa: S104 - behind a balancer
            *("--workers", workers, "--processes", "1", "--no-seed"),  # a service has more tasks, not larger ones
        ],
        "User": USER,
        "ReadonlyRootFilesystem": True,
        "MountPoints": [{"SourceVolume": "data", "ContainerPath": "/data"}],
        "PortMappings": [{"ContainerPort": compute.port, "Protocol": "tcp"}],
        "StopTimeout": 60,
        "HealthCheck": {
            "Command": ["CMD", "python", "-c", health],
            "Interval": 10,
            "Timeout": 5,
            "Retries": 3,
            "StartPeriod": 60,
        },
        "Environment": [{"Name": name, "Value": value} for name, value in _environment(service, names).items()],
        "Secrets": [{"Name": "PARTITA_SECRET", "ValueFrom": {"Ref": SECRET}}],
        "LogConfiguration": {
            "LogDriver": "awslogs",
            "Options": {
                "awslogs-group": {"Ref": "TaskLogs"},
                "awslogs-region": {"Ref": "AWS::Region"},
                "awslogs-stream-prefix": service.name,
            },
        },
    }


def _environment(service: Service, names: TableNames) -> dict[str, str | Json]:
    given: dict[str, str | Json] = {
        "PARTITA_STORE": sub("dynamodb://${AWS::Region}"),
        "PARTITA_QUEUE": sub("sqs://${AWS::Region}"),
        "PARTITA_ALLOWED_HOSTS": {"Ref": "AllowedHosts"},
        "PARTITA_ISSUER": {"Ref": "Issuer"},
        "PARTITA_AUDIENCE": {"Ref": "Audience"},
    }
    if names.prefix:
        given["PARTITA_TABLE_PREFIX"] = names.prefix
    if service.encryption_key is not None:
        given["PARTITA_KEYS"] = f"kms:{service.encryption_key}"
    return given


def _tasks(service: Service, compute: Containers) -> Json:
    return {
        "Type": "AWS::ECS::Service",
        "Properties": {
            "Cluster": {"Ref": "Cluster"},
            "TaskDefinition": {"Ref": "Task"},
            "LaunchType": "FARGATE",
            "DesiredCount": compute.tasks,
            "DeploymentConfiguration": {
                "DeploymentCircuitBreaker": {"Enable": True, "Rollback": True},
                "MinimumHealthyPercent": 100,
                "MaximumPercent": 200,
            },
            "HealthCheckGracePeriodSeconds": 60,
            "NetworkConfiguration": {
                "AwsvpcConfiguration": {
                    "Subnets": {"Ref": "Subnets"},
                    "SecurityGroups": {"Ref": "SecurityGroups"},
                    "AssignPublicIp": "DISABLED",
                }
            },
            "LoadBalancers": [
                {
                    "ContainerName": service.name,
                    "ContainerPort": compute.port,
                    "TargetGroupArn": {"Ref": "TargetGroup"},
                }
            ],
        },
    }
