"""The ledger: every change of a balance is an entry, statements add up, and the audit finds ledgers that do not."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result
from tests.services.fields import check_fields

from partita import EmbeddedStore, Session
from partita.cli import main
from partita.store import DeleteItem, TransactWriteItems
from partita.testing import FakeClock, FaultyStore
from partita_services.accounts.bootstrap import SERVICE, seed
from partita_services.accounts.model import ACCOUNTS, AccountData, Entry, accounts_of, latest_entries

DAY = 86_400


async def opened(api: httpx.AsyncClient, pk: str = "a1", balance: int = 100) -> dict[str, Any]:
    response = await api.post("/accounts", json={"pk": pk, "name": pk, "balance": balance})
    assert response.status_code == 201, response.text
    account: dict[str, Any] = response.json()
    return account


async def entries(api: httpx.AsyncClient, pk: str, query: str = "") -> list[tuple[str, int]]:
    listed = (await api.get(f"/accounts/{pk}/entries{query}")).json()["items"]
    return [(each["kind"], each["amount"]) for each in listed]


async def lived(api: httpx.AsyncClient, clock: FakeClock) -> dict[str, Any]:
    """Open an account with 100, add 50 in January, send 30 in February, take 20 in April, then rename it and set 95."""
    await opened(api)
    await opened(api, "a2", 0)
    clock.advance(DAY)
    await api.post("/accounts/a1/deposit", json={"amount": 50, "memo": "=1+1"})
    clock.advance(31 * DAY)
    await api.post("/transfers", json={"from": "a1", "to": "a2", "amount": 30, "memo": 'a, "b"'})
    clock.advance(60 * DAY)
    await api.post("/accounts/a1/withdraw", json={"amount": 20})
    account = (await api.get("/accounts/a1")).json()
    clock.advance(1)
    match = {"If-Match": str(account["last_write"])}
    saved: dict[str, Any] = (await api.put("/accounts/a1", json={"name": "new", "balance": 95}, headers=match)).json()
    return saved


@pytest.mark.req("A12")
async def test_every_change_of_a_balance_is_an_entry_of_the_same_transaction(
    api: httpx.AsyncClient, store: FaultyStore, fake_clock: FakeClock
) -> None:
    saved = await lived(api, fake_clock)
    fake_clock.advance(1)
    await api.delete("/accounts/a1", headers={"If-Match": str(saved["last_write"])})
    writes = [request for request in store.requests if isinstance(request, TransactWriteItems)]
    assert [sorted({action.table for action in write.actions}) for write in writes] == [
        ["account-ledger", "accounts"]
    ] * len(writes)
    assert len(writes) == 7
    assert not [request for request in store.requests if isinstance(request, DeleteItem)]


@pytest.mark.req("A12")
async def test_entries_are_listed_newest_first_or_by_month(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    await lived(api, fake_clock)
    assert await entries(api, "a1") == [
        ("adjustment", -5),
        ("withdrawal", -20),
        ("transfer_out", -30),
        ("deposit", 50),
        ("opening", 100),
    ]
    assert await entries(api, "a2") == [("transfer_in", 30)]
    assert await entries(api, "a1", "?month=2026-01") == [("opening", 100), ("deposit", 50)]
    assert await entries(api, "a1", "?month=2026-03") == []
    await check_fields(api, "/accounts/a1/entries")
    await check_fields(api, "/accounts/a1/entries", month="2026-01")


@pytest.mark.req("A12")
async def test_only_the_fields_that_are_asked_for_are_read(api: httpx.AsyncClient, store: FaultyStore) -> None:
    await opened(api)
    await api.get("/accounts/a1/entries?fields=amount,at")
    sent: Any = store.requests[-1]
    assert {path.parts[0] for path in sent.projection} == {"amount", "at", "PK", "SK"}


@pytest.mark.req("A14")
async def test_statements_carry_the_balance_from_month_to_month(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    await lived(api, fake_clock)
    listed = (await api.get("/accounts/a1/statements")).json()["items"]
    assert [tuple(each.values()) for each in listed] == [
        ("2026-04", 120, 0, 25, 95, 2),
        ("2026-02", 150, 0, 30, 120, 1),
        ("2026-01", 0, 150, 0, 150, 2),
    ]
    for statement in listed:
        assert (await api.get(f"/accounts/a1/statements/{statement['month']}")).json() == statement
    quiet = (await api.get("/accounts/a1/statements/2026-03")).json()
    assert (quiet["opening"], quiet["closing"], quiet["entries"]) == (120, 120, 0)
    before = (await api.get("/accounts/a1/statements/2025-12")).json()
    assert (before["opening"], before["closing"]) == (0, 0)


@pytest.mark.req("A14")
async def test_a_statement_is_a_table_in_which_nothing_is_a_formula(
    api: httpx.AsyncClient, fake_clock: FakeClock
) -> None:
    await lived(api, fake_clock)
    response = await api.get("/accounts/a1/statements/2026-01.csv")
    assert response.headers["Content-Type"].startswith("text/csv")
    assert response.headers["Content-Disposition"] == 'attachment; filename="a1-2026-01.csv"'
    header, *rows = csv.reader(StringIO(response.text))
    assert header == ["at", "entry_id", "kind", "counterpart", "memo", "by", "amount", "balance"]
    assert [(row[0], row[2], row[4], row[6], row[7]) for row in rows] == [
        ("2026-01-01T12:00:00Z", "opening", "", "100", "100"),
        ("2026-01-02T12:00:00Z", "deposit", "'=1+1", "50", "150"),
    ]
    (_, row) = csv.reader(StringIO((await api.get("/accounts/a1/statements/2026-02.csv")).text))
    assert (row[3], row[4], row[6], row[7]) == ("a2", 'a, "b"', "-30", "120")


@pytest.mark.req("A15")
async def test_versions_say_who_wrote_what_and_when(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    saved = await lived(api, fake_clock)
    newest, first = (await api.get("/accounts/a1/versions")).json()["items"]
    assert (newest["name"], newest["balance"], newest["by"]) == ("new", 95, "ann")
    assert newest["last_write"] == saved["last_write"]
    assert (first["name"], first["balance"], first["owner"]) == ("a1", 100, "ann")
    await check_fields(api, "/accounts/a1/versions")


@pytest.mark.req("A14")
@pytest.mark.parametrize("month", ["1000-01", "2999-12"])
async def test_the_first_and_the_last_month_have_a_statement(api: httpx.AsyncClient, month: str) -> None:
    await opened(api)
    for path in (f"statements/{month}", f"statements/{month}.csv", f"entries?month={month}"):
        assert (await api.get(f"/accounts/a1/{path}")).status_code == 200


@pytest.mark.req("A14", "X04")
@pytest.mark.parametrize("month", ["0000-01", "0999-12", "3000-01", "9999-12"])
async def test_a_month_outside_of_the_calendar_is_named(api: httpx.AsyncClient, month: str) -> None:
    await opened(api)
    for path in (f"statements/{month}", f"statements/{month}.csv", f"entries?month={month}"):
        refused = await api.get(f"/accounts/a1/{path}")
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "month")


@pytest.mark.parametrize("path", ["/accounts/a1/statements/2026-13", "/accounts/a1/entries?month=26-01"])
async def test_a_month_is_written_as_a_year_and_a_month(api: httpx.AsyncClient, path: str) -> None:
    await opened(api)
    response = await api.get(path)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "month")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def run(folder: Path) -> Callable[..., Result]:
    return lambda *args: CliRunner().invoke(main, ["accounts", "audit", "--data", str(folder), *args])


def store_in(folder: Path) -> EmbeddedStore:
    folder.mkdir(exist_ok=True)
    return EmbeddedStore(folder / "partita.db")


def test_the_audit_creates_no_database(tmp_path: Path) -> None:
    mistyped = tmp_path / "mistyped"
    result = CliRunner().invoke(main, ["accounts", "audit", "--data", str(mistyped)])
    assert (result.exit_code, mistyped.exists()) == (1, False)
    assert result.output.startswith(f"Error: There is no database in {mistyped}.")


@pytest.mark.req("A12")
def test_the_audit_finds_what_does_not_add_up(folder: Path, run: Callable[..., Result]) -> None:
    with store_in(folder) as store:
        db = Session(store)
        db.create_tables(SERVICE.tables)
        for step in seed(1_767_268_800.0):
            db.run(step)
    sound = run()
    assert (sound.exit_code, sound.output) == (
        0,
        "9 accounts with 21 entries: every balance is the sum of its entries.\n",
    )
    with store_in(folder) as store:
        db = Session(store)
        account = next(each for each in db.run(accounts_of("demo")) if each.pk == "acc-1001")
        (entry, *_) = db.run(latest_entries(*account.ledger).page(1))
        db.store.execute(DeleteItem("account-ledger", Entry.__entity__.key(entry)))
    broken = run()
    assert broken.exit_code == 1
    assert "acc-1001  its balance is not the sum of its entries" in broken.output
    assert "the total of 2025-12 is not the sum of its entries" in broken.output
    assert "Error: 2 of 9 accounts with 20 entries do not add up." in broken.output


@pytest.mark.req("A12")
def test_accounts_from_before_there_were_ledgers_are_carried_forward(folder: Path, run: Callable[..., Result]) -> None:
    with store_in(folder) as store:
        db = Session(store)
        db.create_tables(SERVICE.tables)
        db.run(ACCOUNTS.insert(AccountData(pk="old", name="old", balance=75)))
    refused = run()
    assert (refused.exit_code, "old      it has no entries" in refused.output) == (1, True)
    carried = run("--carry-forward")
    assert carried.output.splitlines() == [
        "old: 75 carried forward.",
        "1 accounts with 1 entries: every balance is the sum of its entries.",
    ]
    assert run().exit_code == 0
    with store_in(folder) as store:
        (entry,) = Session(store).run(latest_entries("old", 0))
        assert (entry.kind, entry.amount) == ("opening", 75)
