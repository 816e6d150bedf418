"""Bounded counters: one conditional update, never out of bounds, even with concurrent writers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.recipes.interleaving import CRASHED, empty_db, every_schedule, play

from partita import Entity, Index, Key, Registry, Session, Table, Version, f, get, insert, transact
from partita.errors import (
    ConditionFailed,
    ItemMissing,
    LimitReached,
    ModelError,
    OperationError,
    TransactionCancelled,
    VersionConflict,
)
from partita.recipes.counter import Counter
from partita.store._requests import PutItem

TABLE = Table("events", indexes=[Index("GSI1")], registry=Registry())


class Event(Entity, table=TABLE):
    primary: ClassVar = Key("EVENT#{event_id}", "META")
    event_id: str
    name: str = ""
    left: int = 10
    taken: int


class Prize(Entity, table=TABLE):
    """A prize with a version, whose counter is part of an index key."""

    primary: ClassVar = Key("PRIZE#{prize_id}", "META")
    by_left: ClassVar = Key("PRIZES", "LEFT#{left:04}#{prize_id}", index="GSI1")
    prize_id: str
    left: int = 3
    version: Version = 0


@get(Event)
def event_by_id(event_id: str) -> None:
    """One event."""


@get(Prize)
def prize_by_id(prize_id: str) -> None:
    """One prize."""


SEATS = Counter(Event, f(Event.left))
TAKEN = Counter(Event, f(Event.taken), floor=0, limit=10)
PRIZES = Counter(Prize, f(Prize.left), floor=0, limit=3)
ONE = event_by_id("e1")


@pytest.fixture
def db() -> Iterator[Session]:
    with empty_db([TABLE]) as session:
        session.run(insert(Event(event_id="e1", taken=0)))
        session.run(insert(Prize(prize_id="p1")))
        yield session


def test_it_moves_by_one_or_by_several(db: Session) -> None:
    assert db.run(SEATS.down(ONE)).left == 9
    assert db.run(SEATS.down(ONE, 9)).left == 0
    assert db.run(SEATS.up(ONE, 4)).left == 4


def test_below_the_floor_nothing_changes_and_the_error_says_what_remains(db: Session) -> None:
    db.run(SEATS.down(ONE, 8))
    with pytest.raises(LimitReached, match=r"3 of Event\.left requested, 2 left") as caught:
        db.run(SEATS.down(ONE, 3))
    assert (caught.value.remaining, caught.value.current.left) == (2, 2)
    assert db.run(SEATS.down(ONE, 2)).left == 0


def test_above_the_limit_nothing_changes_and_the_error_says_what_remains(db: Session) -> None:
    db.run(TAKEN.up(ONE, 9))
    with pytest.raises(LimitReached) as caught:
        db.run(TAKEN.up(ONE, 2))
    assert (caught.value.remaining, caught.value.current.taken) == (1, 9)


def test_the_limit_may_be_each_item_s_own(db: Session) -> None:
    small = TAKEN.with_limit(2)
    db.run(small.up(ONE, 2))
    with pytest.raises(LimitReached):
        db.run(small.up(ONE))
    with pytest.raises(LimitReached):
        db.run(small.down(ONE, 3))


def test_without_a_bound_it_moves_any_distance(db: Session) -> None:
    free = Counter(Event, f(Event.taken), floor=None)
    assert db.run(free.down(ONE, 1_000_000)).taken == -1_000_000
    assert db.run(free.up(ONE, 3_000_000)).taken == 2_000_000


def test_an_item_without_the_attribute_counts_from_the_default(db: Session) -> None:
    item = {"PK": "EVENT#old", "SK": "META", "event_id": "old", "taken": 0}
    db.store.execute(PutItem("events", item))
    with pytest.raises(LimitReached) as caught:
        db.run(SEATS.down(event_by_id("old"), 11))
    assert caught.value.remaining == 10
    assert db.run(SEATS.down(event_by_id("old"), 3)).left == 7


def test_a_counter_of_nothing_is_missing(db: Session) -> None:
    with pytest.raises(ItemMissing):
        db.run(SEATS.down(event_by_id("none")))


def test_another_condition_that_fails_is_not_called_a_limit(db: Session) -> None:
    with pytest.raises(ConditionFailed) as caught:
        db.run(SEATS.down(ONE).when(f(Event.name).eq("other")))
    assert type(caught.value) is ConditionFailed


def test_with_an_item_that_was_read_its_version_guards_too(db: Session) -> None:
    read = db.run(prize_by_id("p1"))
    assert read is not None
    db.run(PRIZES.down(prize_by_id("p1")))
    with pytest.raises(VersionConflict):
        db.run(PRIZES.down(read))


def test_index_keys_follow_the_counter(db: Session) -> None:
    db.run(PRIZES.down(prize_by_id("p1"), 2))
    item = db.store.execute(prize_by_id("p1").request()).item
    assert item is not None
    assert (item["left"], item["GSI1SK"]) == (1, "LEFT#0001#p1")
    with pytest.raises(LimitReached):
        db.run(PRIZES.down(prize_by_id("p1"), 2))


def test_it_is_part_of_a_transaction(db: Session) -> None:
    db.transact(SEATS.down(ONE, 10), insert(Event(event_id="e2", taken=0)))
    with pytest.raises(TransactionCancelled) as caught:
        db.run(transact(SEATS.down(ONE), insert(Event(event_id="e3", taken=0))))
    error = caught.value.reasons[0].error
    assert isinstance(error, LimitReached)
    assert error.remaining == 0
    assert db.run(event_by_id("e3")) is None


def test_in_every_order_and_with_crashes_the_last_seats_are_given_once() -> None:
    for choose in every_schedule():
        with empty_db([TABLE]) as db:
            db.run(insert(Event(event_id="e1", left=3, taken=0)))
            works: list[Any] = [SEATS.down(ONE, 2), SEATS.down(ONE, 2), SEATS.down(ONE)]
            results = play(db, works, choose, crashes=1)
            left = db.run(ONE)
            assert left is not None
            given_away = sum(by for by, result in zip((2, 2, 1), results, strict=True) if isinstance(result, Event))
            maybe = sum(by for by, result in zip((2, 2, 1), results, strict=True) if result == CRASHED)
            assert 0 <= left.left <= 3
            assert 3 - left.left in {given_away, given_away + maybe}


@given(moves=st.lists(st.integers(-12, 12).filter(bool), max_size=30))
def test_it_agrees_with_a_plain_number_that_refuses_to_leave_its_bounds(moves: list[int]) -> None:
    with empty_db([TABLE]) as db:
        db.run(insert(Event(event_id="e1", taken=0)))
        number = 0
        for move in moves:
            count = TAKEN.up(ONE, move) if move > 0 else TAKEN.down(ONE, -move)
            if 0 <= number + move <= 10:
                number += move
                assert db.run(count).taken == number
            else:
                with pytest.raises(LimitReached) as caught:
                    db.run(count)
                assert caught.value.remaining == (10 - number if move > 0 else number)
        event = db.run(ONE)
        assert event is not None
        assert event.taken == number


def test_it_costs_one_write(db: Session) -> None:
    with db.meter.watch() as seen:
        db.run(SEATS.down(ONE))
    assert [(run.name, run.requests, run.read, run.write) for run in seen] == [("Event.count", ("UpdateItem",), 0, 1)]


@pytest.mark.parametrize("by", [0, -1])
def test_the_direction_is_not_a_sign(by: int) -> None:
    with pytest.raises(OperationError, match="moves by 1 or more"):
        SEATS.up(ONE, by)


def test_a_field_that_is_not_a_number_of_the_entity_is_refused() -> None:
    with pytest.raises(ModelError, match="is not an int"):
        Counter(Event, f(Event.name))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="is not a field of Prize"):
        Counter(Prize, f(Event.taken))


def test_bounds_without_room_are_refused() -> None:
    with pytest.raises(ModelError, match="no room"):
        Counter(Event, f(Event.taken), floor=3, limit=3)
