"""Decisions of first-come events: exactly the first win, despite redeliveries, crashes and overtaken workers."""

from __future__ import annotations

from random import Random

import pytest
from tests.recipes.interleaving import CRASHED, Choose, empty_db, every_schedule, play
from tests.services.events.acting import (
    applied,
    attempt,
    check_first_come,
    current,
    in_queue_order,
    opened,
    seats,
    users,
)

from partita import Session
from partita.errors import ItemMissing
from partita.queue import SentMessage
from partita.store import TransactWriteItems
from partita.testing import FakeClock, FaultyStore
from partita_services.events.cancelling import cancel
from partita_services.events.model import TABLE, Event, Request
from partita_services.events.queueing.decisions import decide
from partita_services.events.queueing.sender import mark
from partita_services.events.terms import MESSAGES, EventType, Reason, Status, instant
from partita_services.events.transitions import Arrival

NOW = instant(1_767_225_600)


def arrivals(requests: list[Request], sent_at: float = NOW.timestamp()) -> list[Arrival]:
    """Return the arrivals of requests, all of which the queue accepted at the same instant."""
    return [Arrival(request.request_id, request.user_id, sent_at) for request in requests]


@pytest.mark.req("E03")
def test_the_first_win_and_the_rest_are_rejected(db: Session) -> None:
    event = opened(db, capacity=2)
    requests = applied(db, event, *users(4))
    db.run(decide(event, arrivals(requests), attempt(NOW)))
    check_first_come(db, event, 2, [request.request_id for request in requests])
    decided = [current(db, request) for request in requests]
    assert [(r.status, r.error_code) for r in decided] == [
        (Status.SUCCEEDED, None),
        (Status.SUCCEEDED, None),
        (Status.REJECTED, Reason.WAITING_LIST),
        (Status.REJECTED, Reason.WAITING_LIST),
    ]
    assert [r.waiting_position for r in decided] == [None, None, 1, 2]
    assert [r.error_message for r in decided] == [None, None, *[MESSAGES[Reason.WAITING_LIST]] * 2]
    assert [(r.started_at, r.finished_at) for r in decided] == [(r.queued_at, r.queued_at) for r in decided]


@pytest.mark.req("E03")
def test_the_order_is_that_of_the_queue_and_not_of_any_clock(db: Session) -> None:
    event = opened(db, capacity=2)
    early, late = applied(db, event, "early", "late")
    db.run(decide(event, arrivals([late], sent_at=NOW.timestamp() + 5), attempt(NOW)))
    db.run(decide(event, arrivals([early], sent_at=NOW.timestamp() - 5), attempt(NOW)))
    assert in_queue_order(db, event) == [current(db, late), current(db, early)]


@pytest.mark.req("E04")
def test_many_are_decided_in_one_transaction(db: Session, store: FaultyStore) -> None:
    event = opened(db, capacity=50)
    requests = applied(db, event, *users(196))
    store.requests.clear()
    db.run(decide(event, arrivals(requests), attempt(NOW)))
    sent = [len(request.actions) for request in store.requests if isinstance(request, TransactWriteItems)]
    assert sent == [100, 100]  # the seats, a page of the waiting list, and 98 requests each
    check_first_come(db, event, 50, [request.request_id for request in requests])


@pytest.mark.req("E03")
def test_what_is_delivered_again_changes_nothing(db: Session) -> None:
    event = opened(db, capacity=2)
    requests = applied(db, event, *users(5))
    db.run(decide(event, arrivals(requests[:3]), attempt(NOW)))
    before = in_queue_order(db, event)
    db.run(decide(event, arrivals(requests[:3]), attempt(NOW, "another")))
    assert in_queue_order(db, event) == before
    db.run(decide(event, [*arrivals(requests), *arrivals(requests)], attempt(NOW, "another")))
    check_first_come(db, event, 2, [request.request_id for request in requests])
    assert [current(db, request) for request in requests[:3]] == before[:3]


@pytest.mark.req("E03", "E07")
def test_a_request_that_was_sent_twice_has_the_place_of_its_first_message(db: Session) -> None:
    event = opened(db, capacity=1)
    first, second = applied(db, event, "first", "second")
    sent = [*arrivals([first, second]), *arrivals([first], sent_at=NOW.timestamp() + 40)]
    db.run(decide(event, sent, attempt(NOW)))
    assert in_queue_order(db, event) == [current(db, first), current(db, second)]
    assert [current(db, each).status for each in (first, second)] == [Status.SUCCEEDED, Status.REJECTED]
    assert current(db, first).queued_at == NOW


def test_a_request_that_is_gone_is_skipped(db: Session) -> None:
    event = opened(db, capacity=2)
    (request,) = applied(db, event, "a")
    db.run(decide(event, [Arrival("gone", "b", 0), *arrivals([request])], attempt(NOW)))
    assert current(db, request).status is Status.SUCCEEDED
    assert seats(db, event).remaining == 1


def test_without_an_event_nothing_can_be_decided(db: Session) -> None:
    event = opened(db, capacity=1).model_copy(update={"event_id": "gone"})
    with pytest.raises(ItemMissing):
        db.run(decide(event, [Arrival("r", "u", 0)], attempt(NOW)))


def _play(choose: Choose, *, crashes: int, capacity: int = 2) -> None:
    with empty_db([TABLE], FakeClock()) as db:
        event = opened(db, capacity)
        requests = applied(db, event, *users(4))
        batch = arrivals(requests)
        works = [
            decide(event, batch[:3], attempt(NOW, "zombie")),
            decide(event, batch[2:], attempt(NOW, "worker")),
            mark(requests, SentMessage("1", 1, NOW.timestamp())),
        ]
        results = play(db, works, choose, crashes=crashes)
        assert all(result in (None, CRASHED) for result in results), results
        db.run(decide(event, batch, attempt(NOW, "last")))
        check_first_come(db, event, capacity, [request.request_id for request in requests])


@pytest.mark.req("E03", "E07")
def test_every_meeting_of_a_worker_with_one_that_was_thought_dead() -> None:
    plays = 0
    for choose in every_schedule():
        _play(choose, crashes=0)
        plays += 1
    assert plays > 10


@pytest.mark.req("E03", "E07")
@pytest.mark.parametrize("seed", range(40))
def test_crashes_anywhere_leave_exactly_the_first_as_winners(seed: int) -> None:
    random = Random(seed)
    _play(random.randrange, crashes=2, capacity=random.randint(1, 4))


@pytest.mark.req("E11")
@pytest.mark.parametrize("seed", range(30))
def test_a_seat_is_never_lost_or_sold_twice_while_some_cancel(seed: int) -> None:
    random = Random(seed)
    with empty_db([TABLE], FakeClock()) as db:
        event = opened(db, 2)
        requests = applied(db, event, *users(5))
        batch = arrivals(requests)
        works = [
            decide(event, batch[:3], attempt(NOW, "zombie")),
            decide(event, batch, attempt(NOW, "worker")),
            cancel(requests[0].request_id, None, NOW),
            cancel(requests[3].request_id, None, NOW),
        ]
        play(db, works, random.randrange, crashes=random.randint(0, 2))
        db.run(decide(event, batch, attempt(NOW, "last")))
        _check_seats(db, event)


def _check_seats(db: Session, event: Event) -> None:
    requests = in_queue_order(db, event)
    won = [request for request in requests if request.status is Status.SUCCEEDED]
    assert len(won) + seats(db, event).remaining == 2
    assert {request.status for request in requests} <= {Status.SUCCEEDED, Status.REJECTED}


@pytest.mark.req("E05")
@pytest.mark.parametrize("seed", range(20))
def test_every_entry_of_a_lottery_counts_once(seed: int) -> None:
    random = Random(seed)
    with empty_db([TABLE], FakeClock()) as db:
        event = opened(db, 2, EventType.LOTTERY)
        requests = applied(db, event, *users(4))
        batch = arrivals(requests)
        works = [
            decide(event, batch[:3], attempt(NOW, "zombie")),
            decide(event, batch, attempt(NOW, "worker")),
            cancel(requests[1].request_id, None, NOW),
        ]
        play(db, works, random.randrange, crashes=random.randint(0, 2))
        db.run(decide(event, batch, attempt(NOW, "last")))
        entered = [request for request in in_queue_order(db, event) if request.status is Status.PROCESSING]
        assert seats(db, event).entered == len(entered)
