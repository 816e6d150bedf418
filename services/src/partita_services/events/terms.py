"""The terms of event requests: types, statuses and reasons, and the shards in which requests wait."""

from __future__ import annotations

import re
import zlib
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints

from partita import Span

MAX_CAPACITY: Final = 1_000_000
MAX_DESCRIPTION: Final = 2_000
MAX_RETENTION_DAYS: Final = 3_650
RETENTION_DAYS: Final = 400
"""How long requests are kept after their event has closed, unless it says otherwise."""
WAITING_SHARDS: Final = 16
ALWAYS: Final = Span.since(datetime(1970, 1, 1, tzinfo=UTC))

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


def _plain(text: str) -> str:
    """Text with its lines, and nothing that steers a terminal or turns other text around."""
    text = text.replace("\r\n", "\n")
    if _CONTROL.search(text):
        raise ValueError("has characters that are not text")
    return text


Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
    Field(examples=["Opening night, front rows"]),
]


DescriptionText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=MAX_DESCRIPTION),
    AfterValidator(_plain),
    Field(description="plain text, in lines", examples=["Doors open at seven.\nBring a warm coat."]),
]


class EventType(StrEnum):
    """How those who win are found."""

    FIRST_COME = "FIRST_COME"
    LOTTERY = "LOTTERY"


class EventStatus(StrEnum):
    """Whether requests of an event may still be undecided."""

    ACTIVE = "ACTIVE"
    FINISHED = "FINISHED"
    CANCELLED = "CANCELLED"


class FreedSeats(StrEnum):
    """What becomes of seats that are given back in first come."""

    WAITING_LIST = "WAITING_LIST"
    """Who found no seat waits in queue order, and the first who waits gets the next free one."""
    RELEASE = "RELEASE"
    """Who found no seat may apply again once one is free."""


class Status(StrEnum):
    """Where a request stands, in the order in which it gets there."""

    RECEIVED = "RECEIVED"
    QUEUED = "QUEUED"
    PROCESSING = "PROCESSING"
    SUCCEEDED = "SUCCEEDED"
    REJECTED = "REJECTED"
    FAILED_FINAL = "FAILED_FINAL"


OPEN: Final = (Status.RECEIVED, Status.QUEUED, Status.PROCESSING)
"""A request that is in one of these will still be decided."""


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
"""What `errorMessage` says to people, by reason; failures say what went wrong."""


class FailureClass(StrEnum):
    """Whether trying again may help."""

    TRANSIENT = "TRANSIENT"
    PERMANENT = "PERMANENT"


def waiting_shard(event_id: str, request_id: str) -> str:
    """The shard in which a request waits for its place. There are several, since very many may arrive at once."""
    return f"{event_id}/waiting/{zlib.crc32(request_id.encode()) % WAITING_SHARDS:02}"


def waiting_shards(event_id: str) -> list[str]:
    """All shards in which requests of an event wait."""
    return [f"{event_id}/waiting/{number:02}" for number in range(WAITING_SHARDS)]


def instant(seconds: float) -> datetime:
    """The instant that a clock or a queue gives in seconds."""
    return datetime.fromtimestamp(seconds, UTC)
