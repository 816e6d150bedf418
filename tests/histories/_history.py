"""Histories of clients: transactions of appends and reads, each with its result and its interval of time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

List: TypeAlias = tuple[int, ...]


class Status(Enum):
    """What the client knows about its transaction."""

    OK = "ok"
    FAILED = "failed"
    """The transaction was refused, and changed nothing."""
    UNKNOWN = "unknown"
    """No response arrived: the transaction may have happened, may happen later, or never."""


class Transaction(Struct, frozen=True):
    """Appends and reads that a client requested together. A single write or read is a transaction, too."""

    number: int
    process: str
    invoked: int
    returned: int | None
    """As `invoked`, a tick of one counter for all clients; None if no response arrived."""
    status: Status
    appends: Mapping[str, List] = {}
    """The numbers appended to each list; every number is unique in a history."""
    reads: Mapping[str, List] = {}
    """The content of each list that was read; empty if the item does not exist."""
    is_current: bool = True
    """Whether the reads must see every write that had returned before; eventually consistent reads need not."""

    def __str__(self) -> str:
        said = [f"append {key} {list(value)}" for key, value in self.appends.items()]
        said += [f"read {key} {list(value)}" for key, value in self.reads.items()]
        return f"T{self.number} of {self.process} ({self.status.value}): {', '.join(said)}"


History: TypeAlias = list[Transaction]


class Pending:
    """A transaction in progress."""

    def __init__(self, number: int, process: str, invoked: int, appends: Mapping[str, List]) -> None:
        self.number = number
        self.process = process
        self.invoked = invoked
        self.appends = appends
        self.status = Status.UNKNOWN
        self.reads: Mapping[str, List] = {}

    def ok(self, reads: Mapping[str, List] | None = None) -> None:
        """Set the outcome: the transaction was executed, and read this."""
        self.status, self.reads = Status.OK, reads or {}

    def failed(self) -> None:
        """Set the outcome: the transaction was refused."""
        self.status = Status.FAILED


class Recorder:
    """Records the transactions of clients. It is thread-safe; processes write lines to a file that is parsed later."""

    def __init__(
        self, tick: Callable[[], int] | None = None, noted: Callable[[Transaction], object] | None = None
    ) -> None:
        """Start an empty history.

        Args:
            tick: returns the time, as a number that never decreases; by default a counter.
            noted: called with each transaction when it begins, and again when it ends.
        """
        self.history: History = []
        self._noted = noted or (lambda _: None)
        self._ticks = 0
        self._lock = threading.Lock()
        self._tick = tick or self._count

    def _count(self) -> int:
        self._ticks += 1
        return self._ticks

    @contextmanager
    def transaction(
        self, process: str, appends: Mapping[str, List] | None = None, *, is_current: bool = True
    ) -> Iterator[Pending]:
        """Record a transaction. The block sets the outcome; without one, the outcome is unknown."""
        with self._lock:
            pending = Pending(len(self.history), process, self._tick(), appends or {})
            self.history.append(_noted(pending, None, is_current=is_current))
            self._noted(self.history[-1])
        try:
            yield pending
        finally:
            with self._lock:
                returned = None if pending.status is Status.UNKNOWN else self._tick()
                self.history[pending.number] = _noted(pending, returned, is_current=is_current)
                self._noted(self.history[pending.number])


def _noted(pending: Pending, returned: int | None, *, is_current: bool) -> Transaction:
    return Transaction(
        pending.number,
        pending.process,
        pending.invoked,
        returned,
        pending.status,
        pending.appends,
        pending.reads,
        is_current,
    )


_LINES: Final = msgspec.json.Encoder()


def line_of(transaction: Transaction) -> bytes:
    """Return a transaction as one line, for a file that several processes write to."""
    return _LINES.encode(transaction) + b"\n"


def history_of(lines: bytes) -> History:
    """Parse the history that several processes wrote, numbered in the order in which transactions began.

    A line without a line end is ignored, because its process was killed while it wrote the line. The beginning of a
    transaction is written before its request is sent.
    """
    found = [
        msgspec.json.decode(line, type=Transaction) for line in lines.splitlines(keepends=True) if line[-1:] == b"\n"
    ]
    latest = {(each.process, each.number): each for each in found}  # the line of the end replaces that of the beginning
    ordered = sorted(latest.values(), key=lambda each: each.invoked)
    return [msgspec.structs.replace(each, number=number) for number, each in enumerate(ordered)]
