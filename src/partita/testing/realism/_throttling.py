"""Throttling: the units that a table and a partition may consume per second."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from partita.errors import Throttled
from partita.runtime import Clock
from partita.store import Capacity
from partita.testing.realism._settings import UnitLimits

_TABLE = (
    "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning "
    "level with the UpdateTable API."
)
_PARTITION = (
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or "
    "index so please try again shortly. If exceptions persist, check if you have a hot key."
)


class Bucket:
    """A token bucket, refilled every second up to the units of one second; consumption may leave it in debt."""

    __slots__ = ("_at", "_left", "limit")

    def __init__(self, limit: float, now: float) -> None:
        self.limit = limit
        self._left = limit
        self._at = now

    def is_empty(self, now: float) -> bool:
        """Whether no units are left."""
        self._left = min(self.limit, self._left + (now - self._at) * self.limit)
        self._at = now
        return self._left <= 0

    def take(self, units: float) -> None:
        """Take units out."""
        self._left -= units


class Throttle:
    """The buckets of all tables, or of all partitions."""

    def __init__(self, limits: UnitLimits, clock: Clock, *, partitions: bool) -> None:
        self._limits = limits
        self._clock = clock
        self._message = _PARTITION if partitions else _TABLE
        self._reason = "KeyRangeThroughputExceeded" if partitions else "ProvisionedThroughputExceeded"
        self._buckets: dict[tuple[object, str], Bucket] = {}
        self._lock = threading.Lock()

    def refuse(self, names: Iterable[object], kind: str) -> None:
        """Refuse to read or write a table or partition that has consumed its units.

        Raises:
            Throttled: one of them has no units left.
        """
        with self._lock:
            now = self._clock()
            for name in names:
                if self._bucket(name, kind).is_empty(now):
                    raise Throttled(self._message, reasons=[f"{_word(kind)}{self._reason}"])

    def is_empty(self, name: object, kind: str) -> bool:
        """Whether a table or partition has consumed its units."""
        with self._lock:
            return self._bucket(name, kind).is_empty(self._clock())

    def consumed(self, name: object, capacity: Capacity, share: float = 1.0) -> None:
        """Record the consumption of a table or partition, or a share of it."""
        with self._lock:
            for kind, units in (("read", capacity.total_read), ("write", capacity.total_write)):
                if units:
                    self._bucket(name, kind).take(units * share)

    def _bucket(self, name: object, kind: str) -> Bucket:
        known = self._buckets.get((name, kind))
        if known is None:
            limit = self._limits.read if kind == "read" else self._limits.write
            known = self._buckets[name, kind] = Bucket(limit, self._clock())
        return known


def _word(kind: str) -> str:
    return "TableRead" if kind == "read" else "TableWrite"
