"""The draw: anybody can verify it, and cut off anywhere it ends the same."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from tests.recipes.interleaving import empty_db, play
from tests.services.events.acting import SEED, applied, current, in_queue_order, opened, seats, sent, turn, users

from partita import Session, f, update
from partita.cli import main
from partita.errors import IllegalTransition
from partita.queue import Queue
from partita.store import PutItem, TransactWriteItems
from partita.testing import Crash, FakeClock, FaultyStore
from partita_services.events.answers import DrawAnswer
from partita_services.events.cancelling import cancel
from partita_services.events.decisions import decide
from partita_services.events.draw import PAGE, DrawFound, DrawRefused, hold_draw, show_draw
from partita_services.events.model import (
    TABLE,
    Event,
    Request,
    active_events,
    log_of,
    request_by_id,
)
from partita_services.events.steps import Arrival
from partita_services.events.sweeper import LEASE, Sweeper
from partita_services.events.terms import EventStatus, EventType, Reason, Status, instant
from partita_services.events.verify import problems_of
from partita_services.events.work import Clerk

pytestmark = pytest.mark.req("E05")


def lottery(db: Session, capacity: int, entries: int, *, keeps_log: bool = False) -> Event:
    """A lottery with entries, which is closed."""
    event = opened(db, capacity, EventType.LOTTERY, closes_in=60, keeps_log=keeps_log)
    now = instant(db.context.clock())
    requests = applied(db, event, *users(entries))
    arrivals = [Arrival(request.request_id, request.user_id, now.timestamp()) for request in requests]
    db.run(decide(event, arrivals, turn(now)))
    return event


def expected_order(event: Event, requests: list[Request]) -> list[str]:
    """The order as the specification says it, by other means than the service."""
    digests = {
        hmac.new(SEED, f"{event.event_id}|{request.request_id}".encode(), hashlib.sha256).hexdigest(): request
        for request in requests
    }
    return [digests[digest].request_id for digest in sorted(digests)]


def drawn(db: Session, event: Event) -> DrawFound:
    return db.run(hold_draw(event.event_id, event.closes_at))


def as_json(found: DrawFound) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(DrawAnswer.of(found).model_dump_json(by_alias=True))
    return answer


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
    with pytest.raises(DrawRefused, match="on their way"):
        drawn(db, event)
    Clerk(db, queue, "w1").serve()
    assert len(drawn(db, event).order) == 1


def test_only_a_lottery_is_drawn(db: Session) -> None:
    event = opened(db, 1)
    with pytest.raises(DrawRefused, match="no lottery"):
        drawn(db, event)


def test_who_comes_after_the_draw_is_too_late(db: Session, queue: Queue) -> None:
    event = lottery(db, 1, 2)
    drawn(db, event)
    (late,) = sent(db, queue, event, "late")
    Clerk(db, queue, "w1").serve()
    assert (current(db, late).status, current(db, late).error_code) == (Status.REJECTED, Reason.CLOSED)


def test_held_twice_it_is_the_same(db: Session) -> None:
    event = lottery(db, 2, 5)
    first = drawn(db, event)
    assert db.run(hold_draw(event.event_id, instant(event.closes_at.timestamp() + 99))) == first


@pytest.mark.parametrize("keeps_log", [False, True])
def test_a_large_draw_is_written_in_bounded_items(db: Session, *, keeps_log: bool) -> None:
    entries = 250
    event = lottery(db, 100, entries, keeps_log=keeps_log)
    found = drawn(db, event)
    assert PAGE * 30 < 400_000  # bytes in an item
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
            return  # it had not begun
    store._rules.clear()
    fake_clock.advance(LEASE.total_seconds() + 1)
    Sweeper(db, queue, "w1").sweep()
    found = db.run(show_draw(event.event_id))
    assert list(found.order) == order
    assert problems_of(as_json(found)) == []
    assert {request.status for request in in_queue_order(db, event)} == {Status.SUCCEEDED, Status.REJECTED}


@pytest.mark.parametrize("seed", range(20))
def test_two_draws_at_once_and_a_late_entry_agree(seed: int) -> None:
    chance = Random(seed)
    with empty_db([TABLE], FakeClock()) as db:
        event = lottery(db, 2, 4)
        (late,) = applied(db, event, "late")
        entry = Arrival(late.request_id, late.user_id, event.closes_at.timestamp())
        works = [
            hold_draw(event.event_id, event.closes_at),
            hold_draw(event.event_id, event.closes_at),
            decide(event, [entry], turn(event.closes_at)),
            cancel(in_queue_order(db, event)[0].request_id, None, event.closes_at),
        ]
        play(db, works, chance.randrange, crashes=chance.randint(0, 2))
        db.run(decide(event, [entry], turn(event.closes_at)))
        found = drawn(db, event)
        assert problems_of(as_json(found)) == []
        requests = {request.request_id: request for request in in_queue_order(db, event)}
        winners = [r for r in requests.values() if r.status is Status.SUCCEEDED]
        assert len(winners) + seats(db, event).remaining == 2
        assert {request.status for request in requests.values()} == {Status.SUCCEEDED, Status.REJECTED}


CHANGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "an entry that was added": lambda draw: draw | {"waitingList": [*draw["waitingList"], "new"]},
    "an entry that was left out": lambda draw: draw | {"waitingList": draw["waitingList"][:-1]},
    "an entry that was exchanged": lambda draw: draw | {"winners": ["new", *draw["winners"][1:]]},
    "another seed": lambda draw: draw | {"seed": "00" * 32},
    "another seed with its commitment": lambda draw: (
        draw | {"seed": "00" * 32, "commitment": hashlib.sha256(bytes(32)).hexdigest()}
    ),
    "another winner": lambda draw: (
        draw
        | {
            "winners": [draw["waitingList"][0], draw["winners"][1]],
            "waitingList": [draw["winners"][0], *draw["waitingList"][1:]],
        }
    ),
    "one winner more": lambda draw: (
        draw | {"winners": [*draw["winners"], draw["waitingList"][0]], "waitingList": draw["waitingList"][1:]}
    ),
    "another order of waiting": lambda draw: draw | {"waitingList": draw["waitingList"][::-1]},
    "other entries": lambda draw: draw | {"entriesHash": "00" * 32},
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_detected(db: Session, change: str) -> None:
    event = lottery(db, 2, 6)
    draw = as_json(drawn(db, event))
    assert problems_of(CHANGES[change](draw), event.commitment) != []


def test_the_command_verifies(db: Session) -> None:
    event = lottery(db, 2, 6)
    draw = as_json(drawn(db, event))
    right = CliRunner().invoke(main, ["events", "verify-draw", "-"], input=json.dumps(draw))
    assert (right.exit_code, right.output) == (0, "The draw is right: 2 won and 4 wait, as the seed draws them.\n")
    wrong = CliRunner().invoke(main, ["events", "verify-draw", "-"], input=json.dumps(CHANGES["another winner"](draw)))
    assert wrong.exit_code == 1
    assert "Error: The winners are not those that the seed draws." in wrong.output
    other = CliRunner().invoke(main, ["events", "verify-draw", "-", "--commitment", "00"], input=json.dumps(draw))
    assert "The commitment is not the one that was published." in other.output
    for nonsense in ("[]", "{", '{"seed": "xx"}'):
        result = CliRunner().invoke(main, ["events", "verify-draw", "-"], input=nonsense)
        assert (result.exit_code, "This is no draw" in result.output) == (1, True)


# Cancelling, in a lottery and in first come.


def names(db: Session, event: Event, status: Status) -> list[str]:
    return sorted(request.user_id for request in in_queue_order(db, event) if request.status is status)


@pytest.mark.req("E11")
def test_a_winner_who_cancels_makes_room_for_the_next_who_still_waits(db: Session) -> None:
    event = lottery(db, 2, 5)
    order = drawn(db, event).order
    now = event.closes_at
    gone = db.run(cancel(order[2], None, now))  # the first of those who wait
    assert (gone.status, gone.error_code, gone.waiting_position) == (Status.REJECTED, Reason.CANCELLED, None)
    db.run(cancel(order[0], None, now))
    assert [_status(db, entry) for entry in order] == [
        (Status.REJECTED, Reason.CANCELLED),
        (Status.SUCCEEDED, None),
        (Status.REJECTED, Reason.CANCELLED),
        (Status.SUCCEEDED, None),
        (Status.REJECTED, Reason.WAITING_LIST),
    ]
    db.run(cancel(order[1], None, now))
    db.run(cancel(order[3], None, now))
    assert seats(db, event).remaining == 1  # one seat, and nobody left who waits
    assert problems_of(as_json(db.run(show_draw(event.event_id)))) == []  # what was drawn stays as it was


def _status(db: Session, request_id: str) -> tuple[Status, str | None]:
    request = db.run(request_by_id(request_id))
    assert request is not None
    return request.status, request.error_code


@pytest.mark.req("E11")
def test_an_entry_that_is_cancelled_takes_no_part(db: Session) -> None:
    event = lottery(db, 2, 3)
    first = in_queue_order(db, event)[0]
    db.run(cancel(first.request_id, None, event.opens_at))
    assert seats(db, event).entered == 2
    assert first.request_id not in drawn(db, event).order


def test_while_the_draw_is_held_no_entry_can_leave(db: Session, store: FaultyStore) -> None:
    event = lottery(db, 2, 3)
    store.crash_before(1, on=PutItem)
    with pytest.raises(Crash):
        drawn(db, event)
    held = [request for request in in_queue_order(db, event) if request.status is Status.PROCESSING]
    for request in held:
        with pytest.raises(IllegalTransition, match="being held"):
            db.run(cancel(request.request_id, None, event.closes_at))
    assert held


TOLD_IN_TWO = 120
"""Entries that take two transactions to be told."""


def cut_off(db: Session, store: FaultyStore, transaction: int) -> tuple[Event, list[str]]:
    """A lottery whose draw was cut off before one of its transactions, and the order that its seed draws."""
    event = lottery(db, 1, TOLD_IN_TWO)
    order = expected_order(event, in_queue_order(db, event))
    store.crash_before(transaction, on=TransactWriteItems)
    with pytest.raises(Crash):
        drawn(db, event)
    return event, order


@pytest.mark.req("E05", "E07", "E11")
@pytest.mark.parametrize("transaction", [3, 4], ids=["some were told", "all were told"])
def test_while_the_draw_is_held_nobody_leaves_the_waiting_list(
    db: Session, store: FaultyStore, transaction: int
) -> None:
    event, order = cut_off(db, store, transaction)
    with pytest.raises(IllegalTransition, match="being held"):
        db.run(cancel(order[1], None, event.closes_at))
    assert list(drawn(db, event).order) == order
    db.run(cancel(order[1], None, event.closes_at))
    assert _status(db, order[1]) == (Status.REJECTED, Reason.CANCELLED)


@pytest.mark.req("E05", "E07")
def test_a_draw_that_somebody_has_left_is_finished_all_the_same(db: Session, store: FaultyStore) -> None:
    event, order = cut_off(db, store, 3)
    left = f(Request.error_code).set(Reason.CANCELLED), f(Request.waiting_position).remove()
    db.run(update(request_by_id(order[1]), *left))  # as it was possible once
    found = drawn(db, event)
    assert list(found.order) == order
    assert problems_of(as_json(found), event.commitment) == []
    assert [_status(db, entry) for entry in order] == [
        (Status.SUCCEEDED, None),
        (Status.REJECTED, Reason.CANCELLED),
        *[(Status.REJECTED, Reason.WAITING_LIST)] * (TOLD_IN_TWO - 2),
    ]
