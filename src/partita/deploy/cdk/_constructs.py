"""The resources of a template as constructs: what `partita deploy synth` writes, inside your own stack."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from aws_cdk.aws_dynamodb import CfnTable
from aws_cdk.aws_iam import IManagedPolicy, ManagedPolicy
from aws_cdk.aws_lambda import CfnFunction
from aws_cdk.aws_sqs import CfnQueue
from aws_cdk.cloudformation_include import CfnInclude
from constructs import Construct

from partita import Table
from partita.deploy._compute import Compute
from partita.deploy._policy import AS_DECLARED, Json
from partita.deploy._resources import (
    SAFE,
    TableSettings,
    logical,
    queue_resources,
    table_resources,
)
from partita.deploy._roles import ROLES
from partita.deploy._template import template
from partita.queue import QueuePolicy
from partita.recipes import versioned
from partita.service import Service
from partita.store import TableNames


class DeclaredTable(Construct):
    """A declared table: keys, indexes, TTL and stream from the model, and alarms for throttling."""

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002 - CDK's own word for it
        table: Table,
        settings: TableSettings = SAFE,
        *,
        table_names: TableNames = AS_DECLARED,
    ) -> None:
        super().__init__(scope, id)
        resource = _include(self, {"Resources": table_resources(table.schema, settings, table_names)})
        self.resource: CfnTable = resource(logical(table.name))
        """The table itself, to be referenced or modified further."""


class VersionedTable(DeclaredTable):
    """The table of versioned data. Its history is valuable, so it can be restored, and outlives its stack."""

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002 - CDK's own word for it
        table: versioned.VersionedTable[..., Any],
        *,
        encryption: str = SAFE.encryption,
        tags: Mapping[str, str] = SAFE.tags,
        alarm_topic: str | None = None,
        table_names: TableNames = AS_DECLARED,
    ) -> None:
        settings = TableSettings(encryption=encryption, tags=tags, alarm_topic=alarm_topic)
        super().__init__(scope, id, table.form.schema.table, settings, table_names=table_names)


class DeclaredQueue(Construct):
    """A FIFO queue with its dead letter queue, and an alarm for dead letters."""

    def __init__(self, scope: Construct, id: str, name: str, policy: QueuePolicy | None = None) -> None:  # noqa: A002
        super().__init__(scope, id)
        resource = _include(self, {"Resources": queue_resources(name, policy or QueuePolicy())})
        self.resource: CfnQueue = resource(logical(name, "Queue"))
        self.dead_letters: CfnQueue = resource(logical(name, "DeadLetters"))


class DeployedService(Construct):
    """All tables, queues and alarms of a service, and a policy for each of its roles."""

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002 - CDK's own word for it
        service: Service,
        settings: TableSettings = SAFE,
        *,
        table_names: TableNames = AS_DECLARED,
        compute: Compute | None = None,
    ) -> None:
        super().__init__(scope, id)
        whole = template(service, settings, table_names=table_names, compute=compute)
        resource = _include(self, {name: whole[name] for name in ("Parameters", "Resources") if name in whole})
        self.tables: Mapping[str, CfnTable] = {table.name: resource(logical(table.name)) for table in service.tables}
        self.policies: Mapping[str, IManagedPolicy] = {
            role: ManagedPolicy.from_managed_policy_arn(self, role, resource(name).ref)
            for role in ROLES
            if (name := logical(role, "Policy")) in whole["Resources"]
        }
        """The policy of each role: `instance.role.add_managed_policy(todo.policies["request"])`."""
        self.functions: Mapping[str, CfnFunction] = {
            name.removesuffix("Function").lower(): resource(name)
            for name, each in whole["Resources"].items()
            if each["Type"] == "AWS::Lambda::Function"
        }
        """With compute on AWS Lambda: the functions for `request`, `worker` and `stream`."""


def _include(scope: Construct, fragment: Json) -> Callable[[str], Any]:
    """Create resources in a scope, and return a function that returns a resource by its logical name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fragment.json"
        path.write_bytes(msgspec.json.encode(fragment))
        included = CfnInclude(scope, "Resources", template_file=str(path), preserve_logical_ids=False)
    resource: Callable[[str], Any] = included.get_resource
    return resource
