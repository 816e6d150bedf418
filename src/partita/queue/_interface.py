"""The interface that every queue implements, with its requests and responses."""

from __future__ import annotations

from typing import Final, Generic, Protocol, TypeVar

from msgspec import Struct

from partita.errors import OperationError

R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")

DEDUPLICATION_SECONDS: Final = 300.0
"""How long a deduplication id is remembered, even after its message is acknowledged."""
MAX_BODY_BYTES: Final = 256 * 1024
"""The largest body of a message."""
MAX_HIDDEN_SECONDS: Final = 12 * 60 * 60.0
"""The longest time for which a message can be hidden or postponed."""

MAX_RECEIVES: Final = 1000
"""The most deliveries that SQS allows before a message becomes a dead letter."""


class QueuePolicy(Struct, frozen=True):
    """How a queue treats its messages."""

    max_receives: int = 5
    """A message that was delivered this many times and never acknowledged becomes a dead letter: 1 to 1,000."""

    def __post_init__(self) -> None:
        if type(self.max_receives) is not int or not 1 <= self.max_receives <= MAX_RECEIVES:
            message = f"max_receives must be an int from 1 to {MAX_RECEIVES:,}, not {self.max_receives!r:.60}."
            raise OperationError(message, hint="Pass the number of attempts that a message gets: max_receives=5.")


# --- responses ---


class SentMessage(Struct, frozen=True):
    """A message that the queue has accepted and stored durably."""

    id: str
    sequence: int
    """The position in the queue: later messages of a group have a higher sequence, whichever node sent them."""
    at: float
    """When it was sent, in seconds since the epoch."""

    @property
    def position(self) -> str:
        """The sequence as a string whose order is that of the sequence."""
        return position_of(self.sequence)


class Message(Struct, frozen=True):
    """A delivered message. It is delivered again unless it is acknowledged before its visibility timeout ends."""

    id: str
    receipt: str
    """Identifies this delivery; a later delivery of the same message has another receipt."""
    body: str
    group: str
    sequence: int
    sent_at: float
    receives: int
    """How often it was delivered, including this delivery."""

    @property
    def position(self) -> str:
        """The sequence as a string whose order is that of the sequence."""
        return position_of(self.sequence)


class DeadLetter(Struct, frozen=True):
    """A message that was delivered too often."""

    id: str
    body: str
    group: str
    sent_at: float


class QueueStats(Struct, frozen=True):
    """The state of a queue; on SQS the numbers are approximate."""

    waiting: int
    """Messages that wait, including those behind others of their group."""
    in_flight: int
    """Messages that were delivered or postponed, and may be delivered again."""
    dead: int
    oldest_seconds: float | None
    """Age of the oldest unacknowledged message; None if there is none, and on SQS, which does not report it."""


# --- requests ---


class QueueRequest(Struct, Generic[R_co], frozen=True):
    """A request to a queue, whose response is an `R_co`."""


class Create(QueueRequest[None], frozen=True):
    """Create the queue and its dead-letter queue if they do not exist."""


class Send(QueueRequest[SentMessage], frozen=True):
    """Put a message at the end of its group.

    A second send with the same group and deduplication id within five minutes only returns the first response.
    """

    body: str
    group: str
    deduplication_id: str


class Receive(QueueRequest[tuple[Message, ...]], frozen=True):
    """Receive at most `limit` messages (SQS: at most 10), each hidden from other receivers for `visibility` seconds.

    If there is no message, wait up to `wait` seconds for one (SQS: at most 20).
    """

    limit: int = 10
    wait: float = 0.0
    visibility: float = 30.0


class Acknowledge(QueueRequest[tuple[str, ...]], frozen=True):
    """Acknowledge messages, which are then never delivered again. Returns the receipts that were too late."""

    receipts: tuple[str, ...]


class Postpone(QueueRequest[tuple[str, ...]], frozen=True):
    """Deliver messages again after `seconds`, or immediately for 0; their groups wait meanwhile.

    Use it to back off after a failure, or to keep a message longer. Returns the receipts that were too late.
    """

    receipts: tuple[str, ...]
    seconds: float


class GetStats(QueueRequest[QueueStats], frozen=True):
    """Return the state of the queue."""


class ReadDead(QueueRequest[tuple[DeadLetter, ...]], frozen=True):
    """Read the oldest dead letters without removing them (SQS: at most 10 per group)."""

    limit: int = 100


class Redrive(QueueRequest[int], frozen=True):
    """Send dead letters again, to the end of their groups: those with these ids, or all. Returns their number."""

    ids: tuple[str, ...] | None = None


class Discard(QueueRequest[int], frozen=True):
    """Delete dead letters: those with these ids, or all. Returns their number."""

    ids: tuple[str, ...] | None = None


class Queue(Protocol):
    """Accepts and delivers messages, in order within each group. Safe for any number of threads and event loops.

    Contract:
    - An accepted message is durable, and is delivered until it is acknowledged or becomes a dead letter. Delivery is
      at least once, so consumers must tolerate repeated messages.
    - Within a group, messages are delivered in the order of their `sequence`. While messages of a group are in flight,
      no others of this group are delivered; one `Receive` may return several messages of a group, in order.
    - A receipt is valid until its message is delivered again.
    - After `StoreUnavailable` it is unknown whether a `Send` happened: send again with the same deduplication id.
    """

    name: str

    def execute(self, request: QueueRequest[R]) -> R:
        """Execute the request; its changes are durable when this returns.

        Raises:
            RequestError: the request was refused and changed nothing.
            StoreError: the queue itself failed.
        """
        ...

    async def execute_async(self, request: QueueRequest[R]) -> R:
        """Execute the request without blocking the event loop."""
        ...

    def close(self) -> None:
        """Release files and connections. Closing twice does nothing."""
        ...


def position_of(sequence: int) -> str:
    """A sequence as a string with the same order; SQS promises that 39 digits are enough."""
    return f"{sequence:039d}"
