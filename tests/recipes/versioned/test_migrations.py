"""Lazy migrations: every old version can be read, no item is lost, and newer data is refused."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
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
    name_from_owner,
    place,
    stored,
)
from tests.recipes.interleaving import empty_db

from partita import Session
from partita.errors import (
    DataNewer,
    InvalidItem,
    ModelError,
    OperationError,
    TransactionCancelled,
    VersionConflict,
)
from partita.recipes.versioned._form import VersionedForm
from partita.recipes.versioned._migrations import Migrations
from partita.recipes.versioned._snapshots import frozen_items
from partita.recipes.versioned._table import Versioned
from partita.values import Item

FROZEN = Path(__file__).parent / "schema"


@pytest.fixture
def db() -> Iterator[Session]:
    with empty_db(TABLES) as session:
        yield session


@pytest.mark.req("A06")
def test_an_item_of_version_1_is_read_in_the_current_version(db: Session) -> None:
    old = db.run(FIRST.insert(FirstAccount(pk="a1", owner="Ada", balance=12)))
    assert db.run(ACCOUNTS.read("a1")) == Versioned(mapped(balance=1_200), 3, old.last_write)


@pytest.mark.req("A06")
@pytest.mark.parametrize("version", [1, 2, 3])
def test_frozen_items_of_every_version_read_as_the_same_account(version: int) -> None:
    read = [ACCOUNTS.form.versioned(item).data for item in frozen_items(ACCOUNTS, version, FROZEN)]
    assert read == [Account(pk="a1", name="Ada Lovelace", balance=1_200)]


@pytest.mark.req("A06")
@given(
    owner=st.text(min_size=1, max_size=20), balance=st.integers(-(10**12), 10**12), pk=st.from_regex(r"[a-z0-9]{1,9}")
)
def test_any_old_account_is_migrated_by_every_step(owner: str, balance: int, pk: str) -> None:
    first = FIRST.form.item(Versioned(FirstAccount(pk=pk, owner=owner, balance=balance), 1, 7))
    through_second = SECOND.form.item(SECOND.form.versioned(first))
    assert ACCOUNTS.form.versioned(first) == ACCOUNTS.form.versioned(through_second)
    assert ACCOUNTS.form.versioned(first).data == Account(pk=pk, name=owner, balance=balance * 100)


def test_reading_does_not_rewrite_an_old_item(db: Session) -> None:
    db.run(FIRST.insert(FirstAccount(pk="a1", owner="Ada")))
    before = stored(db)
    db.run(ACCOUNTS.read("a1"))
    assert stored(db) == before


def test_the_next_write_stores_the_current_version_with_its_keys(db: Session) -> None:
    db.run(FIRST.insert(FirstAccount(pk="a1", owner="Ada", balance=1)))
    db.run(ACCOUNTS.change(deposited(5), "a1"))
    item = stored(db)
    assert (item["data_version"], item["GSI1PK"], item["balance"], "owner" in item) == (3, "NAME#Ada", 105, False)


def test_a_conflict_over_an_old_item_shows_it_in_the_current_version(db: Session) -> None:
    db.run(FIRST.insert(FirstAccount(pk="a1", owner="Ada", balance=1)))
    with pytest.raises(VersionConflict) as caught:
        db.run(ACCOUNTS.update(Versioned(mapped(), 3, 1)))
    assert caught.value.current.data == mapped(balance=100)


@pytest.mark.req("A06")
def test_newer_data_is_refused_for_reading(db: Session) -> None:
    db.run(ACCOUNTS.insert(mapped()))
    with pytest.raises(DataNewer) as caught:
        db.run(SECOND.read("a1"))
    assert caught.value.data_version == 3


@pytest.mark.req("A06")
def test_newer_data_is_refused_for_every_write(db: Session) -> None:
    """This includes writers that know the correct last_write, for example after a backfill, which keeps it."""
    account = db.run(ACCOUNTS.insert(mapped(balance=9)))
    before = stored(db)
    held = Versioned(SecondAccount(pk="a1", name="Ada"), 2, account.last_write)
    writes: list[Any] = [
        SECOND.update(held),
        SECOND.delete(held),
        SECOND.delete_at(held.last_write, "a1"),
        SECOND.insert(held.data),
    ]
    for write in writes:
        with pytest.raises(DataNewer):
            db.run(write)
        with pytest.raises((DataNewer, TransactionCancelled)):
            db.transact(write)
    with pytest.raises(DataNewer):
        db.run(SECOND.change(lambda data: data, "a1"))
    assert stored(db) == before


def test_data_that_says_it_is_newer_is_not_written() -> None:
    with pytest.raises(DataNewer):
        SECOND.update(Versioned(SecondAccount(pk="a1", name="Ada"), 3, 1))


def test_a_migration_cannot_change_what_is_stored_or_what_an_error_shows() -> None:
    nested = {"pk": "a", "tags": ["x"]}
    Migrations({1: lambda item: item["tags"].append("y") or item}).upgrade(nested, 1, 2)
    assert nested == {"pk": "a", "tags": ["x"]}


def test_a_migration_that_returns_nothing_is_named() -> None:
    forgets: Any = lambda item: item.update(name="Ada")  # noqa: E731 - it returns None, as a function without `return`
    with pytest.raises(InvalidItem) as raised:
        Migrations({1: forgets}).upgrade({"pk": "a"}, 1, 2)
    assert str(raised.value) == (
        "A stored item: its migration from data version 1 to 2 returned None, not an item. Return the changed item."
    )


def returning(data: Any) -> Any:
    return lambda _: data


def test_data_of_another_version_is_not_written_as_the_current_one(db: Session) -> None:
    db.run(ACCOUNTS.insert(mapped()))
    old: Any = FirstAccount(pk="a1", owner="Ada")
    nothing: Any = None
    for data in (old, nothing):
        with pytest.raises(OperationError, match="is not data of Account"):
            db.run(ACCOUNTS.change(returning(data), "a1"))
        with pytest.raises(OperationError, match="is not data of Account"):
            ACCOUNTS.insert(data)
    assert db.run(ACCOUNTS.read("a1")) == db.run(ACCOUNTS.read_strong("a1"))


def test_an_item_older_than_the_oldest_step_is_refused() -> None:
    with pytest.raises(InvalidItem, match="data version 1; 2 is the oldest"):
        Migrations({2: name_from_owner}).upgrade({}, 1, 3)


def test_an_item_without_bookkeeping_is_refused(db: Session) -> None:
    item = ACCOUNTS.form.item(Versioned(mapped(), 3, 1))
    for missing in ("data_version", "last_write"):
        place(db, {name: value for name, value in item.items() if name != missing})
        with pytest.raises(InvalidItem, match=f"has no {missing}"):
            db.run(ACCOUNTS.read("a1"))


def test_a_migration_that_changes_the_key_is_refused() -> None:
    item = FIRST.form.item(Versioned(FirstAccount(pk="a1", owner="Ada"), 1, 1))
    with pytest.raises(InvalidItem, match=r"PK 'ACCOUNT#a1'.* version 1 to 3, has another key"):
        ACCOUNTS.form.versioned(item | {"pk": "a2"})


def raising(item: Item) -> Item:
    """A migration of items that have a field which this one lacks."""
    return {"pk": item["pk"], "name": item["nickname"]}


def test_a_migration_that_raises_is_named_with_the_item_and_its_versions(db: Session) -> None:
    form = VersionedForm(ACCOUNTS.form.schema, 3, Migrations({1: name_from_owner, 2: raising}))
    db.run(FIRST.insert(FirstAccount(pk="a1", owner="Ada")))
    with pytest.raises(InvalidItem) as raised:
        form.versioned(stored(db))
    assert str(raised.value) == (
        "The Account at PK 'ACCOUNT#a1', SK 'DATA': its migration from data version 2 to 3 raised KeyError. "
        "Correct the migration."
    )
    assert isinstance(raised.value.__cause__, KeyError)
    assert raised.value.item == stored(db)


def test_a_migration_whose_result_does_not_fit_is_named_with_the_item_and_its_versions() -> None:
    form = VersionedForm(ACCOUNTS.form.schema, 2, Migrations({1: lambda item: item | {"balance": "much"}}))
    item = FIRST.form.item(Versioned(FirstAccount(pk="a1", owner="Ada"), 1, 1))
    with pytest.raises(InvalidItem) as raised:
        form.versioned(item)
    assert str(raised.value).startswith(
        "The Account at PK 'ACCOUNT#a1', SK 'DATA', after its migration from data version 1 to 2, "
        "is not a valid Account: name: Field required; balance: Input should be a valid integer"
    )


@pytest.mark.parametrize(
    ("steps", "data_version", "message"),
    [
        ({}, 2, "no migration leads to data version 2"),
        ({1: name_from_owner, 3: name_from_owner}, 4, "no migration leads from 2 to 3"),
        ({1: name_from_owner}, 3, "no migration leads from 2 to 3"),
        ({1: name_from_owner}, 1, "a migration leads beyond data version 1"),
        ({}, 0, "a data version must be 1 or more"),
        ({}, "2", "a data version is an int, not '2'"),
        ([name_from_owner], 2, "not a mapping of data versions. Write Migrations"),
        ({"1": name_from_owner}, 2, "not a mapping of data versions"),
        ({1: "name_from_owner"}, 2, "the migration from 1 is a str, not a function"),
    ],
)
def test_a_chain_that_does_not_lead_to_the_data_version_is_refused(steps: Any, data_version: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Migrations(steps).check(data_version, "Account")


def test_old_and_new_code_writing_at_once_lose_nothing() -> None:
    """Old code is refused after new code has written; what old code wrote before is migrated."""
    with empty_db(TABLES) as db:
        db.run(SECOND.insert(SecondAccount(pk="a1", name="Ada")))
        done = threading.Barrier(2)
        kept = {"old": 0, "new": 0}

        def write(name: str, cents: int) -> None:
            done.wait()
            for _ in range(50):
                try:
                    if name == "old":
                        db.run(SECOND.change(lambda data: data.model_copy(update={"balance": data.balance + 1}), "a1"))
                    else:
                        db.run(ACCOUNTS.change(deposited(1), "a1"))
                except (DataNewer, VersionConflict):
                    continue
                else:
                    kept[name] += cents

        threads = [threading.Thread(target=write, args=given) for given in (("old", 100), ("new", 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert stored(db)["balance"] == kept["old"] + kept["new"]
