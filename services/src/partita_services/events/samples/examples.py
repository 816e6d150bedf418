"""One operation on the sample data for each access pattern that needs more than a sample's fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from partita import Operation, delete, f, insert, update
from partita.recipes.idempotency import Command, Plan
from partita_services.events import model
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
from partita_services.events.queueing.failures import freeing
from partita_services.events.samples.data import SAMPLE_USER, SampleEvent, sample_events
from partita_services.events.terms import EventStatus, FailureClass, Reason, Status
from partita_services.events.transitions import API, entry, failure


def examples(now: float) -> Sequence[Operation[Any]]:
    """What the service does with its sample events."""
    over, drawn, first_come, lottery, _ = sample_events(now)
    return [
        *_reads(drawn, [sample.event_id for sample in (over, drawn, first_come, lottery)]),
        *_writes(first_come),
        *_of_a_request(over, first_come),
        *_of_a_draw(lottery),
    ]


def _reads(sample: SampleEvent, event_ids: Sequence[str]) -> Iterator[Operation[Any]]:
    request, event_id = sample.requests[0], sample.event_id
    yield COMMANDS.record(Command(SAMPLE_USER, "key", "")).consistent()
    yield LEASES.holder("sweeper")
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
    yield model.add_seats(sample.seats.model_copy(update={"event_id": new}))
    yield draws.add_seed(Seed(event_id=new, seed=sample.seed.seed))
    yield model.list_event(EventListing(opens_at=sample.opens_at, event_id=new))
    yield model.activate_event(ActiveEvent(event_id=new))
    yield model.add_lock(Lock(event_id=sample.event_id, user_id=new, request_id=new))
    yield model.log_step(entry(request.request_id, Status.RECEIVED, API, request.requested_at))


def _of_a_request(over: SampleEvent, sample: SampleEvent) -> Iterator[Operation[Any]]:
    """The life of one request: accepted, queued, in trouble, decided, given up and cancelled."""
    plan = application(over.event, SAMPLE_USER + "-2", sample.opens_at)
    yield model.accept(Plan(plan.result.request, *plan.actions))
    request, at = sample.requests[-1], model.request_by_id(sample.requests[-1].request_id)
    later, moved = sample.closes_at, f(Request.queued_at).set(sample.closes_at)
    yield model.mark_queued(update(request, moved))
    yield model.delay_request(update(at, *failure(FailureClass.TRANSIENT, "throttled", "Try again.")))
    taken = update(model.seats_of(sample.event_id), f(Seats.remaining).set(0))
    yield model.decide(Plan(sample.seats, taken, update(request, moved)))
    freed = freeing(sample.event_id, request.user_id, request.request_id)
    log = model.log_step(entry(request.request_id, Status.REJECTED, API, later))
    yield model.give_up(update(at, f(Request.status).set(Status.FAILED_FINAL)), log, freed)
    cancelled = RequestLife.cancel(at, f(Request.error_code).set(Reason.CANCELLED))
    yield model.cancel_request(Plan(request, cancelled, freed, taken, log))
    done = update(model.event_by_id(sample.event_id), f(Event.status).set(EventStatus.FINISHED))
    yield model.finish_event(Plan(sample.event, done, delete(model.active_event(sample.event_id))))


def _of_a_draw(sample: SampleEvent) -> Iterator[Operation[Any]]:
    event_id, at = sample.event_id, sample.closes_at
    entries = [request.request_id for request in sample.requests]
    draw = Draw(event_id=event_id, commitment="", entries=8, entries_hash=hash_of(entries), drawn_at=at)
    frozen = update(model.seats_of(event_id), f(Seats.is_frozen).set(True))
    yield draws.begin_draw(Plan(draw, frozen, insert(draw)))
    yield draws.write_drawn(DrawPage(event_id=event_id, page=0, entries=tuple(entries * 125)))
    results = [RequestLife.succeed(model.request_by_id(entry), f(Request.finished_at).set(at)) for entry in entries]
    yield draws.settle(Plan(draw, insert(draw), *results))
    done = update(model.event_by_id(event_id), f(Event.status).set(EventStatus.FINISHED))
    yield draws.reveal(Plan(draw, insert(draw), frozen, done, delete(model.active_event(event_id))))
