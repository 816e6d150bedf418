"""Write sharding: all shards are read as one range, in order, with one limit and one cursor."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita import (
    AsyncSession,
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Registry,
    Session,
    Shards,
    Span,
    Table,
    batch_write,
    collect,
    explain,
    f,
    get,
    insert,
    put,
    query,
    update,
)
from partita.errors import InvalidCursor, LimitExceeded, ModelError
from partita.model import Rcu
from partita.patterns import key_matches
from partita.store import PutItem
from partita.testing import FakeClock

EVENTS = Table("events", indexes=[Index("GSI1")], ttl="until", registry=Registry())


class Event(Entity, table=EVENTS):
    primary: ClassVar = Key("EVENTS#{topic}#{shard}", "EVENT#{at:06}#{event_id}")
    by_day: ClassVar = Key("DAY#{day}#{shard}", "{at:06}", index="GSI1")

    shard: ClassVar = Shards(4, "event_id")

    topic: str
    at: int
    event_id: str
    day: date = date(2026, 1, 1)
    body: str = ""
    until: int | None = None


@get(Event)
def event(topic: str, at: int, event_id: str) -> None: ...
@query(Event, Event.primary, budget=Rcu(12))
def events(topic: str) -> None:
    """All events of a topic."""


@query(Event, Event.primary)
def events_since(topic: str, at: Span[int]) -> None: ...
@query(Event, Event.primary)
def events_in_shard(topic: str, shard: int) -> None: ...
@query(Event, Event.by_day, newest_first=True)
def events_on(day: date) -> None: ...


def made(n: int, **fields: Any) -> Event:
    return Event(topic="t", at=n // 2, event_id=f"e{n}", **fields)


@pytest.fixture
def db(fake_clock: FakeClock) -> Iterator[Session]:
    with EmbeddedStore(":memory:", clock=fake_clock) as store:
        session = Session(store, clock=fake_clock, strict_budgets=True)
        session.create_tables([EVENTS])
        yield session


def fill(db: Session, count: int, **fields: Any) -> list[Event]:
    stored = [made(n, **fields) for n in range(count)]
    db.run(batch_write([put(each) for each in stored]))
    return stored


def walked(db: Session, asked: Any, limit: int) -> list[Event]:
    seen: list[Event] = []
    cursor: str | None = None
    while True:
        page = db.run(asked.page(limit, after=cursor))
        assert len(page) <= limit
        seen += page.items
        if (cursor := page.next_cursor) is None:
            return seen


def test_items_are_spread_over_the_shards(db: Session) -> None:
    stored = fill(db, 40)
    in_shards = [db.run(events_in_shard("t", n)).items for n in range(4)]
    assert all(len(each) > 4 for each in in_shards)
    assert {each for part in in_shards for each in part} == set(stored)


def test_a_read_of_all_shards_is_in_order(db: Session) -> None:
    stored = fill(db, 40)
    found = db.run(events("t"))
    assert [each.at for each in found] == [each.at for each in stored]
    assert set(found) == set(stored)
    assert found.next_cursor is None
    assert [each.at for each in db.run(events("t").reversed())] == [each.at for each in reversed(stored)]
    assert [each.at for each in db.run(events_on(date(2026, 1, 1)))] == [each.at for each in reversed(stored)]
    assert [each.at for each in db.run(events_since("t", Span.since(18)))] == [18, 18, 19, 19]


def test_an_item_is_read_and_changed_in_its_shard(db: Session) -> None:
    fill(db, 3)
    changed = db.run(update(event("t", 1, "e2"), f(Event.body).set("x")))
    assert db.run(event("t", 1, "e2")) == changed
    assert changed.shard == Event.shard.of({"event_id": "e2"})


@given(
    st.lists(st.tuples(st.integers(0, 30), st.text("abcdefgh", min_size=1, max_size=3)), unique=True, max_size=40),
    st.integers(1, 12),
    st.booleans(),
    st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_pages_are_the_whole_range_in_order(
    keys: list[tuple[int, str]],
    limit: int,
    backwards: bool,  # noqa: FBT001
    by_index: bool,  # noqa: FBT001
) -> None:
    with EmbeddedStore(":memory:") as store:
        db = Session(store)
        db.create_tables([EVENTS])
        stored = [Event(topic="t", at=at, event_id=event_id) for at, event_id in keys]
        db.run(batch_write([put(each) for each in stored]))
        asked = events_on(date(2026, 1, 1)).reversed() if by_index else events("t")
        seen = walked(db, asked.reversed() if backwards else asked, limit)
        order = [each.at for each in seen]
        assert order == sorted(order, reverse=backwards)
        assert len(seen) == len(stored)
        assert set(seen) == set(stored)


def test_a_page_costs_the_sum_of_what_it_reads_of_its_shards(db: Session) -> None:
    fill(db, 80, body="x" * 800)
    with db.meter.watch() as seen:
        db.run(events("t").page(20))
        parts = [db.run(events_in_shard("t", n).page(8)) for n in range(4)]
    assert [len(each) for each in parts] == [8] * 4
    whole, *shards = seen
    assert whole.requests == ("QueryTable",) * 4
    assert whole.read == sum(run.read for run in shards) == 4.0  # 32 items of 1 KB are read for a page of 20


def test_explain_counts_all_shards(db: Session) -> None:
    fill(db, 8)
    explained = explain(events("t").page(20), db)
    assert len(explained.at_once) == 4
    partitions = [each["ExpressionAttributeValues"][":0"]["S"] for each in explained.at_once]
    assert partitions == [f"EVENTS#t#{n}" for n in range(4)]
    assert explained.predicted == Rcu(4)  # 8 items of 1,024 bytes from each shard
    assert (explained.consumed, explained.requests_sent) == (Rcu(2), 4)
    assert "events: Query on the table, 4 at once" in str(explained)
    assert str(explained).endswith("and 2 more like these")


def test_a_shard_that_runs_out_is_read_on(db: Session) -> None:
    """All items are in one shard, so that its first read does not fill the page."""
    first = [made(n) for n in range(200)]
    lonely = [each for each in first if each.shard == 0]
    db.run(batch_write([put(each) for each in lonely]))
    with db.meter.watch() as seen:
        assert list(db.run(events("t").page(20))) == lonely[:20]
    assert len(seen[0].requests) == 5


def test_first_count_and_walk_see_all_shards(db: Session) -> None:
    stored = fill(db, 40)
    assert db.run(events("t").first()) in stored[:2]
    assert db.run(events("nothing").first()) is None
    assert db.run(events("t").count()) == 40
    assert db.run(events("t").where(f(Event.at).lt(5)).count()) == 10
    walk = db.run(events("t").walk(max_items=25))
    assert ([each.at for each in walk], walk.truncated) == ([each.at for each in stored[:25]], True)
    walk = db.run(events("t").page(7).walk(max_items=40))
    assert ([each.at for each in walk], walk.truncated) == ([each.at for each in stored], False)


def test_filters_and_expired_items_leave_pages_whole(db: Session, fake_clock: FakeClock) -> None:
    stored = [made(n, until=int(fake_clock()) + 5 if n % 3 else None) for n in range(60)]
    db.run(batch_write([put(each) for each in stored]))
    fake_clock.advance(10)
    alive = [each for each in stored if each.until is None]
    assert [each.at for each in walked(db, events("t"), 3)] == [each.at for each in alive]
    even = [each for each in alive if each.at % 2 == 0]
    odd = f(Event.at).is_in([each.at for each in even])
    assert [each.at for each in walked(db, events("t").where(odd), 2)] == [each.at for each in even]


def test_a_first_match_that_is_never_found_ends(db: Session, fake_clock: FakeClock) -> None:
    db.run(batch_write([put(made(n, until=int(fake_clock()) + 1)) for n in range(200)]))
    fake_clock.advance(5)
    with pytest.raises(LimitExceeded, match="found no match within 10 pages"):
        db.run(events("t").first())


def test_a_cursor_is_bound_to_its_query(db: Session) -> None:
    fill(db, 40)
    cursor = db.run(events("t").page(5)).next_cursor
    for other in (events("u"), events("t").reversed(), events_in_shard("t", 0), events_since("t", Span.since(0))):
        with pytest.raises(InvalidCursor):
            db.run(other.page(5, after=cursor))


async def test_an_async_session_reads_shards_at_once(db: Session) -> None:
    stored = fill(db, 20)
    found = await AsyncSession(db.store).run(events("t"))
    assert [each.at for each in found] == [each.at for each in stored]


def test_a_pattern_of_all_shards_says_so() -> None:
    (partition, sort) = key_matches(EVENTS.patterns["events"])
    assert (partition.relation, partition.template) == ("is each of 4 shards of", "EVENTS#{topic}#{shard}")
    assert sort.relation == "begins with"
    assert [match.relation for match in key_matches(EVENTS.patterns["events_in_shard"])] == ["is", "begins with"]


def test_a_collection_of_shards_is_refused() -> None:
    from dataclasses import make_dataclass

    with pytest.raises(ModelError, match="has shards; a collection reads one partition"):
        collect(make_dataclass("All", [("events", tuple[Event, ...])]), "EVENTS#{topic}#{shard}")


def test_an_insert_goes_into_one_shard(db: Session) -> None:
    db.run(insert(made(1)))
    assert sum(len(db.run(events_in_shard("t", n))) for n in range(4)) == 1


def test_a_page_gives_up_after_ten_reads_of_a_shard(db: Session, fake_clock: FakeClock) -> None:
    """All items that are read have expired: the page is empty, and its cursor says where to continue."""
    expired = [made(n, until=int(fake_clock()) + 1) for n in range(200)]
    db.run(batch_write([put(each) for each in expired if each.shard == 0]))
    fake_clock.advance(5)
    with db.meter.watch() as seen:
        page = db.run(events("t").page(1))
    assert (page.items, page.next_cursor is None) == ((), False)
    assert len(seen[0].requests) == 10 + 3  # ten reads of that shard, and one of each other shard


def test_items_of_nobody_are_counted_over_all_shards(db: Session) -> None:
    fill(db, 8)
    lenient = Session(db.store)
    assert lenient.run(events("t")).unclaimed == 0
    for shard in range(2):
        db.store.execute(PutItem(EVENTS.name, {"PK": f"EVENTS#t#{shard}", "SK": "EVENT#x"}))
    assert lenient.run(events("t")).unclaimed == 2
