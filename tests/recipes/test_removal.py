"""Deleting everything that a query finds, and nothing else, even if it is interrupted repeatedly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pytest

from partita import EmbeddedStore, Entity, Index, Key, Registry, Session, Table, insert, query
from partita.recipes.removal import remove_all
from partita.store._requests import BatchWriteItem, QueryTable, ScanTable
from partita.testing import Crash, FakeClock, FaultyStore

TABLE = Table("removal", indexes=[Index("GSI1")], ttl="ttl", registry=Registry())


class Entry(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user_id}", "ENTRY#{number:03}")
    by_mood: ClassVar = Key("MOOD#{mood}", "ENTRY#{number:03}", index="GSI1")
    user_id: str
    number: int
    mood: str = "calm"
    ttl: int | None = None


class Comment(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user_id}", "ENTRY#{number:03}#COMMENT#{comment:03}")
    user_id: str
    number: int
    comment: int


@query(Entry, Entry.primary)
def entries_of(user_id: str) -> None:
    """A user's entries."""


@query(Entry, Entry.by_mood)
def entries_in(mood: str) -> None:
    """All entries of a mood."""


@pytest.fixture
def store(fake_clock: FakeClock) -> Iterator[FaultyStore]:
    with EmbeddedStore(":memory:", clock=fake_clock, sweep_every=None) as memory:
        yield FaultyStore(memory)


@pytest.fixture
def db(store: FaultyStore, fake_clock: FakeClock) -> Session:
    db = Session(store, clock=fake_clock)
    db.create_tables([TABLE])
    for number in range(60):
        db.run(insert(Entry(user_id="ada", number=number, ttl=1 if number % 2 else None)))
    db.run(insert(Comment(user_id="ada", number=7, comment=1)))
    db.run(insert(Entry(user_id="bob", number=1, mood="glad")))
    return db


def left(store: FaultyStore) -> list[tuple[object, object]]:
    return sorted((item["PK"], item["SK"]) for item in store.execute(ScanTable(TABLE.name)).items)


OTHERS = [("USER#ada", "ENTRY#007#COMMENT#001"), ("USER#bob", "ENTRY#001")]


def test_all_of_the_entity_goes_expired_or_not_and_nothing_else(db: Session, store: FaultyStore) -> None:
    assert db.run(remove_all(entries_of("ada"))) == 60
    assert left(store) == OTHERS
    batches = [request for request in store.requests if isinstance(request, BatchWriteItem)]
    assert max(len(batch.writes) for batch in batches) == 25
    assert all(query.consistent for query in store.requests if isinstance(query, QueryTable))


def test_it_follows_an_index_too(db: Session, store: FaultyStore) -> None:
    assert db.run(remove_all(entries_in("calm"))) == 60
    assert left(store) == OTHERS
    assert not any(query.consistent for query in store.requests if isinstance(query, QueryTable))


@pytest.mark.parametrize("cut", range(1, 7))
def test_cut_off_it_is_run_again(db: Session, store: FaultyStore, cut: int) -> None:
    store.crash_after(cut, on=(QueryTable, BatchWriteItem))
    with pytest.raises(Crash):
        db.run(remove_all(entries_of("ada")))
    db.run(remove_all(entries_of("ada")))
    assert left(store) == OTHERS
