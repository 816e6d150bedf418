"""The draw: anybody can verify it, and an interruption anywhere does not change its result."""

from __future__ import annotations

import hashlib
from contextlib import closing, suppress
from random import Random

import pytest
from tests.recipes.interleaving import empty_db, play
from tests.services.events.acting import SEED, applied, attempt, current, in_queue_order, opened, seats, sent
from tests.services.events.draws.drawing import (
    SETTLED_IN_TWO,
    as_json,
    cut_off,
    drawn,
    expected_order,
    lottery,
    status_of,
)

from partita import EmbeddedStore, Session, f, update
from partita.queue import Queue
from partita.testing import Crash, FakeClock, FaultyStore, Realism, RealisticStore
from partita_services.events.cancelling import cancel
from partita_services.events.draws.draw import PAGE, DrawRefused, hold_draw, show_draw
from partita_services.events.draws.verify import problems_of
from partita_services.events.model import TABLE, Request, active_events, log_of, request_by_id
from partita_services.events.queueing.decisions import decide
from partita_services.events.queueing.sweeper import LEASE, Sweeper
from partita_services.events.queueing.worker import Worker
from partita_services.events.terms import EventStatus, EventType, Reason, Status, instant
from partita_services.events.transitions import Arrival

pytestmark = pytest.mark.req("E05")


@pytest.mark.parametrize(("capacity", "entries"), [(3, 8), (5, 5), (5, 2), (2, 0)])
def test_the_seed_decides(db: Session, capacity: int, entries: int) -> None:
    event = lottery(db, capacity, entries)
    requests = in_queue_order(db, event)
    found = drawn(db, event)
    order = expected_order(event, requests)
    assert list(found.order) == order
    assert (found.seed, found.event.commitment) == (SEED.hex(), hashlib.sha256(SEED).hexdigest())
    won = dict.fromkeys(order[:capacity], (Status.SUCCEEDED, None, None))
    waits = {
        request_id: (Status.REJECTED, Reason.WAITING_LIST, place)
        for place, request_id in enumerate(order[capacity:], start=1)
    }
    now = {r.request_id: (r.status, r.error_code, r.waiting_position) for r in in_queue_order(db, event)}
    assert now == won | waits
    assert seats(db, event).remaining == max(0, capacity - entries)
    assert found.event.status is EventStatus.FINISHED
    assert db.run(active_events()).items == ()
    assert problems_of(as_json(found), event.commitment) == []


def test_the_seed_is_a_secret_until_the_draw_is_held(db: Session) -> None:
    event = lottery(db, 1, 3)
    found = db.run(show_draw(event.event_id))
    assert (found.draw, found.seed, found.order) == (None, None, ())
    assert SEED.hex() not in event.model_dump_json()
    assert problems_of(as_json(found)) == ["The seed is not revealed yet."]


def test_it_is_held_when_the_event_is_closed_and_all_entries_have_arrived(
    db: Session, queue: Queue, fake_clock: FakeClock
) -> None:
    event = opened(db, 1, EventType.LOTTERY, closes_in=60)
    sent(db, queue, event, "a")
    with pytest.raises(DrawRefused, match="not closed"):
        db.run(hold_draw(event.event_id, instant(fake_clock())))
    with pytest.raises(DrawRefused, match="still in the queue"):
        drawn(db, event)
    Worker(db, queue, "w1").serve()
    assert len(drawn(db, event).order) == 1


def test_an_index_that_lags_changes_no_entry(fake_clock: FakeClock) -> None:
    """As many entries have left as have come since the index was current, so their number is right."""
    lagging = RealisticStore(
        EmbeddedStore(":memory:", clock=fake_clock), Realism(index_seconds=10, seed=1), clock=fake_clock
    )
    with closing(lagging):
        db = Session(lagging, clock=fake_clock)
        db.create_tables([TABLE])
        event = lottery(db, 2, 4)
        fake_clock.advance(59)
        lagging.catch_up()
        left = in_queue_order(db, event)[0]
        db.run(cancel(left.request_id, None, instant(fake_clock())))
        (late,) = applied(db, event, "late")
        entry = Arrival(late.request_id, late.user_id, fake_clock())
        db.run(decide(event, [entry], attempt(instant(fake_clock()))))
        with pytest.raises(DrawRefused, match="not visible yet"):
            drawn(db, event)
        lagging.catch_up()
        found = drawn(db, event)
        assert (late.request_id in found.order, left.request_id in found.order) == (True, False)
        assert problems_of(as_json(found), event.commitment) == []


def test_only_a_lottery_is_drawn(db: Session) -> None:
    event = opened(db, 1)
    with pytest.raises(DrawRefused, match="not a lottery"):
        drawn(db, event)


def test_who_comes_after_the_draw_is_too_late(db: Session, queue: Queue) -> None:
    event = lottery(db, 1, 2)
    drawn(db, event)
    (late,) = sent(db, queue, event, "late")
    Worker(db, queue, "w1").serve()
    assert (current(db, late).status, current(db, late).error_code) == (Status.REJECTED, Reason.CLOSED)
    assert seats(db, event).entered == 2


def test_held_twice_it_is_the_same(db: Session) -> None:
    event = lottery(db, 2, 5)
    first = drawn(db, event)
    assert db.run(hold_draw(event.event_id, instant(event.closes_at.timestamp() + 99))) == first


@pytest.mark.parametrize("keeps_log", [False, True])
def test_a_large_draw_is_written_in_bounded_items(db: Session, *, keeps_log: bool) -> None:
    entries = 250
    event = lottery(db, 100, entries, keeps_log=keeps_log)
    found = drawn(db, event)
    assert PAGE * 30 < 400_000  # the maximum bytes of an item
    assert len(found.order) == entries
    statuses = [request.status for request in in_queue_order(db, event)]
    assert (statuses.count(Status.SUCCEEDED), statuses.count(Status.REJECTED)) == (100, 150)
    if keeps_log:
        logged = [entry.status for entry in db.run(log_of(found.order[0]))]
        assert logged == [Status.RECEIVED, Status.QUEUED, Status.PROCESSING, Status.SUCCEEDED]


def test_cut_off_before_or_after_any_of_its_requests_it_ends_the_same(
    db: Session, store: FaultyStore, fake_clock: FakeClock
) -> None:
    event = lottery(db, 90, 210)
    order = expected_order(event, in_queue_order(db, event))
    for nth in range(1, 60):
        (store.crash_before if nth % 2 else store.crash_after)(nth)
        with suppress(Crash):
            drawn(db, event)
        store._rules.clear()
    found = drawn(db, event)
    assert list(found.order) == order
    statuses = {request.request_id: request.status for request in in_queue_order(db, event)}
    assert [statuses[request_id] for request_id in order] == [Status.SUCCEEDED] * 90 + [Status.REJECTED] * 120
    assert problems_of(as_json(found)) == []


@pytest.mark.parametrize("nth", range(20, 38))
@pytest.mark.parametrize("when", ["crash_before", "crash_after"])
def test_a_draw_that_died_is_finished_by_the_sweeper(
    db: Session, queue: Queue, store: FaultyStore, fake_clock: FakeClock, nth: int, when: str
) -> None:
    event = lottery(db, 2, 5)
    order = expected_order(event, in_queue_order(db, event))
    fake_clock.set(event.closes_at)
    getattr(store, when)(nth)
    try:
        drawn(db, event)
    except Crash:
        if db.run(show_draw(event.event_id)).draw is None:
            return  # the draw had not begun
    store._rules.clear()
    fake_clock.advance(LEASE.total_seconds() + 1)
    Sweeper(db, queue, "w1").sweep()
    found = db.run(show_draw(event.event_id))
    assert list(found.order) == order
    assert problems_of(as_json(found)) == []
    assert {request.status for request in in_queue_order(db, event)} == {Status.SUCCEEDED, Status.REJECTED}


@pytest.mark.parametrize("seed", range(20))
def test_two_draws_at_once_and_a_late_entry_agree(seed: int) -> None:
    random = Random(seed)
    with empty_db([TABLE], FakeClock()) as db:
        event = lottery(db, 2, 4)
        (late,) = applied(db, event, "late")
        entry = Arrival(late.request_id, late.user_id, event.closes_at.timestamp())
        works = [
            hold_draw(event.event_id, event.closes_at),
            hold_draw(event.event_id, event.closes_at),
            decide(event, [entry], attempt(event.closes_at)),
            cancel(in_queue_order(db, event)[0].request_id, None, event.closes_at),
        ]
        play(db, works, random.randrange, crashes=random.randint(0, 2))
        db.run(decide(event, [entry], attempt(event.closes_at)))
        found = drawn(db, event)
        assert problems_of(as_json(found)) == []
        requests = {request.request_id: request for request in in_queue_order(db, event)}
        winners = [r for r in requests.values() if r.status is Status.SUCCEEDED]
        assert len(winners) + seats(db, event).remaining == 2
        assert {request.status for request in requests.values()} == {Status.SUCCEEDED, Status.REJECTED}


@pytest.mark.req("E05", "E07")
def test_a_draw_that_somebody_has_left_is_finished_all_the_same(db: Session, store: FaultyStore) -> None:
    event, order = cut_off(db, store, 3)
    left = f(Request.error_code).set(Reason.CANCELLED), f(Request.waiting_position).remove()
    db.run(update(request_by_id(order[1]), *left))  # an earlier version allowed this
    found = drawn(db, event)
    assert list(found.order) == order
    assert problems_of(as_json(found), event.commitment) == []
    assert [status_of(db, entry) for entry in order] == [
        (Status.SUCCEEDED, None),
        (Status.REJECTED, Reason.CANCELLED),
        *[(Status.REJECTED, Reason.WAITING_LIST)] * (SETTLED_IN_TWO - 2),
    ]
