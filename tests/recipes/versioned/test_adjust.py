"""Adjustments: relative changes of an item, which conflict with no other writer but still raise its last_write."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recipes.accounts import ACCOUNTS, SECOND, TABLES, Account, SecondAccount, mapped
from tests.recipes.interleaving import empty_db

from partita import Procedure, Session, f, retry_on_conflict, transact
from partita.errors import (
    ConditionFailed,
    DataNewer,
    ItemMissing,
    LimitReached,
    OperationError,
    TransactionCancelled,
    VersionConflict,
)
from partita.recipes.versioned import Versioned
from partita.store import UpdateItem
from partita.testing import FakeClock
from partita.testing._clock import NOON

pytestmark = pytest.mark.req("A02", "A13")

NOON_MS = int(NOON * 1_000)
MORE = f(Account.balance).add(1)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def db(clock: FakeClock) -> Iterator[Session]:
    with empty_db(TABLES, clock) as session:
        yield session


def test_a_number_changes_and_the_last_write_is_now(db: Session, clock: FakeClock) -> None:
    account = db.run(ACCOUNTS.insert(mapped(balance=5)))
    clock.advance(1)
    adjusted = db.run(ACCOUNTS.adjust(account, MORE))
    assert adjusted == Versioned(mapped(balance=6), data_version=3, last_write=NOON_MS + 1_000)
    assert db.run(ACCOUNTS.read("a1")) == adjusted


def test_what_was_read_may_be_old_and_two_requests_are_enough(db: Session, clock: FakeClock) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    clock.advance(1)
    last_writes = []
    for _ in range(3):
        with db.meter.watch() as seen:
            last_writes.append(db.run(ACCOUNTS.adjust(account, MORE)).last_write)
        assert sum(len(run.requests) for run in seen) <= 2
    assert last_writes == [NOON_MS + 1_000, NOON_MS + 1_001, NOON_MS + 1_002]


def test_a_clock_that_steps_back_does_not_take_the_last_write_with_it(db: Session, clock: FakeClock) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    clock.advance(-60)
    assert db.run(ACCOUNTS.adjust(account, MORE)).last_write == NOON_MS + 1


def test_whoever_holds_an_older_version_notices(db: Session) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    db.run(ACCOUNTS.adjust(account, MORE))
    with pytest.raises(VersionConflict):
        db.run(ACCOUNTS.update(account))


@given(moves=st.lists(st.tuples(st.integers(-5, 5).filter(bool), st.sampled_from([-1.0, 0.0, 0.001, 2.0])), max_size=8))
@settings(max_examples=50)
def test_the_last_write_rises_strictly_and_the_sum_is_right(moves: list[tuple[int, float]]) -> None:
    clock = FakeClock()
    with empty_db(TABLES, clock) as db:
        first = last = db.run(ACCOUNTS.insert(mapped(balance=100)))
        for amount, seconds in moves:
            clock.advance(seconds)
            after = db.run(ACCOUNTS.adjust(first, f(Account.balance).add(amount)))
            assert after.last_write == max(int(clock() * 1_000), last.last_write + 1)
            last = after
        assert last.data.balance == 100 + sum(amount for amount, _ in moves)


def test_in_a_transaction_it_is_planned_again_at_most_once(db: Session, clock: FakeClock) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    now = clock()
    tries: list[int] = []
    clock.advance(5)
    db.run(ACCOUNTS.adjust(account, MORE))

    def attempt() -> Procedure[None]:
        read = yield from ACCOUNTS.read_strong("a1") if tries else ACCOUNTS.read("a1")
        assert read is not None
        tries.append(read.last_write)
        seen = account if len(tries) == 1 else read
        try:
            yield from transact(ACCOUNTS.adjust(seen, MORE).at(now + 5))
        except TransactionCancelled as cancelled:
            raise cancelled.cause or cancelled from cancelled

    db.run(retry_on_conflict(attempt))
    assert len(tries) == 2
    stored = db.run(ACCOUNTS.read("a1"))
    assert stored is not None
    assert (stored.data.balance, stored.last_write) == (2, NOON_MS + 5_001)


def test_many_threads_are_not_in_each_others_way(db: Session) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))

    def adjust() -> None:
        for _ in range(50):
            db.run(ACCOUNTS.adjust(account, MORE))

    threads = [threading.Thread(target=adjust) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = db.run(ACCOUNTS.read("a1"))
    assert stored is not None
    assert (stored.data.balance, stored.last_write) == (400, NOON_MS + 400)


def test_a_condition_is_kept_and_explained(db: Session) -> None:
    account = db.run(ACCOUNTS.insert(mapped(balance=5)))
    taken = ACCOUNTS.adjust(account, f(Account.balance).add(-6)).when(f(Account.balance).ge(6))
    with pytest.raises(ConditionFailed) as plain:
        db.run(taken)
    assert (type(plain.value), plain.value.current) == (ConditionFailed, account)
    with pytest.raises(LimitReached):
        db.run(taken.failing_as(lambda failed: LimitReached("too little", remaining=5, current=failed.current)))
    assert db.run(ACCOUNTS.read("a1")) == account


def test_what_is_gone_is_not_made_again(db: Session) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    db.run(ACCOUNTS.delete(account))
    with pytest.raises(ItemMissing):
        db.run(ACCOUNTS.adjust(account, MORE))
    assert db.run(ACCOUNTS.read("a1")) is None


def test_data_of_other_versions_is_left_alone(db: Session) -> None:
    old = db.run(SECOND.insert(SecondAccount(pk="a1", name="Ada", balance=5)))
    account = db.run(ACCOUNTS.read("a1"))
    assert account is not None
    with pytest.raises(ConditionFailed, match="stored in a data version before 3"):
        db.run(ACCOUNTS.adjust(account, MORE))
    assert db.run(ACCOUNTS.adjust(account, MORE, since=2)).data.balance == 600
    db.run(ACCOUNTS.update(ACCOUNTS.over(old.last_write + 1, mapped())))
    with pytest.raises(DataNewer):
        db.run(SECOND.adjust(old, f(SecondAccount.balance).add(1)))


def test_fields_of_keys_and_no_changes_are_refused(db: Session) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    with pytest.raises(OperationError, match=r"Account\.name is part of a key"):
        ACCOUNTS.adjust(account, f(Account.name).set("Eve"))
    with pytest.raises(OperationError, match="at least one change"):
        ACCOUNTS.adjust(account)


def test_it_costs_one_write(db: Session) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    adjusted = ACCOUNTS.adjust(account, MORE).at(NOON + 1)
    assert isinstance(adjusted.action(db.context), UpdateItem)
    with db.meter.watch() as seen:
        db.run(adjusted)
    assert [len(run.requests) for run in seen] == [1]
