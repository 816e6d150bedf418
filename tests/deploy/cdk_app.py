"""An AWS CDK app with every construct, which prints the synthesized resources and the classes of the constructs."""

from __future__ import annotations

import json
import sys

# Import this before anything of CDK, which starts Node.js: this selects the Node.js of the extra `cdk`.
from partita.deploy.cdk import DeclaredQueue, DeclaredTable, DeployedService, VersionedTable

# isort: split
from aws_cdk import App, Stack, Tags
from aws_cdk.aws_iam import Role, ServicePrincipal

from partita import Index, Registry, Table, TableNames
from partita.deploy import Functions, TableSettings
from partita_services.accounts.bootstrap import SERVICE
from partita_services.accounts.model import ACCOUNTS
from partita_services.events.bootstrap import SERVICE as EVENTS
from partita_services.todo.model import TABLE

ORDERS = Table(
    "orders",
    indexes=[
        Index("inverted", hash="SK", range="PK"),
        Index("many", hash=["tenant", "region"], range=["status", ("cents", "N")]),
    ],
    registry=Registry(),
)


def main(folder: str) -> None:
    """Synthesize four stacks: a whole service with a role, single constructs, prefixed table names, and functions."""
    app = App(outdir=folder)
    whole, parts = Stack(app, "whole"), Stack(app, "parts")
    service = DeployedService(whole, "Service", SERVICE)
    server = Role(whole, "Server", assumed_by=ServicePrincipal("ec2.amazonaws.com"))  # pyright: ignore[reportArgumentType]
    server.add_managed_policy(service.policies["request"])

    tasks = DeclaredTable(parts, "Tasks", TABLE, TableSettings(protected=False, retained=False))
    DeclaredTable(parts, "Orders", ORDERS)
    accounts = VersionedTable(parts, "Accounts", ACCOUNTS, encryption="aws-managed")
    stage = Stack(app, "stage")
    names = TableNames(prefix="dev-")
    DeclaredTable(stage, "DeclaredTable", TABLE, table_names=names)
    VersionedTable(stage, "VersionedTable", ACCOUNTS, table_names=names)
    DeployedService(stage, "DeployedService", EVENTS, table_names=names)
    functions = DeployedService(Stack(app, "functions"), "Service", SERVICE, compute=Functions()).functions
    queue = DeclaredQueue(parts, "Queue", "requests")
    Tags.of(parts).add("team", "north")
    made = (
        service.tables["accounts"],
        tasks.resource,
        accounts.resource,
        queue.resource,
        queue.dead_letters,
        *functions.values(),
    )

    assembly = app.synth()
    found = {
        name: assembly.get_stack_by_name(name).template["Resources"]
        for name in ("whole", "parts", "stage", "functions")
    }
    sys.stdout.write(json.dumps({**found, "classes": [type(each).__name__ for each in made]}))


main(sys.argv[1])
