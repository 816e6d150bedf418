"""Editing an event, within rules that protect those who have applied.

| what | until |
| --- | --- |
| name, description | it is cancelled |
| opening | it is open |
| closing | it is closed; never to a time in the past, or after its requests expire |
| seats, more | it is cancelled; for a lottery, until it is closed. Waiting requests get them, in order |
| seats, fewer | it is open |
| whether a worker holds the draw of a lottery | it is closed |
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from partita import Action, Change, Procedure, delete, f, put, retry_on_conflict, update
from partita.errors import ConditionFailed
from partita.recipes.idempotency import Plan
from partita_services.events.changes.drafts import EventEdit, InvalidEvent, check_times
from partita_services.events.changes.model import Description, description_of, edit_event, listing_of
from partita_services.events.model import ActiveEvent, Event, EventListing, Seats
from partita_services.events.reading import EventFound, described, show_event_now
from partita_services.events.terms import EventStatus, EventType
from partita_services.events.waitlist.promoting import give_out

MAX_TRIES: Final = 100
"""How often an edit is tried while workers change the seats first."""


class EditRefused(ConditionFailed, code="edit_refused"):
    """It is too late for this change; `current` is the event."""


def edit(event_id: str, change: EventEdit, now: datetime) -> Procedure[EventFound]:
    """Change an event; added seats go to the waiting list.

    Raises:
        ItemMissing: there is no such event.
        InvalidEvent: the event would close in the past, or before it opens.
        EditRefused: it is too late for this change.
    """
    found = yield from retry_on_conflict(lambda: _edit_once(event_id, change, now), tries=MAX_TRIES)
    yield from give_out(found.event, now)
    after = yield from show_event_now(event_id)
    return replace(after, description=(yield from described(event_id)))


def _edit_once(event_id: str, change: EventEdit, now: datetime) -> Procedure[EventFound]:
    found = yield from show_event_now(event_id)
    wanted = {name: getattr(change, name) for name in change.model_fields_set if getattr(change, name) is not None}
    total = wanted.pop("capacity_total", found.seats.total)
    text = wanted.pop("description", None)
    changed = found.event.model_copy(update=wanted)
    _check(found, changed, total, now)
    actions = [
        *_event_actions(found.event, changed),
        *_seats_actions(found, total, now),
        *_text_actions(event_id, text),
    ]
    if actions:
        yield from edit_event(Plan(changed, *actions))
    return EventFound(changed, found.seats)


def _check(found: EventFound, changed: Event, total: int, now: datetime) -> None:
    event, seats = found.event, found.seats
    is_open, is_closed = now >= event.opens_at, now >= event.closes_at
    too_late = (
        (event.status is EventStatus.CANCELLED, "The event was cancelled."),
        (changed.opens_at != event.opens_at and is_open, "The event is open already."),
        (changed.closes_at != event.closes_at and is_closed, "The event is closed already."),
        (changed.draws_itself != event.draws_itself and is_closed, "The event is closed already."),
        (total < seats.total and is_open, "The event is open: seats can be added, but not removed."),
        (total != seats.total and is_closed and _is_lottery(event), "The lottery is closed already."),
    )
    for is_refused, why in too_late:
        if is_refused:
            raise EditRefused(why, current=event)
    if (changed.opens_at, changed.closes_at) != (event.opens_at, event.closes_at):
        check_times(changed, now)
    if changed.draws_itself and not _is_lottery(event):
        raise InvalidEvent("drawsItself", "Only a lottery has a draw.")


def _event_actions(event: Event, changed: Event) -> Iterator[Action]:
    fields: list[Change] = []
    if changed.name != event.name:
        fields.append(f(Event.name).set(changed.name))
    if changed.opens_at != event.opens_at:
        fields.append(f(Event.opens_at).set(changed.opens_at))
        yield delete(listing_of(event.opens_at, event.event_id))
        yield put(EventListing(opens_at=changed.opens_at, event_id=event.event_id))
    if changed.closes_at != event.closes_at:
        fields.append(f(Event.closes_at).set(changed.closes_at))
    if changed.draws_itself != event.draws_itself:
        fields.append(f(Event.draws_itself).set(changed.draws_itself))
    if fields:
        yield update(event, *fields)


def _text_actions(event_id: str, text: str | None) -> Iterator[Action]:
    """Replace the description; an empty text removes it."""
    if text:
        yield put(Description(event_id=event_id, text=text))
    elif text is not None:
        yield delete(description_of(event_id))


def _seats_actions(found: EventFound, total: int, now: datetime) -> Iterator[Action]:
    """Add or remove seats. The event goes back on the sweeper's list, which gives seats out if this process dies."""
    event, seats = found.event, found.seats
    more = total - seats.total
    if not more:
        return
    left = f(Seats.remaining).set(seats.remaining + more)
    yield update(seats, f(Seats.total).set(total), left, f(Seats.updated_at).set(now))
    yield put(ActiveEvent(event_id=event.event_id))


def _is_lottery(event: Event) -> bool:
    return event.event_type is EventType.LOTTERY
