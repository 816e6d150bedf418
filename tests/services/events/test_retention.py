"""How long requests are kept: they expire with their locks and logs, at the time that their event sets."""

from __future__ import annotations

import httpx
import pytest
from tests.services.events.acting import current, in_queue_order, opened, sent
from tests.services.events.draws.drawing import drawn, lottery
from tests.services.events.test_http import draft

from partita import EmbeddedStore, Session, Span
from partita.queue import Queue
from partita.testing import FakeClock
from partita_services.events.changes.drafts import EventDraft
from partita_services.events.model import LogEntry, lock_of, log_of, request_by_id
from partita_services.events.queueing.worker import Worker
from partita_services.events.terms import FreedSeats, Reason, Status
from partita_services.events.waitlist.model import waiting_pages

pytestmark = pytest.mark.req("E17")

DAY = 86_400


def test_requests_locks_and_logs_expire_with_their_event(
    db: Session, queue: Queue, embedded: EmbeddedStore, fake_clock: FakeClock
) -> None:
    event = opened(db, capacity=1, keeps_log=True, retention_days=30)
    requests = sent(db, queue, event, "a", "b")
    Worker(db, queue, "w1").serve()
    expires = event.closes_at.timestamp() + 30 * DAY
    entries: list[LogEntry] = [entry for each in requests for entry in db.run(log_of(each.request_id))]
    (page,) = db.run(waiting_pages(event.event_id, Span.until(0)))
    locks = [db.run(lock_of(event.event_id, user)) for user in ("a", "b")]
    items = [*(current(db, request) for request in requests), *entries, *locks, page]
    assert {item.ttl for item in items if item is not None} == {int(expires)}
    assert len(entries) == 8
    fake_clock.advance(expires - fake_clock() - 1)
    assert current(db, requests[0]).status is Status.SUCCEEDED
    fake_clock.advance(1)
    assert [db.run(request_by_id(request.request_id)) for request in requests] == [None, None]
    assert db.run(lock_of(event.event_id, "a")) is None


def test_an_event_may_keep_them_for_good(db: Session, queue: Queue) -> None:
    event = opened(db, capacity=1, retention_days=None)
    (request,) = sent(db, queue, event, "a")
    assert (event.kept_until, current(db, request).ttl) == (None, None)


def test_the_last_day_of_the_calendar_is_no_trouble(fake_clock: FakeClock) -> None:
    late = draft(fake_clock) | {"closesAt": "9999-12-31T23:00:00Z", "retentionDays": 3_650}
    kept = EventDraft.model_validate(late).kept_until
    assert kept is not None
    assert kept.year > 9980


@pytest.mark.parametrize("days", [0, -1, 3_651])
async def test_how_long_is_bounded(days: int, api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    response = await api.post("/events", json=draft(fake_clock, retentionDays=days))
    assert [error["field"] for error in response.json()["errors"]] == ["retentionDays"]


def test_whoever_is_rejected_reads_why(db: Session, queue: Queue) -> None:
    waiting_list, released = opened(db, capacity=1), opened(db, capacity=1, freed_seats=FreedSeats.RELEASE)
    drawn_from = lottery(db, 1, 2)
    drawn(db, drawn_from)
    for event in (waiting_list, released, drawn_from):
        sent(db, queue, event, "a", "b")
    Worker(db, queue, "w1").serve()
    reasons = {
        (request.error_code, request.error_message)
        for event in (waiting_list, released, drawn_from)
        for request in in_queue_order(db, event)
        if request.status is Status.REJECTED
    }
    assert reasons == {
        (Reason.WAITING_LIST, "All seats were taken. The request is on the waiting list."),
        (Reason.WAITING_LIST, "Others were drawn. The request is on the waiting list."),
        (Reason.CAPACITY, "All seats were taken."),
        (Reason.CLOSED, "The entry came after the draw had begun."),
    }
