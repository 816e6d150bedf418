"""Callers with a fixed rate: each call is due at a certain instant, whether or not the calls before it have ended."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable

from tests.cli.processes.servers import Client
from tests.faults._load import OWNER
from tests.soak._calls import Call, Calls


class Pace:
    """Instants at equal distances, `rate` in a second from the start; each is returned once."""

    def __init__(self, rate: float, now: float) -> None:
        self._rate, self._start = rate, now
        self._numbers = itertools.count()

    def next(self) -> float:
        """Return the instant at which the next call is due; it may be in the past, if all callers were busy then."""
        return self._start + next(self._numbers) / self._rate


class Callers:
    """Threads that make calls at a fixed rate, and the latency of each call from the instant at which it was due.

    The rate does not depend on the responses (open load): if a call starts late because earlier ones were slow, the
    delay is part of its latency. Callers that make one call after another as fast as they can would measure the speed
    of the machine, and leave out the time that calls would have waited.
    """

    def __init__(self, calls: Calls, count: int, rate: float) -> None:
        self.over = threading.Event()
        self.failed: list[str] = []
        self._calls = calls
        self._pace = Pace(rate, time.perf_counter())
        self._latencies: list[float] = []
        self.threads = [threading.Thread(target=self._call) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def _call(self) -> None:
        with self._calls.connect(OWNER) as client:
            while not self.over.is_set():
                due, call = self._pace.next(), self._calls.next()
                if self.over.wait(max(0.0, due - time.perf_counter())):
                    return
                self._latencies.append(timed(call, client, due, time.perf_counter, self.failed))

    def latencies(self) -> list[float]:
        """Return the latencies since the last call of this method."""
        taken, self._latencies = self._latencies, []
        return taken

    def stop(self) -> None:
        """Stop all callers, after the calls in progress."""
        self.over.set()
        for thread in self.threads:
            thread.join()


def timed(call: Call, client: Client, due: float, clock: Callable[[], float], failed: list[str]) -> float:
    """Make a call, and return the time from the instant at which it was due until its end."""
    try:
        call(client)
    except Exception as error:  # noqa: BLE001 - any error is a failed call, and the caller continues
        failed.append(f"{type(error).__name__}: {error}")
    return clock() - due
