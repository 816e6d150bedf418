"""The AWS CDK constructs: the same resources as in the templates, in a stack of the user."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import Struct

from partita.deploy import Functions, template
from partita_services.accounts.bootstrap import SERVICE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("deploy"), pytest.mark.req("A07")]

APP: Final = Path(__file__).with_name("cdk_app.py")
LOGICAL_NAME: Final = re.compile(r"ServiceResources(\w+)[0-9A-F]{8}")
"""CDK adds the path before a logical name, and a hash after it."""


class Synthesized(Struct):
    whole: dict[str, Any]
    parts: dict[str, Any]
    stage: dict[str, Any]
    functions: dict[str, Any]
    classes: list[str]


@pytest.fixture(scope="module")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """The output of the CDK app: run once, because it takes seconds to start, and without Node.js on the path."""
    folder = tmp_path_factory.mktemp("cdk")
    environment = {name: value for name, value in os.environ.items() if name != "JSII_NODE"} | {"PATH": str(folder)}
    command = [sys.executable, "-W", "error", str(APP), str(folder / "out")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Synthesized(**json.loads(done.stdout))


def test_a_service_is_what_its_template_says(synthesized: Synthesized) -> None:
    named = json.loads(LOGICAL_NAME.sub(r"\1", json.dumps(synthesized.whole)))
    server = next(name for name in named if name.startswith("Server"))
    assert named.pop(server)["Properties"]["ManagedPolicyArns"] == [{"Ref": "RequestPolicy"}]
    assert template(SERVICE)["Resources"] == named


def test_a_service_may_run_on_functions(synthesized: Synthesized) -> None:
    named = json.loads(LOGICAL_NAME.sub(r"\1", json.dumps(synthesized.functions)))
    made = template(SERVICE, compute=Functions())["Resources"]
    assert named.keys() == made.keys()
    assert named["RequestFunction"]["Properties"]["Handler"] == "partita.functions.http"
    assert named["RequestRole"] == made["RequestRole"]


def test_all_tables_and_queues_of_a_stage_have_its_names(synthesized: Synthesized) -> None:
    properties = [each["Properties"] for each in synthesized.stage.values()]
    names = [each[kind] for each in properties for kind in ("TableName", "QueueName") if kind in each]
    assert {name for name in names if not name.startswith("dev-")} == set()
    assert {"dev-accounts", "dev-todo-app-data", "dev-events.fifo", "dev-events-dead.fifo"} <= set(names)


def test_resources_are_of_cdks_own_classes(synthesized: Synthesized) -> None:
    assert synthesized.classes == ["CfnTable", "CfnTable", "CfnTable", "CfnQueue", "CfnQueue", "CfnFunction"]


def test_a_versioned_table_is_always_safe(synthesized: Synthesized) -> None:
    table = _named(synthesized, "accounts")
    properties = table["Properties"]
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain")
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert (properties["DeletionProtectionEnabled"], properties["BillingMode"]) == (True, "PAY_PER_REQUEST")
    assert properties["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}


def test_a_declared_table_is_kept_as_its_settings_say(synthesized: Synthesized) -> None:
    table = _named(synthesized, "todo-app-data")
    assert (table["DeletionPolicy"], table["Properties"]["DeletionProtectionEnabled"]) == ("Delete", False)
    assert [index["IndexName"] for index in table["Properties"]["GlobalSecondaryIndexes"]] == [
        "GSI1",
        "GSI2",
        "GSI3",
        "GSI4",
    ]


def test_an_index_has_all_its_attributes_in_order(synthesized: Synthesized) -> None:
    indexes = _named(synthesized, "orders")["Properties"]["GlobalSecondaryIndexes"]
    keys = {
        each["IndexName"]: [(key["AttributeName"], key["KeyType"]) for key in each["KeySchema"]] for each in indexes
    }
    assert keys == {
        "inverted": [("SK", "HASH"), ("PK", "RANGE")],
        "many": [("tenant", "HASH"), ("region", "HASH"), ("status", "RANGE"), ("cents", "RANGE")],
    }


def test_a_tag_of_the_stack_reaches_every_table(synthesized: Synthesized) -> None:
    tables = [_named(synthesized, name) for name in ("accounts", "todo-app-data")]
    assert [table["Properties"]["Tags"] for table in tables] == [[{"Key": "team", "Value": "north"}]] * 2


def _named(synthesized: Synthesized, table: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [
        each for each in synthesized.parts.values() if each["Properties"].get("TableName") == table
    ]
    return found[0]
