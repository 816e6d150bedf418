"""Money is conserved: in every order of requests, with many threads, and if the process is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recipes.interleaving import empty_db, every_schedule, play

from partita import EmbeddedStore, Procedure, Session, new_ulid, retry_on_conflict
from partita.errors import ItemMissing, VersionConflict
from partita.recipes.idempotency import Command, Plan, StoredResponse, run_plan
from partita.testing import FakeClock
from partita_services.accounts.access import Actor, reach
from partita_services.accounts.audit import AuditReport, audit
from partita_services.accounts.bootstrap import SERVICE
from partita_services.accounts.handlers import AccountDraft, add_account, remove_account
from partita_services.accounts.model import ACCOUNTS, REQUESTS, Entry, latest_entries
from partita_services.accounts.movements import (
    InsufficientFunds,
    Movement,
    Occasion,
    TransferOrder,
    deposit,
    transfer,
    withdraw,
)

NAMES = ("a", "b", "c")
START = 100
ANN = Actor("ann")
TRANSFERS_KILLED = Path(__file__).parent / "transfers.py"


def order(source: str, target: str, amount: int) -> TransferOrder:
    return TransferOrder.model_validate({"from": source, "to": target, "amount": amount})


def occasion() -> Occasion:
    return Occasion(ANN, 1_767_268_800.0, new_ulid())


def transferred(source: str, target: str, amount: int) -> Procedure[Entry]:
    """Plan a transfer and commit it, without retries."""
    return run_plan(transfer(order(source, target, amount), occasion()))


def open_accounts(db: Session) -> None:
    for pk in NAMES:
        db.run(add_account(AccountDraft(pk=pk, name=pk, balance=START), occasion()).run())


def balances(db: Session) -> list[int]:
    accounts = [db.run(ACCOUNTS.read_strong(pk)) for pk in NAMES]
    return [account.data.balance for account in accounts if account is not None]


@pytest.mark.req("A09")
def test_in_every_order_and_with_a_crash_anywhere_no_money_is_made_or_lost() -> None:
    for choose in every_schedule():
        with empty_db(SERVICE.tables) as db:
            open_accounts(db)
            play(db, [transferred("a", "b", 70), transferred("b", "a", 60)], choose, crashes=1)
            assert sum(balances(db)) == 3 * START
            assert min(balances(db)) >= 0
            assert audit(db).findings == ()


@given(data=st.data())
@settings(max_examples=50)
def test_in_any_order_of_three_transfers_the_balances_are_those_of_the_acknowledged_ones(data: st.DataObject) -> None:
    ways = data.draw(st.lists(st.tuples(st.permutations(NAMES), st.integers(1, START + 20)), min_size=3, max_size=3))
    with empty_db(SERVICE.tables) as db:
        open_accounts(db)
        works: list[Any] = [transferred(names[0], names[1], amount) for names, amount in ways]
        results = play(db, works, lambda options: data.draw(st.integers(0, options - 1)))
        expected = dict.fromkeys(NAMES, START)
        for (names, amount), result in zip(ways, results, strict=True):
            assert isinstance(result, Entry | VersionConflict | InsufficientFunds)
            if isinstance(result, Entry):
                expected[names[0]] -= amount
                expected[names[1]] += amount
        assert balances(db) == list(expected.values())
        assert min(expected.values()) >= 0
        assert audit(db).findings == ()


@pytest.mark.req("X05", "A09")
def test_a_retried_transfer_happens_once_whatever_crashed() -> None:
    """A client that got no response repeats its request, in every order and with a crash anywhere."""
    command = Command("ann", "k1", "fingerprint")

    def attempt() -> Procedure[Any]:
        return REQUESTS.run(
            command, transfer(order("a", "b", 30), occasion()), lambda done: StoredResponse(200, str(done.amount))
        )

    for choose in every_schedule():
        with empty_db(SERVICE.tables) as db:
            open_accounts(db)
            play(db, [attempt(), attempt()], choose, crashes=1)
            outcome = db.run(attempt())
            assert outcome.response.body == "-30"
            assert balances(db) == [70, 130, 100]


@pytest.mark.req("A09")
def test_under_many_threads_no_money_is_made_or_lost(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "accounts.db", durable=False) as store:
        db = Session(store)
        db.create_tables(SERVICE.tables)
        open_accounts(db)
        seen: list[int] = []

        def move(seed: int) -> None:
            rng = random.Random(seed)
            for _ in range(100):
                source, target = rng.sample(NAMES, 2)
                try:
                    db.run(transferred(source, target, rng.randint(1, 40)))
                except (VersionConflict, InsufficientFunds):
                    continue
                seen.append(1)

        threads = [threading.Thread(target=move, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(balances(db)) == 3 * START
        assert min(balances(db)) >= 0
        assert audit(db).findings == ()
        assert seen


def planned(db: Session, plan: Procedure[Plan[Entry]]) -> Plan[Entry]:
    """Return a plan without writing it."""
    return db.run(plan)


@pytest.mark.req("A09", "A12")
def test_what_was_planned_on_money_that_is_gone_is_refused_when_it_commits() -> None:
    with empty_db(SERVICE.tables) as db:
        open_accounts(db)
        all_of_it = Movement(amount=START)
        first, second = (planned(db, withdraw("a", all_of_it, occasion())) for _ in range(2))
        late = planned(db, transfer(order("a", "b", START), occasion()))
        db.run(first.run())
        for plan in (second, late):
            with pytest.raises((InsufficientFunds, VersionConflict)):
                db.run(plan.run())
        with pytest.raises(InsufficientFunds):
            db.run(retry_on_conflict(lambda: run_plan(withdraw("a", Movement(amount=1), occasion()))))
        assert balances(db) == [0, START, START]
        assert audit(db).findings == ()


@pytest.mark.req("A11", "A12")
def test_what_was_planned_for_an_account_does_not_happen_to_a_later_one_of_its_key() -> None:
    clock = FakeClock()
    with empty_db(SERVICE.tables, clock) as db:
        open_accounts(db)
        when = Occasion(ANN, clock() + 10, new_ulid())
        late = planned(db, deposit("a", Movement(amount=5), when))
        sent = planned(db, transfer(order("b", "a", 5), Occasion(ANN, clock() + 10, new_ulid())))
        account = db.run(reach(ANN, "a"))
        db.run(run_plan(remove_account("a", account.last_write, occasion())))
        again = Occasion(Actor("eve"), clock() + 1, new_ulid())
        db.run(add_account(AccountDraft(pk="a", name="a", balance=1), again).run())
        for plan in (late, sent):
            with pytest.raises(ItemMissing):
                db.run(plan.run())
        assert balances(db) == [1, START, START]
        assert audit(db) == AuditReport(accounts=4, entries=5, findings=())


@pytest.mark.req("A13")
def test_every_deposit_of_many_threads_is_acknowledged(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "accounts.db", durable=False) as store:
        db = Session(store)
        db.create_tables(SERVICE.tables)
        open_accounts(db)
        tries: list[int] = []

        def work(number: int) -> None:
            for _ in range(25):
                when, made = Occasion(ANN, 1_767_268_800.0 + number, new_ulid()), count()

                def attempt(when: Occasion = when, made: Iterator[int] = made) -> Procedure[Entry]:
                    next(made)
                    return run_plan(deposit("a", Movement(amount=1), when))

                db.run(retry_on_conflict(attempt))
                tries.append(next(made))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(tries), balances(db)[0]) == (400, START + 400)
        assert max(tries) <= 2
        assert audit(db) == AuditReport(accounts=3, entries=403, findings=())


@pytest.mark.req("A09", "A10", "A12")
def test_a_killed_process_neither_makes_nor_loses_money_and_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    database = tmp_path / "accounts.db"
    with EmbeddedStore(database) as store:
        db = Session(store)
        db.create_tables(SERVICE.tables)
        open_accounts(db)
    for seed in range(4):
        acknowledged = _transfers_until_killed(database, seed)
        assert acknowledged
        with EmbeddedStore(database) as store:
            db = Session(store)
            assert sum(balances(db)) == 3 * START
            assert min(balances(db)) >= 0
            assert audit(db).findings == ()
            for pk, entries in acknowledged.items():
                account = db.run(ACCOUNTS.read_strong(pk))
                assert account is not None
                kept = db.run(latest_entries(*account.data.ledger).walk(max_items=100_000))
                assert entries <= {entry.entry_id for entry in kept}


def _transfers_until_killed(database: Path, seed: int) -> dict[str, set[str]]:
    """Run transfers of many threads in another process, kill it, and return the transfers that it acknowledged."""
    program = [sys.executable, str(TRANSFERS_KILLED), str(database), str(seed)]
    acknowledged: dict[str, set[str]] = {}
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for number, line in enumerate(process.stdout):
            if line.endswith("\n"):
                pk, entry_id = line.split()
                acknowledged.setdefault(pk, set()).add(entry_id)
            if number == 40 + 17 * seed:
                os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    return acknowledged
