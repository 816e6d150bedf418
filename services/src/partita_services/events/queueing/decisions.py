"""Deciding: a request from the queue gets a place, and a seat while there is one; many requests in one transaction.

The seats are the fence. A worker that decides changes the version of the seats that it read, in the same transaction.
The transaction of a worker that was overtaken is cancelled as a whole; the response shows what is already decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import chain, islice
from typing import Final

from partita import Action, Procedure, f, put, retry_on_conflict, update
from partita.errors import ItemMissing, TransactionCancelled
from partita.recipes.idempotency import Plan
from partita.runtime import chunks
from partita_services.events import model
from partita_services.events.changes.event_cancelling import withdraw_arrived
from partita_services.events.model import Event, Seats, WaitingPage, seats_of
from partita_services.events.terms import EventType, Reason, instant
from partita_services.events.transitions import (
    Arrival,
    Attempt,
    QueuePlace,
    entered,
    lost,
    max_decisions,
    too_late,
    waits,
    won,
)
from partita_services.events.waitlist.promoting import free_for_arrivals, free_for_the_list, give_out

MAX_TRIES: Final = 10
_TICK: Final = timedelta(microseconds=1)


def decide(event: Event, arrivals: Sequence[Arrival], attempt: Callable[[], Attempt]) -> Procedure[None]:
    """Decide requests of one event in the given order. Requests that are already decided, or gone, are skipped.

    A request that was sent more than once has the place of its first arrival. Of a cancelled event nothing is decided:
    the users are notified, as those are whose requests arrived before.

    Raises:
        ItemMissing: the event has no seats. TransactionCancelled: other workers were faster on every try.
    """
    seats = yield from seats_of(event.event_id).consistent()
    if seats is None:
        raise ItemMissing(f"There is no event {event.event_id}.")
    first: dict[str, Arrival] = {}
    for arrival in arrivals:
        first.setdefault(arrival.request_id, arrival)
    for chunk in chunks(list(first.values()), max_decisions(event)):
        seats = yield from _decide_some(event, seats, chunk, attempt())
    if seats.is_cancelled:
        yield from withdraw_arrived(event.event_id, list(first), attempt().at)
    elif free_for_the_list(event, seats):
        yield from give_out(event, attempt().at)


def _decide_some(event: Event, seats: Seats, arrivals: Sequence[Arrival], attempt: Attempt) -> Procedure[Seats]:
    """Decide the requests of one transaction; if another worker was first, those that it has left.

    If the event is cancelled, nothing is decided.
    """

    def decide_rest() -> Procedure[Seats]:
        nonlocal seats, arrivals
        if not arrivals or seats.is_cancelled:
            return seats
        places = list(_places(seats, arrivals))
        after = _seats_after(event, seats, places, attempt)
        transitions = list(_transitions(event, seats, places, attempt))
        try:
            page = _page(event, seats, after, places)
            yield from model.decide(Plan(after, _taking(seats, after), *chain(*transitions), *page))
        except TransactionCancelled as cancelled:
            if cancelled.cause is not None:  # then the next try needs no read: the cancellation has the items
                seats, arrivals = _as_found(cancelled, seats, arrivals, transitions)
            raise
        return after

    return (yield from retry_on_conflict(decide_rest, tries=MAX_TRIES))


def _places(seats: Seats, arrivals: Sequence[Arrival]) -> Iterator[QueuePlace]:
    """The places: the times from the queue, made later by a microsecond if two requests would have the same."""
    last = seats.last_queued_at
    for arrival in arrivals:
        queued_at = instant(arrival.sent_at)
        last = queued_at if last is None else max(queued_at, last + _TICK)
        yield QueuePlace(arrival, last)


def _seats_after(event: Event, seats: Seats, places: Sequence[QueuePlace], attempt: Attempt) -> Seats:
    changed = {"last_queued_at": places[-1].queued_at, "updated_at": attempt.at, "version": seats.version + 1}
    if event.event_type is EventType.FIRST_COME:
        won = min(len(places), free_for_arrivals(event, seats))
        listed = len(places) - won if event.has_waiting_list else 0
        taken = {"remaining": seats.remaining - won, "listed": seats.listed + listed}
        return seats.model_copy(update={**taken, **changed})
    entered = 0 if seats.is_frozen else len(places)
    return seats.model_copy(update={"entered": seats.entered + entered, **changed})


def _taking(seats: Seats, after: Seats) -> Action:
    return update(
        seats,
        f(Seats.remaining).set(after.remaining),
        f(Seats.entered).set(after.entered),
        f(Seats.listed).set(after.listed),
        f(Seats.last_queued_at).set(after.last_queued_at),
        f(Seats.updated_at).set(after.updated_at),
    )


def _page(event: Event, seats: Seats, after: Seats, places: Sequence[QueuePlace]) -> list[Action]:
    """The page of the requests that join the waiting list, which are the last of the places."""
    joined = after.listed - seats.listed
    if not joined:
        return []
    entries = tuple(place.arrival.request_id for place in places[-joined:])
    return [put(WaitingPage(event_id=event.event_id, first=seats.listed, entries=entries, ttl=event.expires_at))]


def _transitions(
    event: Event, seats: Seats, places: Sequence[QueuePlace], attempt: Attempt
) -> Iterator[tuple[Action, ...]]:
    free = free_for_arrivals(event, seats)
    for number, place in enumerate(places):
        if event.event_type is EventType.LOTTERY:
            yield too_late(event, place, attempt) if seats.is_frozen else entered(event, place, attempt)
        elif number < free:
            yield won(event, place, attempt)
        elif event.has_waiting_list:
            yield waits(event, place, attempt, seats.listed + number - free + 1)
        else:
            yield lost(event, place, attempt, Reason.CAPACITY)


def _as_found(
    cancelled: TransactionCancelled,
    seats: Seats,
    arrivals: Sequence[Arrival],
    transitions: Sequence[tuple[Action, ...]],
) -> tuple[Seats, list[Arrival]]:
    """The current seats, and the requests that are still to be decided; the cancellation contains both."""
    reasons = iter(cancelled.reasons)
    fence = next(reasons).error
    if isinstance(fence, ItemMissing):
        raise fence
    undecided = []
    for arrival, actions in zip(arrivals, transitions, strict=True):
        moved, *_ = islice(reasons, len(actions))
        if moved.error is None:
            undecided.append(arrival)
    return (seats if fence is None else fence.current), undecided
