"""What was consumed, by service and access pattern."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import ConditionFailed, PartitaError, Throttled, TransactionCancelled, TransactionConflict

_CONFLICTS: Final = (ConditionFailed, TransactionCancelled, TransactionConflict)


class Consumption(Struct, frozen=True):
    """One run of an operation: what it was, what it sent, and what that consumed."""

    name: str
    requests: tuple[str, ...]
    read: float
    write: float
    over_budget: bool = False
    """Whether that is more than the access pattern declares."""
    service: str = ""
    """Whose session ran it, where that was said."""


class Usage(Struct):
    """All runs of one access pattern added up; `most_read` and `most_write` are of single runs."""

    name: str
    service: str = ""
    runs: int = 0
    requests: int = 0
    read: float = 0.0
    write: float = 0.0
    most_read: float = 0.0
    most_write: float = 0.0
    over_budget: int = 0
    retries: int = 0
    throttles: int = 0
    """Requests that were refused for want of capacity, retried or not."""
    failures: int = 0
    conflicts: int = 0
    """Failures because a condition was false, or another writer was first."""

    def add(self, run: Consumption) -> None:
        """Count one run."""
        self.runs += 1
        self.requests += len(run.requests)
        if run.read:
            self.read += run.read
            self.most_read = max(self.most_read, run.read)
        if run.write:
            self.write += run.write
            self.most_write = max(self.most_write, run.write)
        if run.over_budget:
            self.over_budget += 1


class _Usages(dict[tuple[str, str], Usage]):
    """Usage by service and name, begun when they are met for the first time."""

    def __missing__(self, key: tuple[str, str]) -> Usage:
        service, name = key
        usage = self[key] = Usage(name, service)
        return usage


class Meter:
    """Counts every operation of one or several sessions. Safe for any number of threads."""

    def __init__(self) -> None:
        self._usage = _Usages()
        self._lock = threading.RLock()  # a signal handler may run an operation while this thread has it
        self._watchers: ContextVar[tuple[list[Consumption], ...]] = ContextVar("watchers", default=())

    def record(self, consumption: Consumption) -> None:
        """Count one run."""
        with self._lock:
            self._usage[consumption.service, consumption.name].add(consumption)
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

    def usage(self) -> tuple[Usage, ...]:
        """What each access pattern consumed so far, by service and name."""
        with self._lock:
            return tuple(replace(self._usage[key]) for key in sorted(self._usage))

    @contextmanager
    def watch(self) -> Iterator[list[Consumption]]:
        """Collect what is consumed inside the block, by this thread or task and what it starts."""
        seen: list[Consumption] = []
        token = self._watchers.set((*self._watchers.get(), seen))
        try:
            yield seen
        finally:
            self._watchers.reset(token)
