"""The terms of event requests: types, statuses and reasons, and the shards in which requests wait."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final

from pydantic import BeforeValidator, Field, StringConstraints

from partita import Span
from partita.recipes.texts import VisibleText

MAX_CAPACITY: Final = 1_000_000
MAX_DESCRIPTION: Final = 2_000
MAX_RETENTION_DAYS: Final = 3_650
RETENTION_DAYS: Final = 400
"""How many days requests are kept after the closing of their event, unless the event sets another number."""
WAITING_SHARDS: Final = 16
ALWAYS: Final = Span.since(datetime(1970, 1, 1, tzinfo=UTC))


def _whole_number(given: object) -> object:
    # Pydantic would accept `true` and "5", too.
    if isinstance(given, bool | str):
        raise ValueError("must be a whole number")  # noqa: TRY004 - Pydantic expects ValueError
    return given


WHOLE: Final = BeforeValidator(_whole_number)
"""Refuses everything but a number, before Pydantic converts it; to be named after the bounds of a field."""

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
    Field(examples=["Opening night, front rows"]),
]

NewName = Annotated[Name, VisibleText()]
"""The name of an event as operators write it; one that was stored earlier may have other characters."""


DescriptionText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=MAX_DESCRIPTION),
    VisibleText(lines=True),
    Field(description="plain text with line breaks", examples=["Doors open at seven.\nBring a warm coat."]),
]


class EventType(StrEnum):
    """How the winners are determined."""

    FIRST_COME = "FIRST_COME"
    LOTTERY = "LOTTERY"


class EventStatus(StrEnum):
    """Whether requests of an event may still be undecided."""

    ACTIVE = "ACTIVE"
    FINISHED = "FINISHED"
    CANCELLED = "CANCELLED"


class FreedSeats(StrEnum):
    """What happens to freed seats of a first-come event."""

    WAITING_LIST = "WAITING_LIST"
    """A user who finds no seat waits, in queue order, and a freed seat goes to the first one who waits."""
    RELEASE = "RELEASE"
    """A user who finds no seat may apply again once a seat is free."""


class Status(StrEnum):
    """The status of a request, in the order in which a request reaches them."""

    RECEIVED = "RECEIVED"
    QUEUED = "QUEUED"
    PROCESSING = "PROCESSING"
    SUCCEEDED = "SUCCEEDED"
    REJECTED = "REJECTED"
    FAILED_FINAL = "FAILED_FINAL"


OPEN: Final = (Status.RECEIVED, Status.QUEUED, Status.PROCESSING)
"""A request with one of these statuses is still to be decided."""


class Reason(StrEnum):
    """Why a request did not win (`errorCode`)."""

    CAPACITY = "CAPACITY"
    CLOSED = "CLOSED"
    WAITING_LIST = "WAITING_LIST"
    CANCELLED = "CANCELLED"
    EVENT_CANCELLED = "EVENT_CANCELLED"
    EVENT_MISSING = "EVENT_MISSING"
    RETRIES_EXHAUSTED = "RETRIES_EXHAUSTED"


MESSAGES: Final = {
    Reason.CAPACITY: "All seats were taken.",
    Reason.CLOSED: "The entry came after the draw had begun.",
    Reason.WAITING_LIST: "All seats were taken. The request is on the waiting list.",
    Reason.CANCELLED: "The request was cancelled.",
    Reason.EVENT_CANCELLED: "The event was cancelled.",
}
"""The `errorMessage` for each reason; a failure has a message of its own."""


class FailureClass(StrEnum):
    """Whether another try may succeed."""

    TRANSIENT = "TRANSIENT"
    PERMANENT = "PERMANENT"


def waiting_shard(event_id: str, request_id: str) -> str:
    """The shard in which a request waits for its place. There are several because very many may arrive at once."""
    return f"{event_id}/waiting/{zlib.crc32(request_id.encode()) % WAITING_SHARDS:02}"


def waiting_shards(event_id: str) -> list[str]:
    """All shards in which requests of an event wait."""
    return [f"{event_id}/waiting/{number:02}" for number in range(WAITING_SHARDS)]


def instant(seconds: float) -> datetime:
    """Convert the seconds of a clock or a queue to an instant."""
    return datetime.fromtimestamp(seconds, UTC)
