"""One operation on the sample data for each access pattern that needs more than a sample's fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from partita import Operation, Span, check, delete, f, insert, put, update
from partita.recipes.idempotency import Command, Plan
from partita_services.events import model
from partita_services.events.changes import model as changes
from partita_services.events.changes.model import NOTICES
from partita_services.events.changes.notices import cancellation_notice
from partita_services.events.draws import model as draws
from partita_services.events.draws.model import Draw, DrawPage, Seed
from partita_services.events.draws.verify import hash_of
from partita_services.events.handlers import application
from partita_services.events.model import (
    COMMANDS,
    LEASES,
    ActiveEvent,
    Event,
    EventListing,
    Lock,
    Request,
    RequestLife,
    Seats,
)
from partita_services.events.names import model as names
from partita_services.events.queueing.failures import delete_lock
from partita_services.events.queueing.model import SentBatch, note_sent, sent_batch, sent_batches
from partita_services.events.samples.data import SAMPLE_USER, SampleEvent, sample_events
from partita_services.events.terms import MESSAGES, EventStatus, FailureClass, Reason, Status
from partita_services.events.transitions import API, because_of, entry, failure
from partita_services.events.waitlist import model as waitlist
from partita_services.events.waitlist.promoting import promotion


def examples(now: float) -> Sequence[Operation[Any]]:
    """The operations of the service on its sample events."""
    over, drawn, first_come, lottery, _ = sample_events(now)
    return [
        *_reads(drawn, [sample.event_id for sample in (over, drawn, first_come, lottery)]),
        *_writes(first_come),
        *_of_a_request(over, first_come),
        *_of_a_draw(lottery),
        *_of_an_event(first_come, over),
    ]


def _reads(sample: SampleEvent, event_ids: Sequence[str]) -> Iterator[Operation[Any]]:
    request, event_id = sample.requests[0], sample.event_id
    yield COMMANDS.record(Command(SAMPLE_USER, "key", "")).consistent()
    yield LEASES.holder("sweeper")
    yield NOTICES.waiting(0).consistent()
    yield model.events_by_ids(event_ids)
    yield model.seats_by_ids(event_ids)
    yield model.active_event(event_id)
    yield model.seats_of(event_id).consistent()
    yield model.lock_of(event_id, request.user_id).consistent()
    yield model.log_of(request.request_id)
    yield draws.draw_of(event_id).consistent()
    yield draws.seed_of(event_id)
    yield draws.drawn_in(event_id).consistent()
    yield draws.drawn_page(event_id, 0).consistent()


def _writes(sample: SampleEvent) -> Iterator[Operation[Any]]:
    request, new = sample.requests[0], "new"
    yield model.add_event(sample.event.model_copy(update={"event_id": new}))
    yield model.add_seats(sample.seats.model_copy(update={"event_id": new}))
    yield draws.add_seed(Seed(event_id=new, seed=sample.seed.seed))
    yield model.list_event(EventListing(opens_at=sample.opens_at, event_id=new))
    yield model.activate_event(ActiveEvent(event_id=new))
    yield model.add_lock(Lock(event_id=sample.event_id, user_id=new, request_id=new))
    yield model.replace_lock(
        Lock(event_id=sample.event_id, user_id=request.user_id, request_id=new), request.request_id
    )
    yield model.log_step(entry(request.request_id, Status.RECEIVED, API, request.requested_at, expires_at=None))


def _of_a_request(over: SampleEvent, sample: SampleEvent) -> Iterator[Operation[Any]]:
    """The life of one request: accepted, queued, delayed, decided, given up and cancelled."""
    plan = application(over.event, SAMPLE_USER + "-2", sample.opens_at)
    yield model.accept(Plan(plan.result.request, *plan.actions))
    request, at = sample.requests[-1], model.request_by_id(sample.requests[-1].request_id)
    later, moved = sample.closes_at, f(Request.queued_at).set(sample.closes_at)
    yield model.mark_queued(update(request, moved))
    sent = SentBatch(batch_id="sample", queued_at=later, ttl=int(later.timestamp()))
    yield note_sent(sent)
    yield sent_batch(sent.batch_id)
    yield sent_batches([sent.batch_id])
    yield model.delay_request(update(at, *failure(FailureClass.TRANSIENT, "throttled", "Try again.")))
    taken = update(model.seats_of(sample.event_id), f(Seats.remaining).set(0))
    yield model.decide(Plan(sample.seats, taken, update(request, moved)))
    unlocked = delete_lock(sample.event_id, request.user_id, request.request_id)
    log = model.log_step(entry(request.request_id, Status.REJECTED, API, later, expires_at=None))
    yield model.give_up(update(at, f(Request.status).set(Status.FAILED_FINAL)), log, unlocked)
    cancelled = RequestLife.cancel(at, f(Request.error_code).set(Reason.CANCELLED))
    yield changes.cancel_request(Plan(request, cancelled, unlocked, taken, log))
    yield names.name_request(request, "Ann B.", shows_name=True)
    yield changes.erase_request(Plan(request, delete(at), unlocked))


def _of_an_event(sample: SampleEvent, over: SampleEvent) -> Iterator[Operation[Any]]:
    """Changes that operators make to an event, and their consequences."""
    event_id, later = sample.event_id, sample.closes_at
    status, name = f(Event.status), f(Event.name).set("Another name")
    at, seats = model.event_by_id(event_id), model.seats_of(event_id)
    active = put(ActiveEvent(event_id=event_id))
    moved = EventListing(opens_at=later, event_id=event_id)
    unlisted = delete(changes.listing_of(sample.opens_at, event_id))
    more = update(seats, f(Seats.total).set(50), f(Seats.remaining).set(10))
    about = changes.Description(event_id=event_id, text="x" * 100)
    yield changes.describe_event(about)
    yield changes.description_of(event_id)
    yield changes.listing_of(sample.opens_at, event_id)
    yield changes.edit_event(Plan(sample.event, update(at, name), unlisted, put(moved), more, active))
    shut = update(seats, f(Seats.is_cancelled).set(True))
    yield changes.cancel_event(Plan(sample.event, update(at, status.set(EventStatus.CANCELLED)), shut, active))
    request = sample.requests[0]
    withdrawn = RequestLife.withdraw(model.request_by_id(request.request_id), *because_of(Reason.EVENT_CANCELLED))
    notice = cancellation_notice(sample.event, request, MESSAGES[Reason.EVENT_CANCELLED], later)
    yield changes.withdraw_requests(Plan(sample.event, withdrawn, notice))
    waiting = next(each for each in over.requests if each.waiting_position == 1)
    yield waitlist.give_seats(
        Plan(over.seats, update(seats, f(Seats.remaining).set(0)), *promotion(over.event, waiting, later))
    )
    yield waitlist.waiting_pages(over.event_id, Span.until(3)).consistent()
    yield waitlist.requests_by_ids([each.request_id for each in over.requests])
    done = update(at, status.set(EventStatus.FINISHED))
    yield changes.finish_event(Plan(sample.event, done, delete(model.active_event(event_id))))


def _of_a_draw(sample: SampleEvent) -> Iterator[Operation[Any]]:
    event_id, at = sample.event_id, sample.closes_at
    entries = [request.request_id for request in sample.requests]
    draw = Draw(event_id=event_id, commitment="", entries=8, entries_hash=hash_of(entries), drawn_at=at)
    frozen = update(model.seats_of(event_id), f(Seats.is_frozen).set(True))
    yield draws.begin_draw(Plan(draw, frozen, insert(draw)))
    goes_on = check(model.seats_of(event_id), f(Seats.is_cancelled).ne(True))
    yield draws.give_entropy(Plan(draw, insert(draw.model_copy(update={"entropy": "6b1f"})), goes_on))
    yield draws.write_drawn(DrawPage(event_id=event_id, page=0, entries=tuple(entries * 125)))
    results = [RequestLife.succeed(model.request_by_id(entry), f(Request.finished_at).set(at)) for entry in entries]
    yield draws.settle(Plan(draw, insert(draw), *results))
    done = update(model.event_by_id(event_id), f(Event.status).set(EventStatus.FINISHED))
    yield draws.reveal(Plan(draw, insert(draw), frozen, done, delete(model.active_event(event_id))))
