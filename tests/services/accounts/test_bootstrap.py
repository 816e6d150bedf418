"""The Accounts service: its sample data, the budgets of its access patterns, and the costs of its requests."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.recipes.interleaving import empty_db

from partita import AsyncSession, Procedure, Session
from partita.cost._measure import measure
from partita.errors import AlreadyExists
from partita.recipes.idempotency import Command, Plan, StoredResponse, run_plan
from partita.service import discover
from partita.testing._clock import NOON
from partita_services.accounts.access import Actor, reach
from partita_services.accounts.bootstrap import SERVICE, seed
from partita_services.accounts.handlers import (
    AccountContent,
    AccountDraft,
    add_account,
    remove_account,
    replace_account,
)
from partita_services.accounts.model import REQUESTS, Account
from partita_services.accounts.movements import Movement, Occasion, TransferOrder, deposit, transfer, withdraw

PAGE = (Path(__file__).parents[3] / "docs" / "services" / "accounts.md").read_text(encoding="utf-8")

DIGITS = set("0123456789.")

Cost: TypeAlias = tuple[float, float]


def test_the_service_is_installed() -> None:
    assert SERVICE in discover()


def test_every_access_pattern_is_measured_within_its_budget() -> None:
    verdicts = {measurement.pattern: measurement.verdict for measurement in measure(SERVICE)}
    patterns = [name for table in SERVICE.tables for name in table.patterns]
    assert verdicts == dict.fromkeys(patterns, "within")


@pytest.mark.req("X02")
def test_sample_data_is_written_once() -> None:
    with empty_db(SERVICE.tables) as db:
        for step in seed(NOON):
            db.run(step)
        for step in seed(NOON + 60):
            with pytest.raises(AlreadyExists):
                db.run(step)


def consumed(db: Session, work: Any) -> Cost:
    with db.meter.watch() as seen:
        db.run(work)
    return sum(run.read for run in seen), sum(run.write for run in seen)


def once(key: str, plan: Plan[Any] | Procedure[Plan[Any]]) -> Procedure[Any]:
    return REQUESTS.run(Command("ann", key, "fingerprint"), plan, lambda _: StoredResponse(200))


def on_the_page() -> dict[str, tuple[Cost | None, Cost | None]]:
    """Return the documented RCU and WCU of each request, without and with an idempotency key."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.split("## What it costs")[1].splitlines()]
    return {
        row[0]: (cost(*row[1:3]), cost(*row[3:])) for row in rows if len(row) == 5 and set("".join(row[1:])) <= DIGITS
    }


def cost(read: str, write: str) -> Cost | None:
    return (float(read), float(write)) if read else None


def test_each_request_consumes_what_the_page_says() -> None:
    ann, ids = Actor("ann"), count()

    def occasion() -> Occasion:
        return Occasion(ann, NOON, f"entry-{next(ids)}")

    with empty_db(SERVICE.tables) as db:

        def opened(pk: str) -> Plan[Account]:
            return add_account(AccountDraft(pk=pk, name="Ada", balance=100), occasion())

        def last_write(pk: str) -> int:
            return db.run(reach(ann, pk)).last_write

        def replaced(balance: int) -> Procedure[Account]:
            content = AccountContent(name="E", balance=balance)
            return run_plan(replace_account("a1", content, last_write("a1"), occasion()))

        money, order = Movement(amount=1), TransferOrder.model_validate({"from": "a1", "to": "a2", "amount": 1})
        assert {
            "open with money": (consumed(db, opened("a1").run()), consumed(db, once("k1", opened("a2")))),
            "read": (consumed(db, reach(ann, "a1", consistent=False)), None),
            "read, consistent": (consumed(db, reach(ann, "a1")), None),
            "rename": (consumed(db, replaced(100)), None),
            "adjust the balance": (consumed(db, replaced(9)), None),
            "deposit, withdraw": (
                consumed(db, run_plan(deposit("a1", money, occasion()))),
                consumed(db, once("k2", withdraw("a1", money, occasion()))),
            ),
            "transfer": (
                consumed(db, run_plan(transfer(order, occasion()))),
                consumed(db, once("k3", transfer(order, occasion()))),
            ),
            "replay": (None, consumed(db, once("k3", transfer(order, occasion())))),
            "close with money": (
                consumed(db, run_plan(remove_account("a1", last_write("a1"), occasion()))),
                None,
            ),
        } == on_the_page()


async def test_the_handlers_run_in_either_kind_of_session() -> None:
    with empty_db(SERVICE.tables) as db:
        for step in seed(NOON):
            db.run(step)
        shown = await AsyncSession(db.store).run(reach(Actor("demo"), "acc-1001"))
        assert shown == db.run(reach(Actor("demo"), "acc-1001"))
