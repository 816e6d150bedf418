"""What clients did and were told: transactions of appends and reads, each with the interval that it took."""

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
    """What the client knows of its transaction."""

    OK = "ok"
    FAILED = "failed"
    """It was refused, and changed nothing."""
    UNKNOWN = "unknown"
    """No response came: it may have happened, or happen later, or never."""


class Transaction(Struct, frozen=True):
    """Appends and reads that a client asked for at once. A single write or read is a transaction of one."""

    number: int
    process: str
    invoked: int
    returned: int | None
    """Ticks of one counter for all clients; None where no response came."""
    status: Status
    appends: Mapping[str, List] = {}
    """What was appended to which list; every number is appended once in a history."""
    reads: Mapping[str, List] = {}
    """Which lists were seen; empty where there is no such item."""
    is_current: bool = True
    """Whether its reads must see every write that had returned before; an eventually consistent read need not."""

    def __str__(self) -> str:
        said = [f"append {key} {list(value)}" for key, value in self.appends.items()]
        said += [f"read {key} {list(value)}" for key, value in self.reads.items()]
        return f"T{self.number} of {self.process} ({self.status.value}): {', '.join(said)}"


History: TypeAlias = list[Transaction]


class Pending:
    """A transaction that is under way."""

    def __init__(self, number: int, process: str, invoked: int, appends: Mapping[str, List]) -> None:
        self.number = number
        self.process = process
        self.invoked = invoked
        self.appends = appends
        self.status = Status.UNKNOWN
        self.reads: Mapping[str, List] = {}

    def ok(self, reads: Mapping[str, List] | None = None) -> None:
        """It has happened, and read this."""
        self.status, self.reads = Status.OK, reads or {}

    def failed(self) -> None:
        """It has not happened."""
        self.status = Status.FAILED


class Recorder:
    """Notes what clients do. Safe for threads; processes write lines, which are read together afterwards."""

    def __init__(
        self, tick: Callable[[], int] | None = None, noted: Callable[[Transaction], object] | None = None
    ) -> None:
        """Begin an empty history.

        Args:
            tick: the time, as a number that never falls; by default a counter.
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
        """Note what the block asks for; it says what came of it. A block that does not say leaves it unknown."""
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
    """A transaction as one line, for a file that several processes write to."""
    return _LINES.encode(transaction) + b"\n"


def history_of(lines: bytes) -> History:
    """The history that several processes have written, numbered by when each transaction began.

    A line without an end is of a process that was killed while it wrote; its beginning was written before.
    """
    found = [
        msgspec.json.decode(line, type=Transaction) for line in lines.splitlines(keepends=True) if line[-1:] == b"\n"
    ]
    latest = {(each.process, each.number): each for each in found}  # the line of the end replaces that of the beginning
    ordered = sorted(latest.values(), key=lambda each: each.invoked)
    return [msgspec.structs.replace(each, number=number) for number, each in enumerate(ordered)]
