"""`partita adopt`: what it prints, asks, writes and proves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.cli.conftest import Run

from partita import EmbeddedStore
from partita.cli import main
from partita.store import CreateTable, DeleteItem, IndexSchema, KeyAttribute, PutItem, TableSchema

SCHEMA = TableSchema(
    "people",
    KeyAttribute("pk"),
    KeyAttribute("sk"),
    (IndexSchema("by-city", (KeyAttribute("city"),)),),
    ttl="expires",
    stream="NEW_IMAGE",
)


def person(name: str, **others: Any) -> dict[str, Any]:
    return {"pk": f"PERSON#{name}", "sk": "PROFILE", "name": name, "city": "Bern", **others}


def put(folder: Path, *items: dict[str, Any]) -> None:
    with EmbeddedStore(folder / "partita.db", durable=False) as store:
        for item in items:
            store.execute(PutItem("people", item))


@pytest.fixture
def people(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a table of people; the working directory is another folder."""
    folder.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    with EmbeddedStore(folder / "partita.db", durable=False) as store:
        store.execute(CreateTable(SCHEMA))
    put(folder, *(person(name, age=30) for name in ("ada", "bob", "cyd l")))
    return folder


def test_a_model_is_written_and_proved(people: Path, run: Run) -> None:
    result = run("adopt", "people", "--yes")

    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert ["table", "people", "pk", "(S),", "sk", "(S)"] in lines
    assert ["index", "by-city", "city", "(S)"] in lines
    assert ["TTL", "expires"] in lines
    assert ["stream", "NEW_IMAGE"] in lines
    assert "A sample of 3 items will cost about 1.5 read units." in result.output
    assert "Read 3 items, the whole table, for 0.5 read units." in result.output
    assert "Wrote model.py." in result.output
    assert ["PersonProfile", "3", "by-city", "{city}"] in lines
    assert "Proved: All 3 items belong to one entity each, and are written back as they are stored." in result.output
    assert 'primary: ClassVar = Key("PERSON#{name}", "PROFILE")' in Path("model.py").read_text()


def answered(people: Path, answer: str) -> Result:
    return CliRunner().invoke(main, ["adopt", "people"], env={"PARTITA_DATA": str(people)}, input=answer)


def test_it_asks_before_it_reads(people: Path) -> None:
    refused = answered(people, "n\n")
    assert refused.exit_code == 1
    assert refused.output.index("will cost about") < refused.output.index("Read the sample?")
    assert "Read 3 items" not in refused.output
    assert not Path("model.py").exists()
    assert answered(people, "y\n").exit_code == 0


def test_a_sample_has_no_more_items_than_asked_for(people: Path, run: Run) -> None:
    assert "Read 2 items, a part of the table" in run("adopt", "people", "--yes", "--sample", "2").output


def test_the_proof_is_repeated_on_what_is_stored_later(people: Path, run: Run) -> None:
    run("adopt", "people", "--yes", "--out", "people.py")
    again = run("adopt", "--check", "people.py", "--yes")
    assert again.exit_code == 0, again.output
    assert "Proved: All 3 items" in again.output

    put(people, person("dan", age="old"), {"pk": "TEAM#1", "sk": "INFO"})
    failed = run("adopt", "--check", "people.py:TABLE", "--yes")
    assert failed.exit_code == 1
    assert "Not proved: 2 of 5 items." in failed.output
    assert "no entity claims it" in failed.output
    assert "PK" not in failed.output
    assert "pk='PERSON#dan', sk='PROFILE'" in failed.output
    assert "is not a valid PersonProfile" in failed.output


def test_what_the_model_cannot_say_is_said(people: Path, run: Run) -> None:
    put(people, person("eve", nick=None))
    result = run("adopt", "people", "--yes")
    assert result.exit_code == 0
    assert "Not in the model: PersonProfile: nick is always NULL" in result.output
    assert "# - PersonProfile: nick is always NULL" in Path("model.py").read_text()


def test_an_item_that_is_not_proved_makes_it_fail(people: Path, run: Run) -> None:
    put(people, *(person(f"p{number}", _type="person", age=1) for number in range(80)))
    result = run("adopt", "people", "--yes")
    assert result.exit_code == 1
    assert "Not proved: 3 of 83 items." in result.output
    assert "Items without _type, which belong to no entity: 3." in result.output


def test_a_few_odd_items_are_listed_and_the_others_proved(people: Path, run: Run) -> None:
    put(people, *(person(f"p{number}", age=1) for number in range(57)), {"pk": "lock", "sk": "job", "owner": "me"})
    result = run("adopt", "people", "--yes")
    assert result.exit_code == 1
    lines = [line.split() for line in result.output.splitlines()]
    assert ["PersonProfile", "60", "primary", "PERSON#{name}", "PROFILE"] in lines
    left_out = "1 item (pk='lock', sk='job') is left out: an entity with such keys could also have the keys of"
    assert f"Not in the model: {left_out} PersonProfile." in result.output
    assert left_out in " ".join(Path("model.py").read_text().replace("#   ", "").split())
    assert "Proved: 60 items belong to one entity each, and are written back as they are stored." in result.output
    assert "Not proved: 1 of 61 items." in result.output


def test_an_empty_table_teaches_nothing(people: Path, run: Run) -> None:
    with EmbeddedStore(people / "partita.db", durable=False) as store:
        for name in ("ada", "bob", "cyd l"):
            store.execute(DeleteItem("people", {"pk": f"PERSON#{name}", "sk": "PROFILE"}))
    result = run("adopt", "people", "--yes")
    assert result.exit_code == 1
    assert "will cost at most" in result.output
    assert "The table people has no items, so no model can be derived from it." in result.output


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "Give either a TABLE, or the file of a model with --check."),
        (["people", "--check", "x.py"], 2, "Give either a TABLE, or the file of a model with --check."),
        (["--check", "x.py"], 2, "The file x.py does not exist."),
        (["--check", "x.py:TABLE"], 2, "The file x.py does not exist."),
        (["people", "--out", "there.py"], 2, "there.py exists already. Choose another file with --out."),
        (["people", "--out", "nowhere/model.py"], 2, "The folder nowhere does not exist."),
        (["nobody", "--yes"], 1, "The store has no table nobody. Choose another store with --store or --data."),
        (["--check", "there.py"], 1, "Specify which table to use, as in there.py:TABLE; there is: none."),
        (["people", "--sample", "0"], 2, "0 is not in the range"),
    ],
)
def test_a_mistake_is_said_in_one_line(people: Path, run: Run, arguments: list[str], code: int, message: str) -> None:
    Path("there.py").write_text("")
    result = run("adopt", *arguments)
    assert result.exit_code == code, result.output
    assert message in result.output
    assert Path("there.py").read_text() == ""
