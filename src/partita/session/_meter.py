"""Consumption by service and access pattern."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextvars import ContextVar
from itertools import chain
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import ConditionFailed, PartitaError, Throttled, TransactionCancelled, TransactionConflict
from partita.model import Budget
from partita.operations import Operation, UnclaimedItems
from partita.runtime import Pause, warn
from partita.store import Capacity, Request

_CONFLICTS: Final = (ConditionFailed, TransactionCancelled, TransactionConflict)


class Consumption(Struct, frozen=True):
    """One run of an operation: its name, the requests it sent, and the capacity they consumed."""

    name: str
    requests: tuple[str, ...]
    read: float
    write: float
    over_budget: bool = False
    """Whether the consumption exceeds the budget that the access pattern declares."""
    service: str = ""
    """The service whose session ran it, if the session is of a service."""
    searched: float = 0.0
    """Bytes of vectors searched: the upper bound."""
    searched_least: float | None = None
    """The lower bound of the bytes searched, if it differs from the upper bound."""

    @property
    def consumed(self) -> Budget:
        """The consumption as a budget, to compare with the declared one."""
        return Budget(self.read, self.write, self.searched, self.searched_least)


class Usage(Struct):
    """The sum of all runs of one access pattern; `max_read` and `max_write` are of single runs."""

    name: str
    service: str = ""
    runs: int = 0
    requests: int = 0
    read: float = 0.0
    write: float = 0.0
    max_read: float = 0.0
    max_write: float = 0.0
    over_budget: int = 0
    retries: int = 0
    throttles: int = 0
    """Requests that were refused for lack of capacity, whether or not they were retried."""
    failures: int = 0
    conflicts: int = 0
    """Failures because a condition was false or another writer was first."""
    unclaimed: int = 0
    """Items read that belong to no declared entity."""

    def add(self, run: Consumption) -> None:
        """Count one run."""
        self.runs += 1
        self.requests += len(run.requests)
        if run.read:
            self.read += run.read
            if run.read > self.max_read:  # noqa: PLR1730 - every operation pays for a call to max()
                self.max_read = run.read
        if run.write:
            self.write += run.write
            if run.write > self.max_write:  # noqa: PLR1730 - every operation pays for a call to max()
                self.max_write = run.write
        if run.over_budget:
            self.over_budget += 1

    def plus(self, other: Usage) -> Usage:
        """The sum of both, such as of the runs of one pattern in two processes."""
        return replace(
            self,
            **{name: getattr(self, name) + getattr(other, name) for name in _SUMS},
            max_read=max(self.max_read, other.max_read),
            max_write=max(self.max_write, other.max_write),
        )

    def minus(self, earlier: Usage) -> Usage:
        """The difference to an earlier usage; the maximum of single runs is kept as it is."""
        return replace(self, **{name: getattr(self, name) - getattr(earlier, name) for name in _SUMS})


_SUMS: Final = tuple(
    field for field in Usage.__struct_fields__ if field not in ("name", "service", "max_read", "max_write")
)


def usage_sum(*usages: Iterable[Usage]) -> tuple[Usage, ...]:
    """The consumption of several processes, summed by service and name."""
    found: dict[tuple[str, str], Usage] = {}
    for usage in chain(*usages):
        key = usage.service, usage.name
        found[key] = found[key].plus(usage) if key in found else usage
    return tuple(found[key] for key in sorted(found))


def usage_since(earlier: Iterable[Usage], usages: Iterable[Usage]) -> tuple[Usage, ...]:
    """The consumption since earlier figures, without patterns that have not run since."""
    before = {(usage.service, usage.name): usage for usage in earlier}
    grown = (usage.minus(before[key]) if (key := (usage.service, usage.name)) in before else usage for usage in usages)
    return tuple(usage for usage in grown if any(getattr(usage, name) for name in _SUMS))


class _Usages(dict[tuple[str, str], Usage]):
    """Usage by service and name, created on first access."""

    def __missing__(self, key: tuple[str, str]) -> Usage:
        service, name = key
        usage = self[key] = Usage(name, service)
        return usage


class Watch:
    """A block whose runs are collected in a list. Every request has one, and a generator would cost more."""

    __slots__ = ("_token", "_watchers")

    def __init__(self, watchers: ContextVar[tuple[list[Consumption], ...]]) -> None:
        self._watchers = watchers

    def __enter__(self) -> list[Consumption]:
        seen: list[Consumption] = []
        self._token = self._watchers.set((*self._watchers.get(), seen))
        return seen

    def __exit__(self, *_: object) -> None:
        self._watchers.reset(self._token)


class Meter:
    """Counts every operation of one or several sessions. Safe for any number of threads."""

    def __init__(self) -> None:
        self._usage = _Usages()
        self._lock = threading.RLock()  # a signal handler may run an operation while this thread holds it
        self._watchers: ContextVar[tuple[list[Consumption], ...]] = ContextVar("watchers", default=())

    def record(self, consumption: Consumption) -> None:
        """Count one run, and log the first run of a pattern that exceeds its budget."""
        over = consumption.over_budget
        with self._lock:
            usage = self._usage[consumption.service, consumption.name]
            usage.add(consumption)
            is_first_over = over and usage.over_budget == 1
        if is_first_over:
            warn(
                "partita",
                "%s consumed %s, which is more than its budget; more such runs are only counted",
                f"{consumption.service}.{consumption.name}" if consumption.service else consumption.name,
                consumption.consumed,
            )
        for watcher in self._watchers.get():
            watcher.append(consumption)

    def record_retry(self, service: str, name: str, error: PartitaError) -> None:
        """Count one repeated request."""
        with self._lock:
            usage = self._usage[service, name]
            usage.retries += 1
            usage.throttles += isinstance(error, Throttled)

    def record_failure(self, service: str, name: str, error: PartitaError) -> None:
        """Count one run that ended in an error."""
        with self._lock:
            usage = self._usage[service, name]
            usage.failures += 1
            usage.throttles += isinstance(error, Throttled)
            usage.conflicts += isinstance(error, _CONFLICTS)

    def record_unclaimed(self, service: str, name: str, found: UnclaimedItems) -> None:
        """Count items of no declared entity, and log the first that a pattern finds."""
        with self._lock:
            usage = self._usage[service, name]
            is_first = usage.unclaimed == 0
            usage.unclaimed += found.count
        if is_first:
            warn(
                "partita",
                "%s found an item in %s that no declared entity claims, at %s; more are only counted",
                name,
                found.table,
                found.example,
            )

    def usage(self) -> tuple[Usage, ...]:
        """The consumption of each access pattern so far, sorted by service and name."""
        with self._lock:
            return tuple(replace(self._usage[key]) for key in sorted(self._usage))

    def watch(self) -> Watch:
        """Collect what this thread or task, and those it starts, consume inside the block."""
        return Watch(self._watchers)


class MeteredRun(Struct):
    """A run of an operation in progress: what it has sent and consumed so far."""

    meter: Meter
    service: str
    operation: Operation[Any]
    requests: list[str] = []
    read: float = 0.0
    write: float = 0.0
    searched: float = 0.0
    searched_least: float = 0.0

    def count(self, request: Request[Any] | Pause, response: Any) -> None:
        """Add one request that the store responded to; a pause has no response."""
        if response is None:
            return
        self.requests.append(type(request).__name__)
        capacity = response.capacity
        # This avoids the properties of Capacity, which cost several calls, because every operation runs this code.
        for part in (capacity,) if type(capacity) is Capacity else capacity:
            self.read += part.read
            self.write += part.write
            for _, read, write in part.indexes:
                self.read += read
                self.write += write
            if part.vectors:
                self.searched += part.searched
                self.searched_least += part.searched if part.searched_least is None else part.searched_least

    def count_retry(self, error: PartitaError) -> None:
        """Count one repeated request."""
        self.meter.record_retry(self.service, self.operation.name, error)

    def count_unclaimed(self, found: UnclaimedItems) -> None:
        """Count items of no declared entity."""
        self.meter.record_unclaimed(self.service, self.operation.name, found)

    def end(self) -> bool:
        """Record the run, and return whether it consumed more than the budget of its operation."""
        name, budget = self.operation.name_and_budget()
        read, write = self.read, self.write
        over = budget is not None and not budget.covers(read, write, self.searched)
        least = None if self.searched_least == self.searched else self.searched_least
        sent = tuple(self.requests)
        self.meter.record(Consumption(name, sent, read, write, over, self.service, self.searched, least))
        return over

    def fail(self, error: PartitaError) -> None:
        """Record a run that ended in an error."""
        self.end()
        self.meter.record_failure(self.service, self.operation.name, error)
