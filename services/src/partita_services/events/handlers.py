"""The procedures of the events service: they yield operations, which a sync or an async session runs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct

from partita import Page, Procedure, new_ulid, retry_on_conflict
from partita.errors import AlreadyExists, ConditionFailed, PartitaError
from partita.recipes.idempotency import Plan
from partita_services.events.changes.drafts import EventDraft, check_times
from partita_services.events.changes.model import Description, describe_event
from partita_services.events.draws.model import Seed, add_seed
from partita_services.events.draws.verify import commitment_to
from partita_services.events.model import (
    ActiveEvent,
    Event,
    EventListing,
    Lock,
    LogEntry,
    Request,
    Seats,
    accept,
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
    replace_lock,
    request_by_id,
    seats_by_ids,
    seats_of,
)
from partita_services.events.names.naming import NAMELESS, Applicant
from partita_services.events.reading import EventFound, show_request
from partita_services.events.terms import EventStatus, EventType, FreedSeats, Reason, Status, waiting_shard
from partita_services.events.transitions import logged

MAX_TRIES: Final = 5
"""How often a request is looked up and written while other calls of the same user are faster."""

R = TypeVar("R")


class Application(Struct, frozen=True):
    """The request that a user has for an event, and whether it is new."""

    request: Request
    is_new: bool


Commit: TypeAlias = Callable[[Plan[Application] | Procedure[Plan[Application]]], Procedure[R]]
"""Runs the writes of a plan."""


class NotOpenYet(ConditionFailed, code="not_open_yet"):
    """The event opens later; `current` is the event."""


class Closed(ConditionFailed, code="closed"):
    """The event no longer accepts requests; `current` is the event."""


class EventCancelled(ConditionFailed, code="event_cancelled"):
    """The event was cancelled; `current` is the event."""


def open_event(draft: EventDraft, now: datetime, seed: bytes) -> Plan[EventFound]:
    """Plan to create an event. A lottery publishes the hash of its seed, and keeps the seed secret.

    Raises:
        InvalidEvent: the event would close in the past.
    """
    lottery = draft.event_type is EventType.LOTTERY
    event = Event(
        event_id=new_ulid(),
        name=draft.name,
        event_type=draft.event_type,
        opens_at=draft.opens_at,
        closes_at=draft.closes_at,
        keeps_log=draft.keeps_log,
        freed_seats=draft.freed_seats,
        commitment=commitment_to(seed, draft.entropy_source) if lottery else None,
        entropy_source=draft.entropy_source,
        draws_itself=draft.draws_itself,
        kept_until=draft.kept_until,
        created_at=now,
    )
    check_times(event, now)
    total = draft.capacity_total
    seats = add_seats(Seats(event_id=event.event_id, total=total, remaining=total, updated_at=now))
    secret = [add_seed(Seed(event_id=event.event_id, seed=seed.hex()))] if lottery else []
    added = add_event(event)
    text = draft.description
    about = [describe_event(Description(event_id=event.event_id, text=text))] if text else []
    return Plan(
        EventFound(added.saved, seats.saved, text),
        added,
        seats,
        list_event(EventListing(opens_at=event.opens_at, event_id=event.event_id)),
        activate_event(ActiveEvent(event_id=event.event_id)),
        *secret,
        *about,
    )


def list_events(limit: int, cursor: str | None) -> Procedure[Page[Any]]:
    """A page of events with their seats, latest opening first; its items are `EventFound`."""
    page = yield from listed_events().page(limit, after=cursor)
    ids = [listed.event_id for listed in page]
    events = (yield from events_by_ids(ids)) if ids else ()
    seats = (yield from seats_by_ids(ids)) if ids else ()
    found = [EventFound(event, left) for event, left in zip(events, seats, strict=True) if event and left]
    return Page(tuple(found), page.next_cursor)


def apply(
    event: Event,
    user_id: str,
    now: datetime,
    commit: Commit[R],
    applicant: Applicant = NAMELESS,
    batch: str | None = None,
) -> Procedure[R]:
    """Submit a user's request for an event, or find the one that the user already has, even if the event is closed.

    While the event is open, the request is written without a read: the lock of an earlier request makes the write fail.

    Args:
        event: the event.
        user_id: the user who applies.
        now: the time of the request.
        commit: runs a plan, alone or together with the record of its idempotency key.
        applicant: the name on a new request; an existing request keeps its own.
        batch: the id of the batch in which the request goes to the queue.

    Raises:
        NotOpenYet: the event opens later.
        Closed: the event is closed, and the user has no request for it.
        EventCancelled: the event was cancelled, and the user has no request for it.
        AlreadyExists: other calls of the same user were faster on every try.
    """

    def find_or_write() -> Procedure[R]:
        return commit(_earlier_or_new(event, user_id, now, applicant, batch))

    if now < event.opens_at:
        raise NotOpenYet("The event is not open yet.", current=event)
    if now < event.closes_at and event.status is not EventStatus.CANCELLED:
        try:
            return (yield from commit(application(event, user_id, now, applicant, batch=batch)))
        except AlreadyExists:
            pass  # the user has a request, or another call of the same user was faster
    return (yield from retry_on_conflict(find_or_write, tries=MAX_TRIES, when=_is_taken))


def _earlier_or_new(
    event: Event, user_id: str, now: datetime, applicant: Applicant, batch: str | None
) -> Procedure[Plan[Application]]:
    lock = yield from lock_of(event.event_id, user_id).consistent()
    earlier = (yield from request_by_id(lock.request_id).consistent()) if lock is not None else None
    is_over = now >= event.closes_at or event.status is EventStatus.CANCELLED
    if earlier is not None and (is_over or not (yield from _is_released(event, earlier))):
        return Plan(Application(earlier, is_new=False))
    if event.status is EventStatus.CANCELLED:
        raise EventCancelled("The event was cancelled.", current=event)
    if is_over:
        raise Closed("The event is closed.", current=event)
    return application(event, user_id, now, applicant, earlier, batch)


def _is_released(event: Event, earlier: Request) -> Procedure[bool]:
    """Whether the user may apply again: they found no seat, the event releases freed seats, and one is free now."""
    if event.freed_seats is not FreedSeats.RELEASE or earlier.error_code != Reason.CAPACITY:
        return False
    seats = yield from seats_of(event.event_id).consistent()
    return seats is not None and seats.remaining > 0


def _is_taken(error: PartitaError) -> bool:
    """Whether another call of the same user has written its lock in the meantime."""
    return isinstance(error, ConditionFailed) and not isinstance(error, Closed | EventCancelled)


def application(
    event: Event,
    user_id: str,
    now: datetime,
    applicant: Applicant = NAMELESS,
    earlier: Request | None = None,
    batch: str | None = None,
) -> Plan[Application]:
    """Plan a new request and the user's lock on the event; the lock of an earlier request is replaced.

    An event marked as finished was finished by a worker whose clock is ahead, so it goes back on the sweeper's list.
    """
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
        display_name=applicant.display_name,
        shows_name=applicant.shows_name,
        batch=batch,
        ttl=event.expires_at,
    )
    lock = Lock(event_id=event.event_id, user_id=user_id, request_id=request_id, ttl=event.expires_at)
    locked = add_lock(lock) if earlier is None else replace_lock(lock, earlier.request_id)
    is_finished = event.status is EventStatus.FINISHED
    kept = [activate_event(ActiveEvent(event_id=event.event_id, applied=request_id))] if is_finished else []
    log = logged(event, request_id, Status.RECEIVED, None, now)
    write = accept(Plan(request, locked, add_request(request), *log, *kept))
    return Plan(Application(request, is_new=True), write)


def show_log(request_id: str, reader: str | None) -> Procedure[tuple[LogEntry, ...]]:
    """The log of a request, in order; empty if its event keeps no log.

    Raises:
        ItemMissing: there is no such request, or the reader may not see it.
    """
    yield from show_request(request_id, reader)
    page = yield from log_of(request_id)
    return page.items
