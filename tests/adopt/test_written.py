"""Tables that tools from npm have written: recorded once by the scripts in `written/`, adopted here."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.adopt.conftest import Server, recorded


@pytest.fixture
def electro(server: Server, written: Path) -> Server:
    server.create(*recorded(written / "electrodb.json"))
    return server


@pytest.fixture
def onetable(server: Server, written: Path) -> Server:
    server.create(*recorded(written / "onetable.json"))
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
    # One task has nobody assigned, and ElectroDB writes an empty value there: no template of ours does.
    assert [(key.hash, key.range) for key in task.keys] == [
        ("$planner#team_{team:lower}", "$task_1#project_{project:lower}#taskid_{task_id:lower}"),
        ("{gsi1pk}", "{gsi1sk}"),
    ]
    assert adoption.draft.notes[0].startswith("Task: no template of fields writes gsi1pk and gsi1sk of every item")


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


def test_an_update_of_an_item_of_onetable_is_as_onetable_writes_it(onetable: Server) -> None:
    onetable.adopt("onetable")
    before = onetable.item("onetable", pk="account#a1", sk="invoice#000001")
    onetable.run("db.run(update(db.run(invoice('a1', 1)), f(Invoice.status).set('open')))")
    after = onetable.item("onetable", pk="account#a1", sk="invoice#000001")
    assert after == {**before, "status": {"S": "open"}, "gs1pk": {"S": "invoice#open"}}
