"""The one interface that every queue implements, and the requests and responses that pass through it."""

from __future__ import annotations

from typing import Final, Generic, Protocol, TypeVar

from msgspec import Struct

R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")

DEDUPLICATION_SECONDS: Final = 300.0
"""How long a deduplication id is remembered, also when its message is long done."""
MAX_BODY_BYTES: Final = 256 * 1024
"""The largest body of a message."""
MAX_HIDDEN_SECONDS: Final = 12 * 60 * 60.0
"""The longest time for which a message can be hidden or postponed."""


class QueuePolicy(Struct, frozen=True):
    """How a queue treats its messages."""

    max_receives: int = 5
    """A message that was handed out so often and never acknowledged becomes a dead letter."""


# --- responses ---


class SentMessage(Struct, frozen=True):
    """A message that the queue has accepted, durably."""

    id: str
    sequence: int
    """The order of the queue: later messages of a group have a higher one, whichever node sent them."""
    at: float
    """When, in seconds since the epoch."""

    @property
    def position(self) -> str:
        """The sequence as text that sorts as the sequence does."""
        return position_of(self.sequence)


class Message(Struct, frozen=True):
    """A message that was handed out. It comes again unless it is acknowledged before its time is over."""

    id: str
    receipt: str
    """Names this delivery; a later delivery of the same message has another."""
    body: str
    group: str
    sequence: int
    sent_at: float
    receives: int
    """How often it was handed out, this time included."""

    @property
    def position(self) -> str:
        """The sequence as text that sorts as the sequence does."""
        return position_of(self.sequence)


class DeadLetter(Struct, frozen=True):
    """A message that was handed out too often."""

    id: str
    body: str
    group: str
    sent_at: float


class QueueStats(Struct, frozen=True):
    """How a queue is doing; on SQS the numbers are approximate."""

    waiting: int
    """Messages that wait, behind others of their group too."""
    in_flight: int
    """Messages that were handed out, or postponed, and may come again."""
    dead: int
    oldest_seconds: float | None
    """Age of the oldest message that is not acknowledged; None without one, and on SQS, which does not say."""


# --- requests ---


class QueueRequest(Struct, Generic[R_co], frozen=True):
    """A request to a queue, whose response is an `R_co`."""


class Create(QueueRequest[None], frozen=True):
    """Make the queue and its dead-letter queue where they are missing; twice does nothing."""


class Send(QueueRequest[SentMessage], frozen=True):
    """Put a message at the end of its group.

    The same deduplication id of the same group within five minutes is not sent again: the first response is returned.
    """

    body: str
    group: str
    deduplication_id: str


class Receive(QueueRequest[tuple[Message, ...]], frozen=True):
    """Receive at most `limit` messages (SQS gives at most 10), each hidden from others for `visibility` seconds.

    With nothing to receive, wait up to `wait` seconds for something (SQS: at most 20).
    """

    limit: int = 10
    wait: float = 0.0
    visibility: float = 30.0


class Acknowledge(QueueRequest[tuple[str, ...]], frozen=True):
    """Messages are done and never come again. Returns the receipts that were too late to count."""

    receipts: tuple[str, ...]


class Postpone(QueueRequest[tuple[str, ...]], frozen=True):
    """Hand messages out again in so many seconds, 0 for at once; their groups wait meanwhile.

    Backs off after a failure, or keeps a message longer. Returns the receipts that were too late to count.
    """

    receipts: tuple[str, ...]
    seconds: float


class GetStats(QueueRequest[QueueStats], frozen=True):
    """How the queue is doing."""


class ReadDead(QueueRequest[tuple[DeadLetter, ...]], frozen=True):
    """The oldest dead letters, which stay where they are (SQS: of each group at most 10)."""

    limit: int = 100


class Redrive(QueueRequest[int], frozen=True):
    """Send dead letters once more, to the end of their groups: those with these ids, or all. Returns how many."""

    ids: tuple[str, ...] | None = None


class Discard(QueueRequest[int], frozen=True):
    """Throw dead letters away: those with these ids, or all. Returns how many."""

    ids: tuple[str, ...] | None = None


class Queue(Protocol):
    """Accepts messages and hands them out, in order within each group. Safe for any number of threads and event loops.

    Contract:
    - A message that was accepted is durable, and is handed out until it is acknowledged or is a dead letter:
      at least once, so whoever works on it must bear to see it again.
    - Within a group messages come in the order of their `sequence`. While some of a group are in flight, no others
      of it are handed out; one `Receive` may get several of a group, in order.
    - A receipt counts until its message was handed out again.
    - After `StoreUnavailable` it is unknown whether a `Send` happened: send again with the same deduplication id.
    """

    name: str

    def execute(self, request: QueueRequest[R]) -> R:
        """Execute the request; what it changed is durable when this returns.

        Raises:
            RequestError: the request was refused and changed nothing.
            StoreError: the queue itself is in trouble.
        """
        ...

    async def execute_async(self, request: QueueRequest[R]) -> R:
        """The same, without blocking the event loop."""
        ...

    def close(self) -> None:
        """Release files and connections. Closing twice does nothing."""
        ...


def position_of(sequence: int) -> str:
    """A sequence as text that sorts as the sequence does; SQS promises that 39 digits are enough."""
    return f"{sequence:039d}"
