"""Events as operators submit them, to be created or edited, and their validation."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)
from pydantic.alias_generators import to_camel

from partita.errors import RequestError
from partita.recipes.texts import VisibleText
from partita_services.events.model import Event
from partita_services.events.terms import (
    MAX_CAPACITY,
    MAX_RETENTION_DAYS,
    RETENTION_DAYS,
    WHOLE,
    DescriptionText,
    EventType,
    FreedSeats,
    NewName,
)

_LAST_CLOSING: Final = datetime(9980, 1, 1, tzinfo=UTC)
"""A limit on the closing, so that adding the days of retention stays within the calendar."""
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

EntropySource = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    VisibleText(),
    Field(examples=["drand round 6000000 of the default chain, randomness in hex"]),
]


def _in_utc(instant: datetime) -> datetime:
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999 in UTC") from None


def _written(given: object) -> object:
    """Refuse a number, or its text, which would be read as seconds since 1970."""
    if not isinstance(given, datetime) and not (isinstance(given, str) and _DAY.match(given)):
        raise ValueError("an instant must be written as YYYY-MM-DDThh:mm:ssZ")
    return given


UtcInstant = Annotated[AwareDatetime, BeforeValidator(_written), AfterValidator(_in_utc)]
"""An instant that can be stored. One near the limits of the calendar may be outside them in UTC."""


class EventDraft(BaseModel):
    """An event to be created."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)

    name: NewName
    description: DescriptionText = ""
    event_type: EventType
    capacity_total: Annotated[int, Field(ge=1, le=MAX_CAPACITY, examples=[500]), WHOLE]
    opens_at: Annotated[UtcInstant, Field(examples=["2026-12-01T10:00:00Z"])]
    closes_at: Annotated[UtcInstant, Field(examples=["2026-12-01T12:00:00Z"])]
    keeps_log: Annotated[
        bool, Field(description="whether every change of its requests is kept in a log", examples=[True])
    ] = False

    freed_seats: Annotated[
        FreedSeats,
        Field(description="for first-come events: users who find no seat wait for freed seats, or may apply again"),
    ] = FreedSeats.WAITING_LIST
    draws_itself: Annotated[
        bool, Field(description="for lotteries: a worker holds the draw when the event closes", examples=[False])
    ] = False
    entropy_source: Annotated[
        EntropySource | None,
        Field(description="for lotteries: a value that others publish after the closing, and the draw will also use"),
    ] = None
    retention_days: Annotated[
        int | None,
        Field(
            ge=1,
            le=MAX_RETENTION_DAYS,
            description="how many days requests are kept after the closing; null: without limit",
            examples=[90],
        ),
        WHOLE,
    ] = RETENTION_DAYS

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.closes_at <= self.opens_at:
            raise ValueError("closesAt must be after opensAt")
        if self.event_type is not EventType.LOTTERY and (self.draws_itself or self.entropy_source):
            raise ValueError("drawsItself and entropySource are for lotteries")
        return self

    @property
    def kept_until(self) -> datetime | None:
        """When the requests expire; None for never."""
        if self.retention_days is None:
            return None
        return min(self.closes_at, _LAST_CLOSING) + timedelta(days=self.retention_days)


class EventEdit(BaseModel):
    """The fields of an event to change; a field that is left out stays."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)

    name: NewName | None = None
    description: DescriptionText | None = None
    capacity_total: Annotated[int | None, Field(ge=1, le=MAX_CAPACITY, examples=[600]), WHOLE] = None
    opens_at: Annotated[UtcInstant | None, Field(examples=["2026-12-01T10:00:00Z"])] = None
    closes_at: Annotated[UtcInstant | None, Field(examples=["2026-12-01T13:00:00Z"])] = None
    draws_itself: Annotated[bool | None, Field(examples=[True])] = None


class InvalidEvent(RequestError, code="invalid_event"):
    """A field of an event has a value that is not possible; `field` is its name."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def check_times(event: Event, now: datetime) -> None:
    """Refuse an event that closes in the past, before it opens, or after its requests expire.

    Raises:
        InvalidEvent: one of these is the case.
    """
    if event.closes_at <= event.opens_at:
        raise InvalidEvent("closesAt", "closesAt must be after opensAt")
    if event.closes_at <= now:
        raise InvalidEvent("closesAt", "closesAt must be in the future")
    if event.kept_until is not None and event.closes_at >= event.kept_until:
        raise InvalidEvent("closesAt", "closesAt must be before the requests expire (keptUntil)")
