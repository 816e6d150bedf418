"""`partita points`: continuous backups, and tables restored to an instant."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from tests.cli.conftest import Run

from partita import EmbeddedStore
from partita.cli._instant import Instant
from partita.store import CreateTable, KeyAttribute, PutItem, ScanTable, SetRecovery, TableSchema
from partita.testing import FakeClock


@pytest.fixture
def then(folder: Path) -> str:
    """An instant at which the table had one of its three items."""
    folder.mkdir()
    clock = FakeClock(time.time() - 1_000)
    with EmbeddedStore(folder / "partita.db", clock=clock, durable=False) as store:
        store.execute(CreateTable(TableSchema("notes", KeyAttribute("id"), ttl="until")))
        store.execute(SetRecovery("notes", 7))
        store.execute(PutItem("notes", {"id": "first"}))
        clock.advance(10)
        at = datetime.fromtimestamp(clock(), UTC).isoformat()
        clock.advance(10)
        for name in ("second", "third"):
            store.execute(PutItem("notes", {"id": name}))
    return at


def names(folder: Path, table: str) -> list[str]:
    with EmbeddedStore(folder / "partita.db") as store:
        return sorted(item["id"] for item in store.execute(ScanTable(table)).items)


@pytest.mark.rule(61)
def test_a_table_is_restored_to_an_instant(run: Run, folder: Path, then: str) -> None:
    result = run("points", "restore", "notes", "notes-then", "--at", then)
    assert (result.exit_code, names(folder, "notes-then"), names(folder, "notes")) == (
        0,
        ["first"],
        ["first", "second", "third"],
    )
    assert "notes-then: 1 items of notes" in result.output
    assert run("points", "restore", "notes", "latest").exit_code == 0
    assert names(folder, "latest") == ["first", "second", "third"]


def test_what_is_kept_is_listed(run: Run, folder: Path, then: str) -> None:
    assert names(folder, "notes")
    assert "notes  7" in run("points", "list").output
    (found,) = json.loads(run("points", "list", "--json").output)
    assert (found["days"], found["records"], found["log_bytes"] > 0) == (7, 3, True)
    assert "no longer recorded" in run("points", "disable", "notes").output
    assert run("points", "list").output.splitlines()[1].split() == ["notes", "off"]
    assert "last 1 day is" in run("points", "enable", "notes", "--days", "1").output


def test_mistakes_are_told_in_one_line(run: Run, then: str) -> None:
    early = run("points", "restore", "notes", "again", "--at", "2001-01-01T00:00:00Z")
    assert (early.exit_code, "can be read. It can be read from" in early.output) == (1, True)
    assert run("points", "restore", "nothing", "again").exit_code == 1
    assert run("points", "restore", "notes", "notes", "--at", then).exit_code == 1
    assert "is not an instant such as" in run("points", "restore", "notes", "again", "--at", "noon").output


def test_an_instant_may_be_a_time_ago() -> None:
    read = Instant().convert("1.5h ago", None, None)
    assert 5_399 < time.time() - read < 5_460
    assert Instant().convert("1970-01-01T01:00:00", None, None) == 3_600.0
    with pytest.raises(click.BadParameter):
        Instant().convert("1 week ago", None, None)
