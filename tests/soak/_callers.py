"""Callers that keep a pace: each call has an instant at which it is due, whether or not those before it have ended."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable

from tests.cli.processes.servers import Client
from tests.faults._load import OWNER
from tests.soak._calls import Call, Calls


class Pace:
    """Instants at the same distance, each given away once: so many a second, from when it began."""

    def __init__(self, rate: float, now: float) -> None:
        self._rate, self._start = rate, now
        self._numbers = itertools.count()

    def next(self) -> float:
        """The instant at which the next call is due; it may be past, if all callers were busy then."""
        return self._start + next(self._numbers) / self._rate


class Callers:
    """Threads that call at a pace, and how long each call took from the instant at which it was due.

    Who is called waits for nobody: a call that begins late, because the ones before it were slow, took that time too.
    Callers who call one after the other as fast as they can would measure how fast the machine is, and leave out what
    would have waited.
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
        """Those since the last time."""
        taken, self._latencies = self._latencies, []
        return taken

    def stop(self) -> None:
        """End all callers, after the calls that are under way."""
        self.over.set()
        for thread in self.threads:
            thread.join()


def timed(call: Call, client: Client, due: float, clock: Callable[[], float], failed: list[str]) -> float:
    """Make a call, and say how long after the instant at which it was due it ended."""
    try:
        call(client)
    except Exception as error:  # noqa: BLE001 - whatever it is, a caller met it, and the others go on
        failed.append(f"{type(error).__name__}: {error}")
    return clock() - due
