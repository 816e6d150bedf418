"""What the events service does, as procedures: they say which operations run, and either kind of session runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Self

from msgspec import Struct
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from partita import Page, Procedure, new_ulid
from partita.errors import AlreadyExists, TransactionCancelled
from partita.recipes.idempotency import Plan
from partita_services.events import model
from partita_services.events.cancelling import cancel
from partita_services.events.draws.draw import hold_draw, show_draw
from partita_services.events.draws.model import Seed, add_seed
from partita_services.events.draws.verify import commitment_to
from partita_services.events.figures.projection import RequestProjection
from partita_services.events.model import (
    ActiveEvent,
    Event,
    EventListing,
    Lock,
    LogEntry,
    Request,
    Seats,
    activate_event,
    add_event,
    add_lock,
    add_request,
    add_seats,
    events_by_ids,
    list_event,
    listed_events,
    lock_of,
    log_of,
    log_step,
    request_by_id,
    requests_of_event,
    requests_of_user,
    seats_by_ids,
)
from partita_services.events.reading import EventFound, show_event, show_request
from partita_services.events.terms import MAX_CAPACITY, EventType, Name, Status, waiting_shard
from partita_services.events.transitions import API, entry

MAX_TRIES: Final = 5


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is not in the years 1 to 9999 of UTC") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A moment that can be stored. The first and the last day of the calendar may be outside of it in another time zone."""


class EventDraft(BaseModel):
    """An event as it is given to be created."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)

    name: Name
    event_type: EventType
    capacity_total: Annotated[int, Field(ge=1, le=MAX_CAPACITY, examples=[500])]
    opens_at: Annotated[Moment, Field(examples=["2026-12-01T10:00:00Z"])]
    closes_at: Annotated[Moment, Field(examples=["2026-12-01T12:00:00Z"])]
    keeps_log: Annotated[
        bool, Field(description="whether every step of its requests is kept in a log", examples=[True])
    ] = False

    @model_validator(mode="after")
    def _closes_after_it_opens(self) -> Self:
        if self.closes_at <= self.opens_at:
            raise ValueError("closesAt must be after opensAt")
        return self


class Application(Struct, frozen=True):
    """The request that a user has for an event, and whether it is new."""

    request: Request
    is_new: bool


def open_event(draft: EventDraft, now: datetime, seed: bytes) -> Plan[EventFound]:
    """Plan to create an event. A lottery publishes the hash of its seed, and keeps the seed to itself."""
    lottery = draft.event_type is EventType.LOTTERY
    event = Event(
        event_id=new_ulid(),
        name=draft.name,
        event_type=draft.event_type,
        opens_at=draft.opens_at,
        closes_at=draft.closes_at,
        keeps_log=draft.keeps_log,
        commitment=commitment_to(seed) if lottery else None,
        created_at=now,
    )
    total = draft.capacity_total
    seats = add_seats(Seats(event_id=event.event_id, total=total, remaining=total, updated_at=now))
    secret = [add_seed(Seed(event_id=event.event_id, seed=seed.hex()))] if lottery else []
    return Plan(
        EventFound(event, seats.saved),
        add_event(event),
        seats,
        list_event(EventListing(opens_at=event.opens_at, event_id=event.event_id)),
        activate_event(ActiveEvent(event_id=event.event_id)),
        *secret,
    )


def list_events(limit: int, cursor: str | None) -> Procedure[Page[Any]]:
    """A page of events with their seats, those that open last first; its items are `EventFound`."""
    page = yield from listed_events().page(limit, after=cursor)
    ids = [listed.event_id for listed in page]
    events = (yield from events_by_ids(ids)) if ids else ()
    seats = (yield from seats_by_ids(ids)) if ids else ()
    found = [EventFound(event, left) for event, left in zip(events, seats, strict=True) if event and left]
    return Page(tuple(found), page.next_cursor)


def apply(event: Event, user_id: str, now: datetime) -> Procedure[Application]:
    """Hand in a user's request for an event, or find the one that there is."""
    for _ in range(MAX_TRIES):
        plan = application(event, user_id, now)
        try:
            yield from model.accept(Plan(plan.result.request, *plan.actions))
        except TransactionCancelled as cancelled:
            taken = cancelled.reasons[0].error
            if not isinstance(taken, AlreadyExists):
                raise
            request = yield from request_by_id(taken.current.request_id).consistent()
            if request is not None:
                return Application(request, is_new=False)
        else:
            return plan.result
    raise AlreadyExists("Another request of this user was always first.")


def applications(event: Event, user_id: str, now: datetime) -> Iterator[Procedure[Plan[Application]]]:
    """Plans to hand in a request, for a call that is remembered: one for each time that another one was first."""
    return (_application_unless_there(event, user_id, now) for _ in range(MAX_TRIES))


def _application_unless_there(event: Event, user_id: str, now: datetime) -> Procedure[Plan[Application]]:
    earlier = yield from earlier_application(event, user_id)
    return Plan(earlier) if earlier is not None else application(event, user_id, now)


def earlier_application(event: Event, user_id: str) -> Procedure[Application | None]:
    """The request that a user has for an event already."""
    lock = yield from lock_of(event.event_id, user_id).consistent()
    request = (yield from request_by_id(lock.request_id).consistent()) if lock is not None else None
    return Application(request, is_new=False) if request is not None else None


def application(event: Event, user_id: str, now: datetime) -> Plan[Application]:
    """Plan a new request and the user's lock on the event."""
    request_id = new_ulid()
    request = Request(
        request_id=request_id,
        event_id=event.event_id,
        user_id=user_id,
        shard=waiting_shard(event.event_id, request_id),
        event_type=event.event_type,
        requested_at=now,
        queued_at=now,
        idempotency_key=f"IDEMP#{event.event_id}#{user_id}",
    )
    lock = Lock(event_id=event.event_id, user_id=user_id, request_id=request.request_id)
    log = [log_step(entry(request.request_id, Status.RECEIVED, API, now))] if event.keeps_log else []
    return Plan(Application(request, is_new=True), add_lock(lock), add_request(request), *log)


def show_log(request_id: str, reader: str | None) -> Procedure[tuple[LogEntry, ...]]:
    """The steps of a request, in order; none where its event keeps no log.

    Raises:
        ItemMissing: there is no request that the reader may see.
    """
    yield from show_request(request_id, reader)
    page = yield from log_of(request_id)
    return page.items


HANDLERS: Final[Mapping[str, Callable[..., Any]]] = {
    "POST /events": open_event,
    "GET /events": list_events,
    "GET /events/{event_id}": show_event,
    "POST /events/{event_id}/requests": apply,
    "GET /events/{event_id}/requests": requests_of_event,
    "GET /events/{event_id}/requests.csv": requests_of_event,
    "GET /events/{event_id}/figures": RequestProjection.counts,
    "GET /events/{event_id}/figures/stream": RequestProjection.counts,
    "POST /events/{event_id}/draw": hold_draw,
    "GET /events/{event_id}/draw": show_draw,
    "GET /requests/{request_id}": show_request,
    "GET /requests/{request_id}/stream": show_request,
    "GET /requests/{request_id}/log": show_log,
    "DELETE /requests/{request_id}": cancel,
    "GET /me/requests": requests_of_user,
}
