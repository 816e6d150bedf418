"""Cancelling a whole event: nobody gets a seat any more, and everybody who applied is notified once."""

from __future__ import annotations

from contextlib import closing

import httpx
import msgspec
import pytest
from tests.services.events.acting import current, in_queue_order, opened, seats, sent, users, waiting
from tests.services.events.draws.drawing import drawn, lottery
from tests.services.events.test_http import apply, as_user, event_in

from partita import EmbeddedStore, Session
from partita.errors import OperationError
from partita.http import Identity
from partita.queue import Queue
from partita.recipes.outbox import OutboxMessage
from partita.store import TransactWriteItems
from partita.testing import Crash, FakeClock, FaultyStore, Realism, RealisticStore
from partita_services.events.cancelling import cancel
from partita_services.events.changes.event_cancelling import DrawGoesOn, cancel_whole_event
from partita_services.events.changes.model import NOTICES, RequestNews
from partita_services.events.changes.notices import send_notices, sender_of
from partita_services.events.draws.draw import DrawRefused, hold_draw
from partita_services.events.model import TABLE, ActiveEvent, Event, active_event, event_by_id, log_of
from partita_services.events.queueing.messages import sending
from partita_services.events.queueing.sweeper import Sweeper
from partita_services.events.queueing.worker import Worker
from partita_services.events.terms import EventStatus, EventType, Reason, Status, instant

pytestmark = pytest.mark.req("E15")

NOW = instant(1_767_225_600)


@pytest.fixture
def worker(db: Session, queue: Queue) -> Worker:
    return Worker(db, queue, "w1")


@pytest.fixture
def sweeper(db: Session, queue: Queue) -> Sweeper:
    return Sweeper(db, queue, "w1")


def told(db: Session) -> list[str]:
    """Return the users who have a notice, sorted; a user with two notices is there twice."""
    page = db.run(NOTICES.waiting(0).walk(max_items=1_000))
    return sorted(notice.group for notice in page)


def stored(db: Session, event: Event) -> Event:
    found = db.run(event_by_id(event.event_id))
    assert found is not None
    return found


def test_everybody_who_applied_is_told_once(
    db: Session, queue: Queue, worker: Worker, sweeper: Sweeper, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=20, keeps_log=True)
    requests = sent(db, queue, event, *users(80), together=40)
    while worker.serve():
        pass
    db.run(cancel(requests[3].request_id, None, NOW))
    late = sent(db, queue, event, "late")
    db.run(cancel_whole_event(event.event_id, "Rain.", NOW))
    assert (stored(db, event).status, seats(db, event).is_cancelled) == (EventStatus.CANCELLED, True)
    for _ in range(3):
        sweeper.sweep()
        worker.serve()
    found = in_queue_order(db, event)
    assert (len(found), waiting(db, event)) == (81, [])
    assert {(each.status, each.error_code) for each in found if each != current(db, requests[3])} == {
        (Status.REJECTED, Reason.EVENT_CANCELLED)
    }
    assert current(db, requests[3]).error_code == Reason.CANCELLED
    assert current(db, late[0]).error_message == "The event was cancelled. Rain."
    notified = {*users(80), "late"} - {"u003"}  # nobody is notified of their own cancellation
    assert told(db) == sorted([*notified, "u020"])  # u020 was also notified of the promotion
    assert (stored(db, event).notified, db.run(active_event(event.event_id))) == (80, None)
    assert [each.reason for each in db.run(log_of(requests[0].request_id))][-1] == Reason.EVENT_CANCELLED


def test_whose_request_was_still_in_the_queue_is_told_like_the_others(
    db: Session, queue: Queue, worker: Worker, sweeper: Sweeper
) -> None:
    event = opened(db, capacity=5, keeps_log=True)
    requests = sent(db, queue, event, *users(150), together=100)
    (twice,) = sent(db, queue, event, "twice")
    queue.execute(sending([twice], once="again"))
    db.run(cancel_whole_event(event.event_id, "Rain.", NOW))
    worker.serve()  # before any sweep
    for request in (*requests, twice):
        found = current(db, request)
        assert (found.status, found.error_code) == (Status.REJECTED, Reason.EVENT_CANCELLED)
        assert found.error_message == "The event was cancelled. Rain."
    assert [each.status for each in db.run(log_of(twice.request_id))] == [Status.RECEIVED, Status.REJECTED]
    sweeper.sweep()
    assert told(db) == sorted([*users(150), "twice"])
    assert (stored(db, event).notified, waiting(db, event)) == (151, [])


def test_an_index_that_lags_leaves_nobody_untold(queue: Queue, fake_clock: FakeClock) -> None:
    lagging = RealisticStore(EmbeddedStore(":memory:", clock=fake_clock), Realism(index_seconds=5), clock=fake_clock)
    with closing(lagging):
        db = Session(lagging, clock=fake_clock)
        db.create_tables([TABLE])
        event = opened(db, capacity=1)
        sent(db, queue, event, "ann", "bob")
        Worker(db, queue, "w1").serve()
        db.run(cancel_whole_event(event.event_id, "Rain.", instant(fake_clock())))
        sweeper = Sweeper(db, queue, "w1")
        for _ in range(4):
            sweeper.sweep()
            fake_clock.advance(5)
        assert (told(db), stored(db, event).notified) == (["ann", "bob"], 2)


@pytest.mark.req("E07")
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_worker_that_dies_meanwhile_tells_nobody_twice(
    db: Session, queue: Queue, worker: Worker, sweeper: Sweeper, store: FaultyStore, nth: int
) -> None:
    event = opened(db, capacity=20)
    sent(db, queue, event, *users(80), together=40)
    while worker.serve():
        pass
    db.run(cancel_whole_event(event.event_id, "Rain.", NOW))
    store.crash_after(nth, on=TransactWriteItems)
    with pytest.raises(Crash):
        sweeper.sweep()
    sweeper.sweep()
    sweeper.sweep()
    assert told(db) == users(80)
    assert stored(db, event).notified == 80


@pytest.mark.req("E07")
def test_a_sweeper_that_read_the_event_before_does_not_undo_it(
    db: Session, sweeper: Sweeper, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1)
    db.run(cancel_whole_event(event.event_id, "Rain.", NOW))
    fake_clock.advance(7_200)
    sweeper._sweep_event(event, ActiveEvent(event_id=event.event_id))  # the event as it was before
    assert (stored(db, event).status, db.run(active_event(event.event_id)) is None) == (EventStatus.CANCELLED, False)


def test_cancelled_twice_it_is_the_same(db: Session) -> None:
    event = opened(db, capacity=1)
    first = db.run(cancel_whole_event(event.event_id, "Rain.", NOW))
    assert db.run(cancel_whole_event(event.event_id, "Snow.", NOW)) == first
    assert first.event.cancel_reason == "Rain."


def test_a_draw_that_gives_results_is_finished_first(db: Session, store: FaultyStore, sweeper: Sweeper) -> None:
    event = lottery(db, 1, 120)
    store.crash_before(3, on=TransactWriteItems)
    with pytest.raises(Crash):
        drawn(db, event)
    with pytest.raises(DrawGoesOn):
        db.run(cancel_whole_event(event.event_id, "Rain.", NOW))
    drawn(db, event)
    db.run(cancel_whole_event(event.event_id, "Rain.", NOW))
    sweeper.sweep()
    assert {each.error_code for each in in_queue_order(db, event)} == {Reason.EVENT_CANCELLED}


def test_a_cancelled_lottery_is_not_drawn(db: Session) -> None:
    event = opened(db, 1, EventType.LOTTERY)
    db.run(cancel_whole_event(event.event_id, "Rain.", NOW))
    with pytest.raises(DrawRefused, match="cancelled"):
        db.run(hold_draw(event.event_id, event.closes_at))


async def test_nobody_applies_any_more_and_who_did_reads_why(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity, worker: Worker, sweeper: Sweeper
) -> None:
    event = await event_in(api, fake_clock)
    first = (await apply(api, event, "ann", identity)).json()
    worker.serve()
    url = f"/events/{event['eventId']}"
    done = await api.post(f"{url}/cancel", json={"reason": "Rain."})
    assert (done.status_code, done.json()["status"], done.json()["cancelReason"]) == (200, "CANCELLED", "Rain.")
    sweeper.sweep()
    refused = await apply(api, event, "bob", identity)
    assert (refused.status_code, refused.json()["code"]) == (409, "event_cancelled")
    mine = await apply(api, event, "ann", identity)
    assert (mine.status_code, mine.json()["requestId"]) == (200, first["requestId"])
    assert (mine.json()["errorCode"], mine.json()["errorMessage"]) == (
        "EVENT_CANCELLED",
        "The event was cancelled. Rain.",
    )
    assert (await api.patch(url, json={"name": "B"})).json()["code"] == "edit_refused"
    for reason in ("", "\u200b", "Rain\x1b[31m"):
        assert (await api.post(f"{url}/cancel", json={"reason": reason})).status_code == 422
    refused = await api.post(f"{url}/cancel", json={"reason": "x"}, headers=as_user("ann", identity))
    assert refused.status_code == 403


def test_notices_go_to_the_sender_that_the_operator_has_chosen(
    db: Session, queue: Queue, notices: Queue, worker: Worker, sweeper: Sweeper
) -> None:
    event = opened(db, capacity=1)
    sent(db, queue, event, "ann", "bob")
    worker.serve()
    db.run(cancel_whole_event(event.event_id, "Rain.", NOW))
    sweeper.sweep()
    seen: list[OutboxMessage] = []

    def send(message: OutboxMessage) -> None:
        seen.append(message)

    assert send_notices(db, notices, send) == 2
    contents = sorted((each.content["user_id"], each.content["news"], each.content["message"]) for each in seen)
    assert contents == [(user, "EVENT_CANCELLED", "The event was cancelled. Rain.") for user in ("ann", "bob")]
    assert msgspec.json.decode(msgspec.json.encode(seen[0].content))["kind"] == RequestNews.kind
    assert send_notices(db, notices, send) == 0


def test_the_environment_names_the_sender() -> None:
    assert sender_of({"PARTITA_EVENTS_SENDER": "queue"}) is None
    nothing = sender_of({})
    assert nothing is not None
    nothing(OutboxMessage("1", "g", 0, {}))
    with pytest.raises(OperationError):
        sender_of({"PARTITA_EVENTS_SENDER": "no_such_module:send"})
