"""The proof of a model on its items, and the message if the proof fails."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.adopt.tables import TABLES, schema

from partita import Entity, Key, KeyFormat, Registry, Table
from partita.adopt import Difference, adopt_items, prove, prove_file, table_in_file
from partita.errors import ModelError, StoreFull

MODEL = """\
from typing import ClassVar
from partita import Entity, Key, Table

print("a module may print")
PEOPLE = Table("people")


class Person(Entity, table=PEOPLE):
    primary: ClassVar = Key("PERSON#{name}", "PERSON")
    name: str
    age: int
"""


def person(name: str, **others: Any) -> dict[str, Any]:
    return {"PK": f"PERSON#{name}", "SK": "PERSON", "name": name, **others}


@pytest.mark.parametrize("name", TABLES)
def test_every_model_is_proved_on_its_sample(name: str, tmp_path: Path) -> None:
    declared, items = TABLES[name]
    adoption = adopt_items(declared, items, tmp_path / "model.py")
    assert adoption.proof.differences == ()
    assert sum(adoption.proof.entities.values()) == len(items)
    assert adoption.proof.holds


def test_what_would_be_written_otherwise_is_listed(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    items = [
        person("ada", age=36),
        person("bob", age=37, shoe=b"\1"),
        person("cyd"),
        {"PK": "TEAM#1", "SK": "TEAM"},
    ]
    proof = prove_file(tmp_path / "model.py", items)

    assert (proof.table, proof.items, proof.entities, proof.holds) == ("people", 4, {"Person": 3}, False)
    dropped, invalid, unclaimed = proof.differences
    assert dropped == Difference("PK='PERSON#bob', SK='PERSON'", "Person", "shoe", '{"B":"AQ=="}', "(nothing)")
    assert (invalid.key, invalid.attribute) == ("PK='PERSON#cyd', SK='PERSON'", "")
    assert "is not a valid Person: age: Field required" in invalid.written
    assert unclaimed == Difference("PK='TEAM#1', SK='TEAM'", "", "", "", "no entity claims it")


def table() -> Table:
    table = Table(
        "table", hash="pk", range=None, keys=KeyFormat("|", values="raw"), type_attribute="t", registry=Registry()
    )

    class One(Entity, table=table, type_name="one"):
        primary: ClassVar = Key("A|{name}")
        name: str
        flag: int
        tags: list[str] = []  # noqa: RUF012 - Pydantic copies the default

    class Two(Entity, table=table, type_name="two"):
        primary: ClassVar = Key("A|{name}")
        name: str

    return table


def test_types_are_compared_and_not_only_values() -> None:
    stored = {"pk": "A|x", "t": "one", "name": "x", "flag": True}
    (flag, tags) = prove(table(), [stored]).differences
    assert (flag.attribute, flag.stored, flag.written) == ("flag", '{"BOOL":true}', '{"N":"1"}')
    assert (tags.attribute, tags.stored, tags.written) == ("tags", "(nothing)", '{"L":[]}')


def test_an_item_that_two_entities_claim_is_listed() -> None:
    (difference,) = prove(table(), [{"pk": "A|x", "name": "x"}]).differences
    assert difference.written == "claimed by One, Two"


def test_an_item_whose_fields_make_another_key_is_written_back_where_it_stands(tmp_path: Path) -> None:
    items = [{"pk": f"USER#n{number}", "sk": "INFO", "name": f"n{number}"} for number in range(40)]
    items[7]["name"] = "other"
    adoption = adopt_items(schema("table"), items, tmp_path / "model.py")
    assert adoption.draft.entities[0].keys[0].hash == "USER#{name}"
    assert adoption.proof.holds


def test_a_model_that_cannot_be_written_leaves_no_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    declared, items = TABLES["single"]
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(StoreFull, match=r"model\.py cannot be written"):
        adopt_items(declared, items, tmp_path / "model.py")
    assert list(tmp_path.iterdir()) == []


def test_the_table_in_a_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text('NAME = "people"\n')
    path = tmp_path / "model.py"
    path.write_text('from partita import Table\nfrom neighbour import NAME\nA = Table(NAME)\nB = Table("others")\n')
    assert table_in_file(path, "A") == "people"
    with pytest.raises(ModelError, match=r"Specify which table to use, as in model.py:TABLE; there is: A, B\."):
        table_in_file(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_like_it\n", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("x = 1\n", r"there is: none\."),
        ("def\n", "SyntaxError"),
        ('from partita import Table\nT = Table("x")\n', "'x' is not a valid name for a table or index"),
        ("import os\nos._exit(3)\n", "could not be proved: no reason was given"),
    ],
)
def test_a_file_that_is_not_a_model_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "model.py").write_text(text)
    with pytest.raises(ModelError, match=message):
        table_in_file(tmp_path / "model.py")
