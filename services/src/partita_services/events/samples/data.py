"""Sample data: past, open and future events, and the requests for them."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, NamedTuple

from partita import Action, Procedure, Ulids, insert, put
from partita.recipes.idempotency import Plan
from partita_services.events.changes.model import Description, describe_event
from partita_services.events.draws.model import Draw, DrawPage, Seed, add_seed
from partita_services.events.draws.verify import commitment_to, hash_of, ranked
from partita_services.events.model import (
    ActiveEvent,
    Event,
    EventListing,
    Lock,
    Request,
    Seats,
    WaitingPage,
    activate_event,
    add_event,
    add_lock,
    add_request,
    add_seats,
    list_event,
    log_step,
)
from partita_services.events.terms import (
    MESSAGES,
    RETENTION_DAYS,
    EventStatus,
    EventType,
    Reason,
    Status,
    instant,
)
from partita_services.events.transitions import API, entry

SAMPLE_USER: Final = "demo"
_OTHERS: Final = ("ada", "bela", "chidi", "dana", "emre", "farah", "goran", "hana", "ines", "jonas", "kofi")
_FIRST: Final = instant(1_767_600_000)  # 5 January 2026, 8:00, for identifiers that are always the same


class _Sample(NamedTuple):
    name: str
    event_type: EventType
    seats: int
    opens_in: float
    """Days from now."""
    closes_in: float
    about: str
    applicants: int = 0
    is_finished: bool = False


_TOWER: Final = "One hundred and ninety steps, and the clockwork at the top.\nNot for those who fear heights."
_GARDEN: Final = "Three plots of four square metres, from April to October. Water and tools are there."
_OPENING: Final = "The first three rows of the stalls. Doors open at seven; who is late waits for the interval."
_EDITIONS: Final = "Five copies, signed by the author.\nThey are collected at the shop, within two weeks of the draw."
_SWIM: Final = "Four hundred metres in cold water. A boat goes along, and there is soup afterwards."
_NAMES: Final = {"ada": "Ada L.", "farah": "Farah", "ines": "Inês from the third floor"}
"""The names of users who allow others to see them."""

_SAMPLES: Final = (
    _Sample("Guided tour of the clock tower", EventType.FIRST_COME, 4, -9, -8, _TOWER, 11, is_finished=True),
    _Sample("Rooftop garden, summer plots", EventType.LOTTERY, 3, -12, -5, _GARDEN, 11, is_finished=True),
    _Sample("Opening night, front rows", EventType.FIRST_COME, 40, -1, 14, _OPENING, 9),
    _Sample("Signed first editions", EventType.LOTTERY, 5, -2, 7, _EDITIONS, 8),
    _Sample("New Year's harbour swim", EventType.FIRST_COME, 120, 3, 10, _SWIM),
)


class SampleEvent:
    """One event with all its stored items."""

    def __init__(self, number: int, sample: _Sample, now: float) -> None:
        self.sample = sample
        self._now = instant(int(now))
        self._new_id = Ulids(lambda: _FIRST.timestamp() + number * 86_400, random.Random(number))  # noqa: S311 - fixed
        self.event_id = self._new_id()
        self.opens_at = self._now + timedelta(days=sample.opens_in)
        self.closes_at = self._now + timedelta(days=sample.closes_in)

    @property
    def is_lottery(self) -> bool:
        """Whether its winners are drawn."""
        return self.sample.event_type is EventType.LOTTERY

    @cached_property
    def seed(self) -> Seed:
        """The secret of a lottery."""
        return Seed(event_id=self.event_id, seed=hashlib.sha256(self.event_id.encode()).hexdigest())

    @cached_property
    def event(self) -> Event:
        """The event itself."""
        return Event(
            event_id=self.event_id,
            name=self.sample.name,
            event_type=self.sample.event_type,
            opens_at=self.opens_at,
            closes_at=self.closes_at,
            status=EventStatus.FINISHED if self.sample.is_finished else EventStatus.ACTIVE,
            keeps_log=self.sample.is_finished,
            commitment=commitment_to(bytes.fromhex(self.seed.seed)) if self.is_lottery else None,
            kept_until=self.closes_at + timedelta(days=RETENTION_DAYS),
            created_at=self.opens_at - timedelta(days=7),
        )

    @cached_property
    def seats(self) -> Seats:
        """Its seats, some of which the winners have taken."""
        taken = sum(request.status is Status.SUCCEEDED for request in self.requests)
        return Seats(
            event_id=self.event_id,
            total=self.sample.seats,
            remaining=self.sample.seats - taken,
            entered=len(self.requests) if self.is_lottery else 0,
            is_frozen=self.is_lottery and self.sample.is_finished,
            listed=0 if self.is_lottery else len(self.requests) - taken,
            last_queued_at=self.requests[-1].queued_at if self.requests else None,
            updated_at=self.opens_at,
        )

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """The requests for the event in queue order, with their outcome."""
        made = [self._request(place) for place in range(self.sample.applicants)]
        order = made if not self.is_lottery else self._drawn(made)
        decided = {request.request_id: self._decided(request, place) for place, request in enumerate(order)}
        return tuple(decided[request.request_id] for request in made)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The entries of a lottery in the order that its seed draws."""
        return tuple(request.request_id for request in self._drawn(self.requests))

    def writes(self) -> Iterator[Procedure[Event] | Procedure[Request]]:
        """Yield the procedures that write the event, and then each request."""
        yield Plan(add_event(self.event).saved, *self._event_actions()).run()
        for request in self.requests:
            yield Plan(request, *self._request_actions(request)).run()

    def _event_actions(self) -> Iterator[Action]:
        yield add_event(self.event)
        yield add_seats(self.seats)
        yield list_event(EventListing(opens_at=self.opens_at, event_id=self.event_id))
        yield describe_event(Description(event_id=self.event_id, text=self.sample.about))
        if not self.sample.is_finished:
            yield activate_event(ActiveEvent(event_id=self.event_id))
        if self.is_lottery:
            yield add_seed(self.seed)
        if self.seats.listed:
            waiting = [each.request_id for each in self.requests if each.error_code == Reason.WAITING_LIST]
            ttl = self.event.expires_at
            yield put(WaitingPage(event_id=self.event_id, first=0, entries=tuple(waiting), ttl=ttl))
        if self.seats.is_frozen:
            yield insert(self.draw)
            yield insert(DrawPage(event_id=self.event_id, page=0, entries=self.order))

    @property
    def draw(self) -> Draw:
        """The draw of a finished lottery."""
        return Draw(
            event_id=self.event_id,
            commitment=self.event.commitment or "",
            entries=len(self.order),
            entries_hash=hash_of(self.order),
            settled=len(self.order),
            drawn_at=self.closes_at,
            revealed_at=self.closes_at,
        )

    def _request_actions(self, request: Request) -> Iterator[Action]:
        expires, user = self.event.expires_at, request.user_id
        yield add_lock(Lock(event_id=self.event_id, user_id=user, request_id=request.request_id, ttl=expires))
        yield add_request(request)
        if self.event.keeps_log:
            for status, at in self._changes_of(request):
                worker = API if status in (Status.RECEIVED, Status.QUEUED) else "worker-1"
                yield log_step(entry(request.request_id, status, worker, at, expires_at=expires))

    def _changes_of(self, request: Request) -> Iterator[tuple[Status, datetime]]:
        yield Status.RECEIVED, request.requested_at
        yield Status.QUEUED, request.queued_at
        if request.started_at is not None:
            yield Status.PROCESSING, request.started_at
        if request.finished_at is not None:
            yield request.status, request.finished_at

    def _drawn(self, requests: Iterable[Request]) -> list[Request]:
        found = {request.request_id: request for request in requests}
        return [found[entry] for entry in ranked(bytes.fromhex(self.seed.seed), self.event_id, found)]

    def _request(self, place: int) -> Request:
        users = (*_OTHERS[:3], SAMPLE_USER, *_OTHERS[3:]) if self.sample.is_finished else _OTHERS
        user, at = users[place], self.opens_at + timedelta(milliseconds=350 * place * place + 120)
        return Request(
            request_id=self._new_id(),
            event_id=self.event_id,
            user_id=user,
            shard=self.event_id,
            event_type=self.sample.event_type,
            status=Status.PROCESSING,
            requested_at=at,
            queued_at=at + timedelta(milliseconds=3),
            started_at=at + timedelta(milliseconds=21),
            idempotency_key=f"IDEMP#{self.event_id}#{user}",
            display_name=_NAMES.get(user),
            shows_name=user in _NAMES,
            ttl=int((self.closes_at + timedelta(days=RETENTION_DAYS)).timestamp()),
        )

    def _decided(self, request: Request, place: int) -> Request:
        if self.is_lottery and not self.sample.is_finished:
            return request
        at = self.closes_at if self.is_lottery else (request.started_at or request.queued_at)
        if place < self.sample.seats:
            return request.model_copy(update={"status": Status.SUCCEEDED, "finished_at": at})
        waits = {"waiting_position": place - self.sample.seats + 1, "error_message": MESSAGES[Reason.WAITING_LIST]}
        lost = {"status": Status.REJECTED, "finished_at": at, "error_code": Reason.WAITING_LIST}
        return request.model_copy(update=lost | waits)


def sample_events(now: float) -> list[SampleEvent]:
    """All sample events, relative to the current time."""
    return [SampleEvent(number, sample, now) for number, sample in enumerate(_SAMPLES)]


def seed(now: float) -> list[Procedure[Event] | Procedure[Request]]:
    """The procedures that write the sample events and their requests; identifiers are always the same."""
    return [write for sample in sample_events(now) for write in sample.writes()]
