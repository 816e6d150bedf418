"""`partita migrate`: counting the items of each version, and rewriting old ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fastapi import APIRouter
from msgspec.structs import replace
from tests.cli.conftest import Run
from tests.recipes.accounts import ACCOUNTS, FIRST, TABLES, FirstAccount, mapped

from partita import EmbeddedStore, Session
from partita.cli._data_folder import DataFolder
from partita.cli._names import ServiceName
from partita.cli.model import _migrate
from partita.cli.model._migrate import migrate
from partita.recipes.versioned._backfill import PAGE, BackfillProgress, backfill_page
from partita.service import Service
from partita.store import ListTables

pytestmark = pytest.mark.req("A06")

BANK = Service("bank", "Bank", "Accounts of three generations.", tuple(TABLES), APIRouter)


@pytest.fixture
def bank(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """A function that runs `partita migrate` on a service with items of several versions."""
    monkeypatch.setattr(ServiceName, "convert", lambda *_: BANK)

    def run(*arguments: str, input: str | None = None) -> Result:  # noqa: A002 - click's name for it
        environment = {"PARTITA_DATA": str(folder)}
        return CliRunner().invoke(migrate, [*arguments, "bank"], env=environment, input=input)

    return run


@pytest.fixture
def db(folder: Path) -> Iterator[Session]:
    folder.mkdir()
    with EmbeddedStore(DataFolder(folder).database, durable=False) as store:
        session = Session(store)
        session.create_tables(TABLES)
        yield session


def insert_old(db: Session, count: int) -> None:
    for number in range(count):
        db.run(FIRST.insert(FirstAccount(pk=f"old{number}", owner="Ada", balance=number)))


def test_status_shows_each_version(bank: Callable[..., Result], db: Session) -> None:
    insert_old(db, 2)
    db.run(ACCOUNTS.insert(mapped()))
    assert bank("status").output.splitlines() == [
        "ENTITY   DATA VERSION  ITEMS",
        "Account  1             2      old",
        "Account  3             1      current",
    ]
    (count,) = json.loads(bank("status", "--json").output)
    assert count["items"] == {"1": 2, "3": 1}


@pytest.mark.parametrize("command", ["status", "backfill"])
def test_a_service_without_versioned_tables_is_reported(
    command: str, folder: Path, db: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServiceName, "convert", lambda *_: replace(BANK, tables=()))
    ran = CliRunner().invoke(migrate, [command, "bank"], env={"PARTITA_DATA": str(folder)})
    assert (ran.exit_code, ran.output.splitlines()[-1]) == (0, "There are no versioned tables.")


def test_a_backfill_shows_its_cost_first_and_asks(bank: Callable[..., Result], db: Session) -> None:
    insert_old(db, 2)
    refused = bank("backfill", input="n\n")
    assert "Account: 2 of 2 items are older than data version 3." in refused.output
    assert "takes about 4 WCU and, at 100 WCU per second, 0 s. " not in refused.output
    assert "takes about 4 WCU and, at 100 WCU per second, 0 s." in refused.output
    assert "old" in bank("status").output
    accepted = bank("backfill", "--wcu", "1e9", input="y\n")
    assert "Account: 2 rewritten." in accepted.output
    assert "old" not in bank("status").output
    again = bank("backfill")
    assert again.output == "Account: none of 2 items is older than data version 3.\n"


def test_a_backfill_goes_on_where_it_was_stopped(
    bank: Callable[..., Result], db: Session, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert_old(db, PAGE + 1)
    pages = iter([backfill_page])

    def one_page(*arguments: Any, **settings: Any) -> Any:
        page = next(pages, None)
        if page is None:
            raise KeyboardInterrupt
        return page(*arguments, **settings)

    with monkeypatch.context() as patched:
        patched.setattr(_migrate, "backfill_page", one_page)
        assert bank("backfill", "--yes", "--wcu", "1e9").exit_code == 1
    assert [path.name for path in folder.glob("backfill-*")] == ["backfill-accounts-account.json"]
    resumed = bank("backfill", "--yes", "--wcu", "1e9")
    assert f"Continuing an earlier run, after {PAGE} items." in resumed.output
    assert f"Account: {PAGE + 1} rewritten." in resumed.output
    assert list(folder.glob("backfill-*")) == []


def test_each_stage_goes_on_where_it_was_stopped(folder: Path) -> None:
    paths = [_migrate._progress_file(DataFolder(folder, prefix=prefix), ACCOUNTS) for prefix in ("", "dev-")]
    assert [path.name for path in paths] == ["backfill-accounts-account.json", "backfill-dev-accounts-account.json"]


@pytest.mark.parametrize("kept", [b"", b"{}", b'{"data_version": 2, "position": {"PK": {"S": "x"}}}'])
def test_what_was_kept_of_another_version_or_is_damaged_is_not_used(
    bank: Callable[..., Result], db: Session, folder: Path, kept: bytes
) -> None:
    insert_old(db, 1)
    (folder / "backfill-accounts-account.json").write_bytes(kept)
    result = bank("backfill", "--yes", "--wcu", "1e9")
    assert "Continuing" not in result.output
    assert "Account: 1 rewritten." in result.output


def test_newer_and_overtaken_items_are_mentioned() -> None:
    done = BackfillProgress(3, rewritten=1, newer=2, overtaken=3)
    assert _migrate._summary(ACCOUNTS, done) == (
        "Account: 1 rewritten, 2 newer not touched, 3 changed meanwhile by old code (run the backfill again)."
    )


@pytest.mark.parametrize("command", [("status",), ("backfill", "--yes")])
def test_a_table_that_is_not_there_has_no_items_and_is_not_made(
    bank: Callable[..., Result], folder: Path, command: tuple[str, ...]
) -> None:
    folder.mkdir()
    with EmbeddedStore(DataFolder(folder).database) as store:
        result = bank(*command)
        assert (result.exit_code, store.execute(ListTables())) == (0, ())
    expected = {"status": "Account  3             0      current", "backfill": "Account: none of 0 items is older"}
    assert result.output.splitlines()[-1].startswith(expected[command[0]])


def test_without_a_database_nothing_is_made(run: Run, folder: Path) -> None:
    result = run("migrate", "status", "accounts")
    assert (result.exit_code, folder.exists()) == (1, False)


def test_the_commands_are_about_all_services_where_that_is_said(seeded: Run) -> None:
    assert "AccountData" in seeded("migrate", "status", "--all").output
