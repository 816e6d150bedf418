"""Reading an event with its seats and where it stands, and a request that the reader may see."""

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
    """What it is about; it is read with a single event, and not with a list."""


class Phase(StrEnum):
    """Where an event stands: what is stored, and what time it is."""

    UPCOMING = "UPCOMING"
    OPEN = "OPEN"
    CLOSED = "CLOSED"
    FINISHED = "FINISHED"
    CANCELLED = "CANCELLED"


def phase_of(event: Event, now: datetime) -> Phase:
    """Where an event stands. First come takes requests until it closes, also where a wrong clock has finished it."""
    is_early = event.event_type is EventType.FIRST_COME and now < event.closes_at
    if event.status is EventStatus.CANCELLED or (event.status is EventStatus.FINISHED and not is_early):
        return Phase(event.status)
    if now < event.opens_at:
        return Phase.UPCOMING
    return Phase.OPEN if now < event.closes_at else Phase.CLOSED


def show_event(event_id: str) -> Procedure[EventFound]:
    """An event with its seats.

    Raises:
        ItemMissing: there is none.
    """
    return (yield from _event_with(event_by_id(event_id), seats_of(event_id)))


def show_event_in_full(event_id: str) -> Procedure[EventFound]:
    """An event with its seats, and what it is about.

    Raises:
        ItemMissing: there is none.
    """
    found = yield from show_event(event_id)
    return replace(found, description=(yield from described(event_id)))


def described(event_id: str) -> Procedure[str]:
    """What an event is about; empty where it does not say."""
    found = yield from description_of(event_id).consistent()
    return "" if found is None else found.text


def show_event_now(event_id: str) -> Procedure[EventFound]:
    """An event with its seats as they are, for who is going to change one of them.

    Raises:
        ItemMissing: there is none.
    """
    return (yield from _event_with(event_by_id(event_id).consistent(), seats_of(event_id).consistent()))


def _event_with(read_event: Get[Event], read_seats: Get[Seats]) -> Procedure[EventFound]:
    event = yield from read_event
    seats = (yield from read_seats) if event is not None else None
    if event is None or seats is None:
        raise ItemMissing("There is no such event.")
    return EventFound(event, seats)


def show_request(request_id: str, reader: str | None) -> Procedure[Request]:
    """A request; `reader` is the user who may see only their own, None one who may see all.

    Raises:
        ItemMissing: there is none that the reader may see.
    """
    request = yield from request_by_id(request_id).consistent()
    if request is None or reader not in (None, request.user_id):
        raise ItemMissing("There is no such request.")
    return request
