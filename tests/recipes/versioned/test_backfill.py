"""Backfills: which items they count and rewrite, at which rate, and which they leave unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.recipes.accounts import (
    ACCOUNTS,
    FIRST,
    SECOND,
    TABLES,
    Account,
    FirstAccount,
    SecondAccount,
    deposited,
    mapped,
    place,
    stored,
)
from tests.recipes.interleaving import CRASHED, empty_db, every_schedule, play

from partita import Budget, EmbeddedStore, Session
from partita.errors import ScanRefused
from partita.recipes.versioned._backfill import (
    PAGE,
    BackfillPage,
    BackfillProgress,
    VersionCount,
    backfill_page,
    count_versions,
)
from partita.recipes.versioned._table import Versioned
from partita.store._requests import PutItem
from partita.testing import FakeClock, FaultyStore


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def db(clock: FakeClock) -> Iterator[Session]:
    with empty_db(TABLES, clock) as session:
        yield session


def maintained(db: Session) -> Session:
    session = db.maintenance("a test")
    session.sleep = db.sleep
    return session


def backfill(db: Session, wcu_per_second: float = 1e9) -> BackfillProgress:
    session = maintained(db)
    progress = session.run(backfill_page(ACCOUNTS, wcu_per_second=wcu_per_second))
    while not progress.done:
        progress = session.run(backfill_page(ACCOUNTS, progress, wcu_per_second=wcu_per_second))
    return progress


def insert_old(db: Session, count: int) -> None:
    for number in range(count):
        db.run(FIRST.insert(FirstAccount(pk=f"old{number}", owner="Ada", balance=number)))


@pytest.mark.req("A06")
def test_status_counts_the_items_of_each_version(db: Session) -> None:
    insert_old(db, PAGE + 5)
    db.run(SECOND.insert(SecondAccount(pk="second", name="Bea")))
    db.run(ACCOUNTS.insert(mapped()))
    place(db, {"PK": "SOMETHING", "SK": "ELSE"})
    counted = maintained(db).run(count_versions(ACCOUNTS))
    assert counted == VersionCount("Account", 3, {1: PAGE + 5, 2: 1, 3: 1}, Budget(write=2 * (PAGE + 6)))
    assert (counted.old, counted.newer) == (PAGE + 6, 0)


def test_status_and_backfill_are_maintenance(db: Session) -> None:
    with pytest.raises(ScanRefused):
        db.run(count_versions(ACCOUNTS))
    with pytest.raises(ScanRefused):
        db.run(backfill_page(ACCOUNTS, wcu_per_second=1))


@pytest.mark.req("A06")
def test_a_backfill_rewrites_what_is_old_and_nothing_else(db: Session) -> None:
    insert_old(db, 3)
    db.run(ACCOUNTS.insert(mapped(balance=9)))
    current = stored(db)
    read_before = [db.run(ACCOUNTS.read(f"old{number}")) for number in range(3)]
    assert backfill(db) == BackfillProgress(3, inspected=4, rewritten=3, done=True)
    assert [stored(db, f"old{number}")["data_version"] for number in range(3)] == [3, 3, 3]
    assert [db.run(ACCOUNTS.read(f"old{number}")) for number in range(3)] == read_before
    assert stored(db) == current
    assert maintained(db).run(count_versions(ACCOUNTS)).old == 0


def test_a_backfill_brings_index_keys_up_to_date(db: Session) -> None:
    insert_old(db, 1)
    backfill(db)
    item = stored(db, "old0")
    assert (item["GSI1PK"], "owner" in item) == ("NAME#Ada", False)


@pytest.mark.req("A06")
def test_a_backfill_never_touches_newer_data(db: Session) -> None:
    insert_old(db, 1)
    newer = ACCOUNTS.form.item(Versioned(mapped(), 3, 5)) | {"data_version": 4, "more": True}
    place(db, newer)
    assert backfill(db) == BackfillProgress(3, inspected=2, rewritten=1, newer=1, done=True)
    assert stored(db) == newer
    assert maintained(db).run(count_versions(ACCOUNTS)).newer == 1


@pytest.mark.req("A06")
def test_a_backfill_goes_on_where_it_was_stopped(db: Session) -> None:
    insert_old(db, 2 * PAGE + 1)
    session = maintained(db)
    first = session.run(backfill_page(ACCOUNTS, wcu_per_second=1e9))
    assert (first.inspected, first.rewritten, first.done) == (PAGE, PAGE, False)
    second = session.run(backfill_page(ACCOUNTS, first, wcu_per_second=1e9))
    third = session.run(backfill_page(ACCOUNTS, second, wcu_per_second=1e9))
    assert third == BackfillProgress(3, inspected=2 * PAGE + 1, rewritten=2 * PAGE + 1, done=True)


@pytest.mark.req("A06")
def test_a_backfill_keeps_to_its_rate(db: Session, clock: FakeClock) -> None:
    insert_old(db, 10)
    before = clock()
    backfill(db, wcu_per_second=5)
    wcu_per_item = 3  # one for the item, two for its index entry, which moves
    assert clock() - before == pytest.approx(10 * wcu_per_item / 5)


@pytest.mark.req("A06")
def test_in_every_order_a_backfill_loses_no_change() -> None:
    for choose in every_schedule():
        with empty_db(TABLES) as session:
            db = session.maintenance("a test")
            db.run(FIRST.insert(FirstAccount(pk="a1", owner="Ada", balance=1)))
            works: list[Any] = [backfill_page(ACCOUNTS, wcu_per_second=1e9), ACCOUNTS.change(deposited(7), "a1")]
            results = play(db, works, choose, crashes=1)
            read = db.run(ACCOUNTS.read("a1"))
            assert read is not None
            assert read.data == mapped(balance=107 if isinstance(results[1], Versioned) else read.data.balance)
            if results[1] == CRASHED:
                assert read.data.balance in {100, 107}
            if isinstance(results[0], BackfillProgress):
                assert stored(db)["data_version"] == 3


@given(versions=st.lists(st.integers(1, 3), max_size=12), stop=st.integers(0, 30))
def test_a_backfill_that_was_killed_anywhere_can_run_again(versions: list[int], stop: int) -> None:
    with empty_db(TABLES) as db:
        for number, version in enumerate(versions):
            data: list[Any] = [
                FIRST.insert(FirstAccount(pk=str(number), owner="Ada", balance=number)),
                SECOND.insert(SecondAccount(pk=str(number), name="Ada", balance=number)),
                ACCOUNTS.insert(Account(pk=str(number), name="Ada", balance=number * 100)),
            ]
            db.run(data[version - 1])
        moves = iter([*[0] * stop, 1])
        play(
            db.maintenance("a test"), [backfill_page(ACCOUNTS, wcu_per_second=1e9)], lambda _: next(moves, 0), crashes=1
        )
        backfill(db)
        for number in range(len(versions)):
            assert stored(db, str(number))["data_version"] == 3
            read = db.run(ACCOUNTS.read(str(number)))
            assert read is not None
            assert read.data == Account(pk=str(number), name="Ada", balance=number * 100)


class Meddling(FaultyStore):
    """A store in which old code changes an item just before each of the backfill's writes."""

    def execute(self, request: Any) -> Any:
        if isinstance(request, PutItem) and request.item["data_version"] == 3:
            old = FIRST.form.item(Versioned(FirstAccount(pk="a1", owner="Ada"), 1, len(self.requests)))
            super().execute(PutItem("accounts", old))
        return super().execute(request)


def test_an_item_that_old_code_keeps_changing_is_counted_as_overtaken() -> None:
    with EmbeddedStore(":memory:") as inner:
        db = Session(Meddling(inner))
        db.create_tables(TABLES)
        db.run(FIRST.insert(FirstAccount(pk="a1", owner="Ada")))
        assert backfill(db) == BackfillProgress(3, inspected=1, overtaken=1, done=True)


def test_an_item_that_is_deleted_meanwhile_stays_deleted(db: Session) -> None:
    db.run(FIRST.insert(FirstAccount(pk="a1", owner="Ada")))
    operation = backfill_page(ACCOUNTS, wcu_per_second=1e9)
    assert isinstance(operation, BackfillPage)
    requests = operation.requests(db.context)
    put = requests.send(db.store.execute(next(requests)))  # type: ignore[arg-type]
    db.run(ACCOUNTS.delete_at(stored(db)["last_write"], "a1"))
    assert isinstance(put, PutItem)
    with pytest.raises(Exception, match="conditional request failed") as caught:
        db.store.execute(put)
    with pytest.raises(StopIteration) as stop:
        requests.throw(caught.value)
    assert stop.value.value == BackfillProgress(3, inspected=1, done=True)
    assert db.run(ACCOUNTS.read("a1")) is None
