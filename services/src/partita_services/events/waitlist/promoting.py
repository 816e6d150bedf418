"""Promoting waiting requests: a free seat goes to the first of them, and to nobody who came later.

The list is in the order of the queue, or of the draw. It is stored in pages, which are written in the transaction that
decides. The place that is promoted next is part of the seats, whose version fences everyone who changes them. So nobody
on the list is passed over, and nobody is promoted twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from partita import Action, Procedure, Span, f, retry_on_conflict, update
from partita.errors import IllegalTransition
from partita.recipes.idempotency import Plan
from partita_services.events.changes.notices import promotion_notice
from partita_services.events.draws.model import DRAW_PAGE, Draw, draw_of, drawn_page
from partita_services.events.model import Event, Request, Seats, seats_of
from partita_services.events.terms import EventType, Reason
from partita_services.events.transitions import promoted
from partita_services.events.waitlist.model import give_seats, requests_by_ids, waiting_pages

AT_ONCE: Final = 33
"""How many are promoted in one transaction: each is an update, a notice and a log entry, in addition to the seats."""
MAX_READ: Final = 100


def free_for_arrivals(event: Event, seats: Seats) -> int:
    """How many seats new arrivals may take: none while somebody waits."""
    return 0 if event.has_waiting_list and seats.next_waiting < seats.listed else seats.remaining


def free_for_the_list(event: Event, seats: Seats) -> int:
    """How many free seats are to be given to waiting requests."""
    is_open = event.has_waiting_list and not seats.is_cancelled and seats.next_waiting < seats.listed
    return seats.remaining if is_open else 0


def give_out(event: Event, now: datetime) -> Procedure[None]:
    """Give all free seats of a first-come event to waiting requests, in order."""
    if not event.has_waiting_list:
        return

    def give_some() -> Procedure[int]:
        seats = yield from seats_of(event.event_id).consistent()
        free = 0 if seats is None else free_for_the_list(event, seats)
        if seats is None or not free:
            return 0
        place, first = yield from next_waiting(event, seats, min(free, AT_ONCE))
        left = seats.remaining - len(first)
        after = (f(Seats.remaining).set(left), f(Seats.next_waiting).set(place), f(Seats.updated_at).set(now))
        moves = [action for request in first for action in promotion(event, request, now)]
        yield from give_seats(Plan(seats, update(seats, *after), *moves))
        return left

    while (yield from retry_on_conflict(give_some)):
        pass


def next_waiting(event: Event, seats: Seats, wanted: int) -> Procedure[tuple[int, list[Request]]]:
    """Return the place on the list after the last request found, and up to `wanted` requests that still want a seat.

    Raises:
        IllegalTransition: the list does not exist yet, because the draw is being held.
    """
    place, found = seats.next_waiting, list[Request]()
    while len(found) < wanted:
        entries = yield from _entries_from(event, seats, place)
        if not entries:
            break
        requests = yield from requests_by_ids(entries)
        for request in requests:
            place += 1
            if request is not None and request.error_code == Reason.WAITING_LIST:
                found.append(request)
            if len(found) == wanted:
                break
    return place, found


def promotion(event: Event, request: Request, now: datetime) -> tuple[Action, ...]:
    """The actions that give a waiting request a seat, and notify its user."""
    return *promoted(event, request, now), promotion_notice(event, request, now)


def held_draw(event_id: str) -> Procedure[Draw]:
    """The draw, once all entries have their result: until then, continuing it needs every request as it was drawn.

    Raises:
        IllegalTransition: the draw is not finished yet.
    """
    draw = yield from draw_of(event_id).consistent()
    if draw is None or draw.revealed_at is None:
        raise IllegalTransition("The draw is being held.", hint="Try again when it is done.")
    return draw


def _entries_from(event: Event, seats: Seats, place: int) -> Procedure[Sequence[str]]:
    """A part of the list, from a place on; empty after its end."""
    if event.event_type is EventType.LOTTERY:
        draw = yield from held_draw(event.event_id)
        drawn = seats.total + place
        if drawn >= draw.entries:
            return ()
        number, row = divmod(drawn, DRAW_PAGE)
        page = yield from drawn_page(event.event_id, number).consistent()
        return () if page is None else page.entries[row : row + MAX_READ]
    if place >= seats.listed:
        return ()
    found = yield from waiting_pages(event.event_id, Span.until(place)).consistent().first()
    return () if found is None else found.entries[place - found.first :][:MAX_READ]
