"""Versioned tables: what is stored, which of two writers succeeds, and what the error tells the other one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.recipes.accounts import ACCOUNTS, TABLES, Account, account_by_pk, deposited, mapped, stored
from tests.recipes.interleaving import CRASHED, empty_db, every_schedule, play

from partita import (
    AsyncSession,
    EmbeddedStore,
    Entity,
    Get,
    Key,
    Operation,
    Rcu,
    Registry,
    Session,
    Table,
    Version,
    Wcu,
    get,
    pattern,
    transact,
)
from partita.errors import (
    AlreadyExists,
    ItemMissing,
    ModelError,
    OperationError,
    TransactionCancelled,
    VersionConflict,
)
from partita.recipes.versioned._table import Versioned, VersionedTable, VersionedUpdate
from partita.store._requests import GetItem, PutItem
from partita.testing import FakeClock, FaultyStore, assert_budget
from partita.testing._clock import NOON

NOON_MS = int(NOON * 1_000)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def db(clock: FakeClock) -> Iterator[Session]:
    with empty_db(TABLES, clock) as session:
        yield session


@pytest.mark.req("A01")
def test_what_was_inserted_is_read_back(db: Session) -> None:
    inserted = db.run(ACCOUNTS.insert(mapped(balance=5)))
    assert inserted == Versioned(mapped(balance=5), data_version=3, last_write=NOON_MS)
    assert db.run(ACCOUNTS.read("a1")) == inserted
    assert db.run(ACCOUNTS.read_strong("a1")) == inserted


@pytest.mark.req("A01")
def test_nothing_is_read_where_nothing_is_stored(db: Session) -> None:
    assert db.run(ACCOUNTS.read("a1")) is None
    assert db.run(ACCOUNTS.read_strong("a1")) is None


@pytest.mark.parametrize("wrong", [None, mapped()], ids=["nothing was read", "data without bookkeeping"])
def test_a_write_over_what_was_not_read_is_refused(wrong: Any) -> None:
    for write in (ACCOUNTS.update, ACCOUNTS.delete, ACCOUNTS.adjust):
        with pytest.raises(OperationError, match=r"is not a Versioned\[Account\]. Pass what read\(\) returns"):
            write(wrong)


@pytest.mark.req("A01")
def test_only_the_strong_read_is_consistent(clock: FakeClock) -> None:
    store = FaultyStore(EmbeddedStore(":memory:", clock=clock))
    db = Session(store, clock=clock)
    db.create_tables(TABLES)
    db.run(ACCOUNTS.read("a1"))
    db.run(ACCOUNTS.read_strong("a1"))
    reads = [request for request in store.requests if isinstance(request, GetItem)]
    assert [request.consistent for request in reads] == [False, True]


@pytest.mark.req("A01")
def test_an_insert_of_what_is_stored_fails_and_shows_it(db: Session) -> None:
    first = db.run(ACCOUNTS.insert(mapped(balance=5)))
    with pytest.raises(AlreadyExists) as caught:
        db.run(ACCOUNTS.insert(mapped(balance=9)))
    assert caught.value.current == first
    assert db.run(ACCOUNTS.read("a1")) == first


@pytest.mark.req("A01")
def test_an_update_over_an_outdated_version_fails_and_shows_the_current_one(db: Session) -> None:
    outdated = db.run(ACCOUNTS.insert(mapped()))
    current = db.run(ACCOUNTS.update(outdated.with_data(mapped(balance=1))))
    with pytest.raises(VersionConflict) as caught:
        db.run(ACCOUNTS.update(outdated.with_data(mapped(balance=2))))
    assert caught.value.current == current


@pytest.mark.req("A01")
def test_a_delete_of_an_outdated_version_fails_and_shows_the_current_one(db: Session) -> None:
    outdated = db.run(ACCOUNTS.insert(mapped()))
    current = db.run(ACCOUNTS.update(outdated.with_data(mapped(balance=1))))
    with pytest.raises(VersionConflict) as caught:
        db.run(ACCOUNTS.delete(outdated))
    assert caught.value.current == current
    db.run(ACCOUNTS.delete(current))
    assert db.run(ACCOUNTS.read("a1")) is None


def test_a_delete_by_key_names_the_write_that_it_follows(db: Session) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    with pytest.raises(VersionConflict):
        db.run(ACCOUNTS.delete_at(account.last_write - 1, "a1"))
    db.run(ACCOUNTS.delete_at(account.last_write, "a1"))
    assert db.run(ACCOUNTS.read("a1")) is None


def test_an_update_or_delete_of_what_is_gone_is_missing(db: Session) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    db.run(ACCOUNTS.delete(account))
    with pytest.raises(ItemMissing):
        db.run(ACCOUNTS.update(account))
    with pytest.raises(ItemMissing):
        db.run(ACCOUNTS.delete(account))


@pytest.mark.req("A02")
@given(jumps=st.lists(st.integers(min_value=-5_000, max_value=5_000), min_size=1, max_size=20))
def test_last_write_rises_strictly_whatever_the_clock_does(jumps: list[int]) -> None:
    clock = FakeClock()
    with empty_db(TABLES, clock) as db:
        account = db.run(ACCOUNTS.insert(mapped()))
        for jump in jumps:
            clock.advance(jump / 1_000)
            written = db.run(ACCOUNTS.update(account))
            assert written.last_write == max(int(clock() * 1_000), account.last_write + 1)
            account = written


@pytest.mark.req("A02")
def test_of_two_writes_in_one_millisecond_one_wins(db: Session) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    db.run(ACCOUNTS.update(account.with_data(mapped(balance=1))))
    with pytest.raises(VersionConflict):
        db.run(ACCOUNTS.update(account.with_data(mapped(balance=2))))
    assert stored(db)["balance"] == 1


@pytest.mark.req("A03")
def test_a_change_is_applied_again_to_what_the_other_writer_wrote(db: Session) -> None:
    db.run(ACCOUNTS.insert(mapped(balance=10)))
    meddled: list[Versioned[Account]] = []

    def meddle_once(account: Account) -> Account:
        if not meddled:
            meddled.append(db.run(ACCOUNTS.change(deposited(100), "a1")))
        return account.model_copy(update={"balance": account.balance + 1})

    assert db.run(ACCOUNTS.change(meddle_once, "a1")).data.balance == 111


@pytest.mark.req("A03")
def test_a_change_that_loses_twice_gives_the_current_item_without_another_read(clock: FakeClock) -> None:
    store = FaultyStore(EmbeddedStore(":memory:", clock=clock))
    db = Session(store, clock=clock)
    db.create_tables(TABLES)
    db.run(ACCOUNTS.insert(mapped()))
    other = Session(store, clock=clock)
    seen: list[int] = []
    reads: list[bool] = []

    def always_late(account: Account) -> Account:
        seen.append(account.balance)
        reads.extend(request.consistent for request in store.requests if isinstance(request, GetItem))
        other.run(ACCOUNTS.change(deposited(1), "a1"))
        store.requests.clear()
        return account.model_copy(update={"name": "late"})

    with pytest.raises(VersionConflict) as caught:
        db.run(ACCOUNTS.change(always_late, "a1"))
    assert (seen, reads) == ([0, 1], [False, True])
    assert caught.value.current.data == mapped(balance=2)
    assert [type(request) for request in store.requests] == [PutItem]


@pytest.mark.req("A03")
def test_an_update_never_retries(clock: FakeClock) -> None:
    store = FaultyStore(EmbeddedStore(":memory:", clock=clock))
    db = Session(store, clock=clock)
    db.create_tables(TABLES)
    outdated = db.run(ACCOUNTS.insert(mapped()))
    db.run(ACCOUNTS.update(outdated))
    store.requests.clear()
    with pytest.raises(VersionConflict):
        db.run(ACCOUNTS.update(outdated))
    assert [type(request) for request in store.requests] == [PutItem]


def test_a_change_of_what_is_not_stored_is_missing(db: Session) -> None:
    with pytest.raises(ItemMissing):
        db.run(ACCOUNTS.change(deposited(1), "a1"))


@pytest.mark.req("A04")
def test_an_item_is_flat_with_its_keys_and_bookkeeping_at_the_top(db: Session) -> None:
    db.run(ACCOUNTS.insert(mapped(balance=5)))
    assert stored(db) == {
        "PK": "ACCOUNT#a1",
        "SK": "DATA",
        "GSI1PK": "NAME#Ada",
        "GSI1SK": "ACCOUNT#a1",
        "pk": "a1",
        "name": "Ada",
        "balance": 5,
        "data_version": 3,
        "last_write": NOON_MS,
    }


@pytest.mark.req("A03", "A10")
def test_in_every_order_and_with_a_crash_anywhere_no_acknowledged_change_is_lost() -> None:
    for choose in every_schedule():
        with empty_db(TABLES) as db:
            db.run(ACCOUNTS.insert(mapped()))
            works: list[Any] = [ACCOUNTS.change(deposited(1), "a1"), ACCOUNTS.change(deposited(10), "a1")]
            results = play(db, works, choose, crashes=1)
            balance = stored(db)["balance"]
            sure = sum(amount for amount, result in zip((1, 10), results, strict=True) if isinstance(result, Versioned))
            unsure = sum(amount for amount, result in zip((1, 10), results, strict=True) if result == CRASHED)
            assert balance in {sure, sure + unsure}


@given(data=st.data())
def test_in_any_order_three_writers_lose_nothing(data: st.DataObject) -> None:
    amounts = (1, 10, 100)
    with empty_db(TABLES) as db:
        db.run(ACCOUNTS.insert(mapped()))
        works: list[Any] = [ACCOUNTS.change(deposited(amount), "a1") for amount in amounts]
        results = play(db, works, lambda options: data.draw(st.integers(0, options - 1)))
        kept = [a for a, result in zip(amounts, results, strict=True) if isinstance(result, Versioned)]
        assert stored(db)["balance"] == sum(kept)
        assert all(isinstance(result, Versioned | VersionConflict) for result in results)


@pytest.mark.req("A10")
def test_sixteen_writers_lose_none_of_ten_thousand_changes() -> None:
    """A writer repeats a change that conflicted twice, until all 10,000 changes are acknowledged."""
    writers, changes = 16, 625
    with EmbeddedStore(":memory:") as store:
        db = Session(store)
        db.create_tables(TABLES)
        db.run(ACCOUNTS.insert(mapped()))

        def write() -> None:
            done = 0
            while done < changes:
                try:
                    db.run(ACCOUNTS.change(deposited(1), "a1"))
                except VersionConflict:
                    continue
                done += 1

        threads = [threading.Thread(target=write) for _ in range(writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert stored(db)["balance"] == writers * changes


def test_writes_are_parts_of_transactions(db: Session) -> None:
    first, second = db.run(ACCOUNTS.insert(mapped(pk="a1"))), db.run(ACCOUNTS.insert(mapped(pk="a2")))
    db.transact(
        ACCOUNTS.update(first.with_data(mapped(pk="a1", balance=7))),
        ACCOUNTS.delete(second),
        ACCOUNTS.insert(mapped(pk="a3")),
    )
    assert stored(db, "a1")["balance"] == 7
    assert db.run(ACCOUNTS.read("a2")) is None
    assert stored(db, "a3")["last_write"] == NOON_MS


def test_a_cancelled_transaction_says_which_write_came_too_late(db: Session) -> None:
    outdated = db.run(ACCOUNTS.insert(mapped()))
    current = db.run(ACCOUNTS.update(outdated.with_data(mapped(balance=1))))
    with pytest.raises(TransactionCancelled) as caught:
        db.run(transact(ACCOUNTS.insert(mapped(pk="a2")), ACCOUNTS.update(outdated)))
    error = caught.value.reasons[1].error
    assert isinstance(error, VersionConflict)
    assert error.current == current
    assert db.run(ACCOUNTS.read("a2")) is None


def test_a_write_can_be_given_its_time_before_it_is_part_of_a_transaction(db: Session, clock: FakeClock) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    write = ACCOUNTS.update(account).at(NOON + 60)
    clock.advance(90)
    db.transact(write)
    assert db.run(ACCOUNTS.read("a1")) == write.saved(NOON + 60)
    assert stored(db)["last_write"] == NOON_MS + 60_000


async def test_changes_run_in_an_async_session_too(db: Session, clock: FakeClock) -> None:
    await AsyncSession(db.store, clock=clock).run(ACCOUNTS.insert(mapped()))
    changed = await AsyncSession(db.store, clock=clock).run(ACCOUNTS.change(deposited(3), "a1"))
    assert changed.data.balance == 3


def test_an_expired_item_is_gone_and_may_be_inserted_again() -> None:
    table = Table("tokens", hash="pk", range=None, ttl="ends", registry=Registry())

    class Token(Entity, table=table):
        primary: ClassVar = Key("{pk}")
        pk: str
        ends: int

    @get(Token)
    def token_by_pk(pk: str) -> None: ...

    tokens = VersionedTable(token_by_pk, data_version=1, example=Token(pk="t", ends=1))
    clock = FakeClock()
    with empty_db([table], clock) as db:
        old = db.run(tokens.insert(Token(pk="t", ends=int(NOON) + 10)))
        clock.advance(20)
        assert db.run(tokens.read("t")) is None
        with pytest.raises(ItemMissing):
            db.run(tokens.update(old))
        again = db.run(tokens.insert(Token(pk="t", ends=int(NOON) + 100)))
        assert db.run(tokens.read("t")) == again


# The cost of operations, as on the documentation page: items up to 1 KB, with one index.


@pattern(budget=Wcu(3))
def rename_account(account: Versioned[Account]) -> VersionedUpdate[Account]:
    """Write an account over the version that was read."""
    return ACCOUNTS.update(account)


def costs(db: Session, *works: Operation[Any]) -> list[tuple[str, float, float]]:
    with db.meter.watch() as seen:
        for work in works:
            db.run(work)
    return [(run.name, run.read, run.write) for run in seen]


def test_each_operation_costs_what_its_page_says(db: Session) -> None:
    account = Versioned(mapped(), 3, NOON_MS)
    assert costs(
        db,
        ACCOUNTS.insert(mapped()),
        ACCOUNTS.read("a1"),
        ACCOUNTS.read_strong("a1"),
        ACCOUNTS.update(account),
        ACCOUNTS.delete_at(account.last_write + 1, "a1"),
    ) == [
        ("Account.insert", 0, 2),
        ("account_by_pk", 0.5, 0),
        ("Account.read_strong", 1, 0),
        ("Account.update", 0, 2),
        ("Account.delete", 0, 2),
    ]


def test_a_change_costs_a_read_and_a_write(db: Session) -> None:
    db.run(ACCOUNTS.insert(mapped()))
    with db.meter.watch() as seen:
        db.run(ACCOUNTS.change(deposited(1), "a1"))
    assert [(run.name, run.read, run.write) for run in seen] == [("account_by_pk", 0.5, 0), ("Account.update", 0, 2)]


def test_a_write_may_be_a_named_pattern_with_a_budget(db: Session) -> None:
    account = db.run(ACCOUNTS.insert(mapped()))
    assert assert_budget(db, rename_account(account.with_data(mapped(name="Eve")))).data.name == "Eve"


# Declarations that are refused.


def test_an_entity_with_a_version_field_is_refused() -> None:
    class Counted(Entity, table=Table("counted", hash="pk", range=None, registry=Registry())):
        primary: ClassVar = Key("{pk}")
        pk: str
        version: Version = 0

    @get(Counted)
    def counted_by_pk(pk: str) -> None: ...

    with pytest.raises(ModelError, match="has the version field 'version'"):
        VersionedTable(counted_by_pk, data_version=1, example=Counted(pk="1"))


def test_an_entity_with_a_field_named_like_the_bookkeeping_is_refused() -> None:
    class Taken(Entity, table=Table("taken", hash="pk", range=None, registry=Registry())):
        primary: ClassVar = Key("{pk}")
        pk: str
        last_write: int = 0

    @get(Taken)
    def taken_by_pk(pk: str) -> None: ...

    with pytest.raises(ModelError, match="has an attribute 'last_write'"):
        VersionedTable(taken_by_pk, data_version=1, example=Taken(pk="1"))


def test_a_function_that_is_not_an_access_pattern_is_refused() -> None:
    with pytest.raises(ModelError, match="not an access pattern that gets a Account"):
        VersionedTable(undeclared, data_version=1, example=mapped())


def undeclared(pk: str) -> Get[Account]:
    return account_by_pk(pk)


def test_two_versioned_tables_of_one_entity_are_refused() -> None:
    with pytest.raises(ModelError, match="two versioned tables"):
        VersionedTable(account_by_pk, data_version=1, example=mapped())


def test_the_budget_of_the_read_pattern_is_that_of_the_read() -> None:
    read = ACCOUNTS.read("a1")
    assert read.pattern is not None
    assert read.pattern.budget == Rcu(0.5)
