"""Reading an event with its seats and its phase, and a request that the reader may see."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from partita import Get, Procedure
from partita.errors import ItemMissing
from partita_services.events.changes.model import description_of
from partita_services.events.model import Event, Request, Seats, event_by_id, request_by_id, seats_of
from partita_services.events.terms import EventStatus, EventType


class EventFound(Struct, frozen=True):
    """An event with its seats."""

    event: Event
    seats: Seats
    description: str = ""
    """The description of the event; it is read with a single event, but not with a list."""


class Phase(StrEnum):
    """The phase of an event, which follows from its stored status and the time."""

    UPCOMING = "UPCOMING"
    OPEN = "OPEN"
    CLOSED = "CLOSED"
    FINISHED = "FINISHED"
    CANCELLED = "CANCELLED"


def phase_of(event: Event, now: datetime) -> Phase:
    """The phase of an event. A first-come event is open until it closes, even if a wrong clock has finished it."""
    is_early = event.event_type is EventType.FIRST_COME and now < event.closes_at
    if event.status is EventStatus.CANCELLED or (event.status is EventStatus.FINISHED and not is_early):
        return Phase(event.status)
    if now < event.opens_at:
        return Phase.UPCOMING
    return Phase.OPEN if now < event.closes_at else Phase.CLOSED


def show_event(event_id: str) -> Procedure[EventFound]:
    """An event with its seats.

    Raises:
        ItemMissing: there is no such event.
    """
    return (yield from _event_with(event_by_id(event_id), seats_of(event_id)))


def show_event_in_full(event_id: str) -> Procedure[EventFound]:
    """An event with its seats and its description.

    Raises:
        ItemMissing: there is no such event.
    """
    found = yield from show_event(event_id)
    return replace(found, description=(yield from described(event_id)))


def described(event_id: str) -> Procedure[str]:
    """The description of an event; empty if it has none."""
    found = yield from description_of(event_id).consistent()
    return "" if found is None else found.text


def show_event_now(event_id: str) -> Procedure[EventFound]:
    """An event with its seats, read consistently, for a caller that changes one of them.

    Raises:
        ItemMissing: there is no such event.
    """
    return (yield from _event_with(event_by_id(event_id).consistent(), seats_of(event_id).consistent()))


def _event_with(read_event: Get[Event], read_seats: Get[Seats]) -> Procedure[EventFound]:
    event = yield from read_event
    seats = (yield from read_seats) if event is not None else None
    if event is None or seats is None:
        raise ItemMissing("There is no such event.")
    return EventFound(event, seats)


def show_request(request_id: str, reader: str | None) -> Procedure[Request]:
    """A request. `reader` is a user who may see only their own requests; None may see all.

    Raises:
        ItemMissing: there is no such request, or the reader may not see it.
    """
    request = yield from request_by_id(request_id).consistent()
    if request is None or reader not in (None, request.user_id):
        raise ItemMissing("There is no such request.")
    return request
