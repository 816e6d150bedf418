"""The draw of a lottery: entries are frozen, ranked by the seed, and get their results.

The result follows from the seed, the frozen entries and the external value, if there is one. So a process that
continues an interrupted draw gets the same result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, TypeVar

from msgspec import Struct
from pydantic import BaseModel

from partita import Action, Procedure, Query, check, delete, f, insert, update
from partita.errors import ConditionFailed, ItemMissing, TransactionCancelled
from partita.operations import MAX_ACTIONS
from partita.recipes.idempotency import Plan
from partita.runtime import chunks
from partita_services.events.draws.model import (
    DRAW_PAGE,
    Draw,
    DrawPage,
    begin_draw,
    draw_of,
    drawn_in,
    give_entropy,
    reveal,
    seed_of,
    settle,
    write_drawn,
)
from partita_services.events.draws.verify import hash_of, key_of, ranked
from partita_services.events.model import (
    Event,
    Request,
    RequestLife,
    Seats,
    active_event,
    event_by_id,
    request_by_id,
    requests_of_event,
    seats_of,
    waiting_requests,
)
from partita_services.events.reading import show_event_now
from partita_services.events.terms import ALWAYS, EventStatus, EventType, Reason, Status, waiting_shards
from partita_services.events.transitions import because_of, logged
from partita_services.events.waitlist.model import requests_by_ids

M = TypeVar("M", bound=BaseModel)

PAGE: Final = 1_000
PAGES_AT_ONCE: Final = 16
READ_AT_ONCE: Final = 100


class DrawRefused(ConditionFailed):
    """The draw cannot be held, or not yet."""

    code = "draw_refused"


class DrawFound(Struct, frozen=True):
    """A lottery, its draw if that has begun, and, once it is revealed, the seed and the entries in drawn order."""

    event: Event
    seats: Seats
    draw: Draw | None
    seed: str | None = None
    order: tuple[str, ...] = ()

    @property
    def awaits_entropy(self) -> bool:
        """Whether the entries are frozen and the external value is not known yet."""
        return self.draw is not None and self.event.entropy_source is not None and self.draw.entropy is None


def hold_draw(event_id: str, now: datetime, entropy: str | None = None) -> Procedure[DrawFound]:
    """Hold the draw of a closed lottery, or continue one that was interrupted. Repeating the call changes nothing.

    A lottery with an entropy source is drawn in two steps: first its entries are frozen, so that everybody can see
    their hash; then the value is supplied that the source has published in the meantime.

    Raises:
        ItemMissing: there is no such event.
        DrawRefused: the event is not a lottery, is not closed or was cancelled; some of its entries are still in the
            queue; or the value comes too early, differs from the one already supplied, or has no source.
    """
    found = yield from show_draw(event_id)
    _check_entropy(found, entropy)
    if found.draw is None:
        _check_closed(found.event, now)
        yield from _freeze(found, now)
        found = yield from show_draw(event_id)
    if entropy is not None and found.draw is not None and found.draw.entropy is None:
        yield from _give_entropy(found.draw, entropy, now)
        found = yield from show_draw(event_id)
    if found.draw is not None and found.draw.revealed_at is None and not found.awaits_entropy:
        yield from _finish(found.event, found.draw, now)
        found = yield from show_draw(event_id)
    return found


def show_draw(event_id: str) -> Procedure[DrawFound]:
    """The draw of a lottery; once it is revealed, with the seed and the drawn entries.

    Raises:
        ItemMissing: there is no such event. DrawRefused: the event is not a lottery.
    """
    found = yield from show_event_now(event_id)
    event, seats = found.event, found.seats
    if event.event_type is not EventType.LOTTERY:
        raise DrawRefused("The event is not a lottery.")
    draw = yield from draw_of(event_id).consistent()
    if draw is None or draw.revealed_at is None:
        return DrawFound(event, seats, draw)
    secret = yield from seed_of(event_id)
    pages = yield from _all_pages(drawn_in(event_id).consistent(), PAGES_AT_ONCE)
    order = tuple(entry for page in pages for entry in page.entries)
    return DrawFound(event, seats, draw, secret.seed if secret else None, order)


def _check_entropy(found: DrawFound, entropy: str | None) -> None:
    if entropy is None:
        return
    if found.event.entropy_source is None:
        raise DrawRefused("The lottery has no entropy source.", hint="Hold the draw without a value.")
    if found.draw is None:
        hint = "Hold the draw without a value first, so that everybody can see the hash of the entries."
        raise DrawRefused("The entries are not frozen yet.", hint=hint)
    if found.draw.entropy not in (None, entropy):
        raise DrawRefused("Another value was already supplied, and cannot be changed.")


def _give_entropy(draw: Draw, entropy: str, now: datetime) -> Procedure[None]:
    """Write the value. If another value was written first, that one stays."""
    given = update(draw, f(Draw.entropy).set(entropy), f(Draw.entropy_at).set(now))
    goes_on = check(seats_of(draw.event_id), f(Seats.is_cancelled).ne(True))
    try:
        yield from give_entropy(Plan(draw, given, goes_on))
    except TransactionCancelled as cancelled:
        if cancelled.reasons[1].error is not None:
            raise DrawRefused("The event was cancelled.") from cancelled
        first = cancelled.reasons[0].error
        if first is None or first.current.entropy != entropy:
            raise DrawRefused("Another value was already supplied, and cannot be changed.") from cancelled


def _check_closed(event: Event, now: datetime) -> None:
    if event.status is EventStatus.CANCELLED:
        raise DrawRefused("The event was cancelled.")
    if now < event.closes_at:
        raise DrawRefused("The event is not closed yet.", hint="Hold the draw after the event has closed.")


def _freeze(found: DrawFound, now: datetime) -> Procedure[None]:
    """Fix the entries: from now on no others are accepted. A concurrent entry changes the seats, so it is not lost."""
    event, seats = found.event, found.seats
    if seats.is_cancelled:
        raise DrawRefused("The event was cancelled.")
    waiting = yield from _some_wait(event.event_id)
    requests = yield from _all_pages(requests_of_event(event.event_id), PAGE)
    entries = [request.request_id for request in requests if request.status is Status.PROCESSING]
    if waiting or len(entries) != seats.entered or not (yield from _take_part(entries)):
        if (yield from draw_of(event.event_id).consistent()) is not None:
            return  # another process has frozen them in the meantime, and has continued
        raise DrawRefused("Some entries are still in the queue, or not visible yet.", hint="Try again in a moment.")
    draw = Draw(
        event_id=event.event_id,
        commitment=event.commitment or "",
        entries=len(entries),
        entries_hash=hash_of(entries),
        drawn_at=now,
    )
    frozen = update(seats, f(Seats.is_frozen).set(True), f(Seats.updated_at).set(now))
    try:
        yield from begin_draw(Plan(draw, frozen, insert(draw)))
    except TransactionCancelled as cancelled:
        if cancelled.cause is None:
            raise
        if cancelled.reasons[1].error is None:  # an entry was added or cancelled; there was no other draw
            raise DrawRefused("An entry was added or cancelled in the meantime.", hint="Try again.") from cancelled


def _take_part(entries: Sequence[str]) -> Procedure[bool]:
    """Whether all entries that the index shows take part now.

    The index may still show an entry that was cancelled, and not yet another one, so their number alone proves nothing.
    """
    for together in chunks(entries, READ_AT_ONCE):
        requests = yield from requests_by_ids(together)
        if any(request is None or request.status is not Status.PROCESSING for request in requests):
            return False
    return True


def _finish(event: Event, draw: Draw, now: datetime) -> Procedure[None]:
    seed, seats = (yield from seed_of(event.event_id)), (yield from seats_of(event.event_id).consistent())
    if seed is None or seats is None:
        raise ItemMissing("The seed of the lottery is missing.")
    entries = yield from _frozen_entries(draw)
    if hash_of(entries) != draw.entries_hash:
        raise DrawRefused("Some entries are not visible yet.", hint="Try again in a moment.")
    order = ranked(key_of(bytes.fromhex(seed.seed), draw.entropy), event.event_id, entries)
    for number, together in enumerate(chunks(order, DRAW_PAGE)):
        yield from write_drawn(DrawPage(event_id=event.event_id, page=number, entries=tuple(together)))
    draw = yield from _settle(event, draw, order, seats.total, now)
    yield from _reveal(event, draw, seats, now)


def _frozen_entries(draw: Draw) -> Procedure[list[str]]:
    """The frozen entries. All are stored in pages before the first gets its result; from then on, no status matters."""
    if draw.settled:
        pages = yield from _all_pages(drawn_in(draw.event_id).consistent(), PAGES_AT_ONCE)
        return [entry for page in pages for entry in page.entries]
    requests = yield from _all_pages(requests_of_event(draw.event_id), PAGE)
    return [request.request_id for request in requests if _took_part(request)]


def _settle(event: Event, draw: Draw, order: Sequence[str], winners: int, now: datetime) -> Procedure[Draw]:
    """Write the result of every entry, and the progress in the same transaction, so two processes share the work."""
    at_once = (MAX_ACTIONS - 1) // (2 if event.keeps_log else 1)
    while draw.settled < len(order):
        together = order[draw.settled : draw.settled + at_once]
        change = update(draw, f(Draw.settled).set(draw.settled + len(together)))
        results = [
            action
            for place, request_id in enumerate(together, start=draw.settled + 1)
            for action in _result(event, request_id, place - winners, now)
        ]
        try:
            yield from settle(Plan(draw, change, *results))
        except TransactionCancelled as cancelled:
            if cancelled.reasons[0].error is None:
                raise
            draw = cancelled.reasons[0].error.current
        else:
            draw = draw.model_copy(update={"settled": draw.settled + len(together), "version": draw.version + 1})
    return draw


def _result(event: Event, request_id: str, waiting: int, now: datetime) -> Iterator[Action]:
    """The actions that give an entry a seat, or its position on the waiting list, from 1."""
    at, done = request_by_id(request_id), f(Request.finished_at).set(now)
    if waiting <= 0:
        yield RequestLife.succeed(at, done)
        status, reason = Status.SUCCEEDED, None
    else:
        because = because_of(Reason.WAITING_LIST, "Others were drawn. The request is on the waiting list.")
        yield RequestLife.reject(at, done, *because, f(Request.waiting_position).set(waiting))
        status, reason = Status.REJECTED, Reason.WAITING_LIST
    yield from logged(event, request_id, status, reason, now)


def _reveal(event: Event, draw: Draw, seats: Seats, now: datetime) -> Procedure[None]:
    done = update(draw, f(Draw.revealed_at).set(now))
    remaining = max(0, seats.total - draw.entries)
    taken = update(seats_of(event.event_id), f(Seats.remaining).set(remaining), f(Seats.updated_at).set(now))
    finished = update(event_by_id(event.event_id), f(Event.status).set(EventStatus.FINISHED))
    try:
        yield from reveal(Plan(draw, done, taken, finished, delete(active_event(event.event_id))))
    except TransactionCancelled as cancelled:
        if cancelled.reasons[0].error is None:  # otherwise another process was faster
            raise


def _some_wait(event_id: str) -> Procedure[bool]:
    """Whether some entries of a lottery are still in the queue."""
    for shard in waiting_shards(event_id):
        if (yield from waiting_requests(shard, ALWAYS).first()) is not None:
            return True
    return False


def _all_pages(query: Query[M], at_once: int) -> Procedure[list[M]]:
    found: list[M] = []
    page = yield from query.page(at_once)
    found += page
    while page.next_cursor is not None:
        page = yield from query.page(at_once, after=page.next_cursor)
        found += page
    return found


def _took_part(request: Request) -> bool:
    """Whether a request is one of the frozen entries: it waits for the draw, or has its result."""
    waits = request.status is Status.REJECTED and request.error_code == Reason.WAITING_LIST
    return waits or request.status in (Status.PROCESSING, Status.SUCCEEDED)
