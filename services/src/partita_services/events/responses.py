"""The responses of the events API: events, requests, figures and draws as JSON, and requests as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from datetime import datetime
from io import StringIO
from operator import attrgetter
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from partita.http import CamelModel, Instant, LagView
from partita.recipes.texts import VisibleText
from partita_services.events.draws.draw import DrawFound
from partita_services.events.draws.verify import ALGORITHM
from partita_services.events.model import LogEntry, Request
from partita_services.events.reading import EventFound, Phase, phase_of
from partita_services.events.terms import EventType, FailureClass, FreedSeats, Status

_IDENTIFIER: Final = "01K9ZQ3V7M2Y8R4C6T1XWNB5HD"


class EventView(CamelModel):
    """An event with its seats."""

    event_id: str = Field(examples=[_IDENTIFIER])
    name: str = Field(examples=["Opening night, front rows"])
    event_type: EventType
    status: Phase
    capacity_total: int = Field(examples=[500])
    capacity_remaining: int = Field(examples=[122])
    opens_at: Instant
    closes_at: Instant
    keeps_log: bool
    freed_seats: FreedSeats = Field(description="for first-come events: what happens to freed seats")
    commitment: str | None = Field(description="for lotteries: the SHA-256 of the seed, followed by entropySource")
    entropy_source: str | None = Field(description="for lotteries: which external value the draw will also use")
    draws_itself: bool = Field(description="for lotteries: whether a worker holds the draw when the event closes")
    kept_until: Instant | None = Field(description="when the requests and their logs are deleted")
    cancel_reason: str | None
    notified: int | None = Field(description="for cancelled events: how many users were notified; null before all are")
    created_at: Instant

    @classmethod
    def of(cls, found: EventFound, now: datetime) -> Self:
        """The view of an event."""
        event, seats = found.event, found.seats
        return cls(
            event_id=event.event_id,
            name=event.name,
            event_type=event.event_type,
            status=phase_of(event, now),
            capacity_total=seats.total,
            capacity_remaining=seats.remaining,
            opens_at=event.opens_at,
            closes_at=event.closes_at,
            keeps_log=event.keeps_log,
            freed_seats=event.freed_seats,
            commitment=event.commitment,
            entropy_source=event.entropy_source,
            draws_itself=event.draws_itself,
            kept_until=event.kept_until,
            cancel_reason=event.cancel_reason,
            notified=event.notified,
            created_at=event.created_at,
        )


class EventDetails(EventView):
    """An event with its seats and its description."""

    description: str = Field(description="plain text with line breaks; may be empty", examples=["Doors open at seven."])

    @classmethod
    def of(cls, found: EventFound, now: datetime) -> Self:
        """The view of an event that was read with its description."""
        return cls(**EventView.of(found, now).model_dump(by_alias=False), description=found.description)


class Events(BaseModel):
    """One page of events. `next_cursor` is null on the last one."""

    items: tuple[EventView, ...]
    next_cursor: str | None


class RequestView(CamelModel):
    """A request. `queuedAt` is null until the queue has accepted it."""

    request_id: str = Field(examples=[_IDENTIFIER])
    event_id: str = Field(examples=[_IDENTIFIER])
    user_id: str = Field(examples=["ann"])
    event_type: EventType
    status: Status
    requested_at: Instant
    queued_at: Instant | None
    started_at: Instant | None
    finished_at: Instant | None
    failure_class: FailureClass | None
    error_code: str | None = Field(examples=["CAPACITY"])
    error_message: str | None
    waiting_position: int | None = Field(
        description="on the waiting list when the request joined it, from 1, in queue or draw order; "
        "it stays when others leave the list, and when the request gets a seat"
    )
    display_name: str | None = Field(description="of the applicant; others see it only if showsName is true")
    shows_name: bool = Field(description="whether operators may see the name, and everybody in the list of winners")

    @classmethod
    def own(cls, request: Request) -> Self:
        """The view of a request for the user who made it."""
        return cls.of(request, is_own=True)

    @classmethod
    def of(cls, request: Request, *, is_own: bool = False) -> Self:
        """The view of a request."""
        values: dict[str, Any] = dict(zip(_VIEWED, _viewed(request), strict=True))
        if not is_own:
            values["display_name"] = request.shown_name
        if request.status is Status.RECEIVED:
            values["queued_at"] = None
        return cls(**values)


_VIEWED: Final = tuple(RequestView.model_fields)
_viewed: Final = attrgetter(*_VIEWED)


class Requests(BaseModel):
    """One page of requests. `next_cursor` is null on the last one."""

    items: tuple[RequestView, ...]
    next_cursor: str | None

    @classmethod
    def of(cls, requests: Iterable[Request], next_cursor: str | None) -> Self:
        """The view of a page."""
        return cls(items=tuple(map(RequestView.of, requests)), next_cursor=next_cursor)


class WaitingRequest(RequestView):
    """A request, with its place in the queue and the estimated time that it waits."""

    position: int | None = Field(default=None, description="in the queue of its event, from 1; null if decided")
    estimated_seconds: float | None = Field(
        default=None, description="at the pace of the last seconds; null if decided, or if the pace is zero"
    )


class Throughput(CamelModel):
    """How many requests were decided in one second."""

    second: Instant
    decided: int


class Figures(CamelModel):
    """The figures of an event, as far as its changes have been read."""

    event_id: str
    at: Instant
    counts: dict[Status, int] = Field(examples=[dict.fromkeys(Status, 0)])
    requests: int
    backlog: int = Field(description="requests that are not decided yet")
    backlog_seconds: float = Field(description="how long the oldest of them has been waiting")
    decided_per_second: float = Field(description="over the last five seconds")
    capacity_total: int
    capacity_remaining: int
    seconds: tuple[Throughput, ...] = Field(description="the last minute; seconds without a decision are omitted")
    lag: LagView


class LogEntryView(CamelModel):
    """A change of a request's status."""

    status: Status
    occurred_at: Instant
    worker: str = Field(examples=["host-4711"])
    reason: str | None = Field(examples=["CAPACITY"])


class Log(CamelModel):
    """The changes of a request's status, in order; empty if its event keeps no log."""

    items: tuple[LogEntryView, ...]

    @classmethod
    def of(cls, entries: Iterable[LogEntry]) -> Self:
        """The view of a log."""
        names = LogEntryView.model_fields
        return cls(items=tuple(LogEntryView(**{name: getattr(entry, name) for name in names}) for entry in entries))


class DrawEntropy(BaseModel):
    """The value that a lottery's entropy source has published."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    entropy: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000),
        VisibleText(),
        Field(examples=["07 12 19 33 41 45"]),
    ]


class DrawView(CamelModel):
    """A draw. Seed, winners and waiting list are included once it is held; entries are the ids of requests."""

    event_id: str = Field(examples=[_IDENTIFIER])
    capacity_total: int = Field(examples=[1])
    algorithm: str = Field(examples=[ALGORITHM])
    commitment: str = Field(description="published with the event; see `algorithm`", examples=["9f86d081…"])
    entropy_source: str | None = Field(description="which external value the draw uses; null for none")
    entropy: str | None = Field(description="that value, once it is supplied", examples=["6b1f…"])
    entropy_at: Instant | None = Field(description="when it was supplied, after the entries were frozen")
    entries_hash: str | None = Field(description="of the entries, once they are frozen", examples=["a1b2…"])
    seed: str | None = Field(description="hexadecimal, once it is revealed", examples=["00ff…"])
    drawn_at: Instant | None = Field(description="when the entries were frozen")
    winners: tuple[str, ...] = Field(examples=[[_IDENTIFIER]])
    waiting_list: tuple[str, ...] = Field(examples=[[_IDENTIFIER]])

    @classmethod
    def of(cls, found: DrawFound) -> Self:
        """The view of a draw."""
        draw, total = found.draw, found.seats.total
        return cls(
            event_id=found.event.event_id,
            capacity_total=total,
            algorithm=ALGORITHM,
            commitment=found.event.commitment or "",
            entropy_source=found.event.entropy_source,
            entropy=draw.entropy if draw else None,
            entropy_at=draw.entropy_at if draw else None,
            entries_hash=draw.entries_hash if draw else None,
            seed=found.seed,
            drawn_at=draw.drawn_at if draw else None,
            winners=found.order[:total],
            waiting_list=found.order[total:],
        )


COLUMNS: Final = tuple(to_camel(name) for name in RequestView.model_fields)


FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet evaluates a cell that begins with one of these. Text from users must not be evaluated."""


def csv_lines(requests: Iterable[Request], *, with_header: bool) -> str:
    """Requests as CSV (RFC 4180). Text that a spreadsheet would treat as a formula gets a leading apostrophe."""
    text = StringIO()
    lines = csv.writer(text)
    if with_header:
        lines.writerow(COLUMNS)
    for request in requests:
        row = RequestView.of(request).model_dump(mode="json")
        lines.writerow(_cell(row[column]) for column in COLUMNS)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
