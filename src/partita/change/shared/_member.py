"""Membership of a worker in its group: it joins, increments its heartbeat, and ends if it could not do so in time.

began to write beat 7         another sees beat 7      … and still the same after `seconds`: dead
|-------------------- seconds --------------------|
^ the worker counts its own time from here, so it has stopped before any other considers it dead
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from partita.change.shared._model import Heartbeat, SharedStream, end, join, name_stream, renew
from partita.change.shared._policy import LeasePolicy, group_of
from partita.errors import ConditionFailed, PartitaError
from partita.session import Session

logger: Final = logging.getLogger("partita.change")


class Membership(Struct, frozen=True):
    """The name of a worker, and the leases and the sink that it shares with other workers."""

    leases: Session
    """Stores the leases, in the table `PartitaLeases`, which must exist."""
    sink: str
    """The name of the sink, the same for all workers that share it, such as the location of a lake."""
    name: str
    """The displayed name of this worker."""
    policy: LeasePolicy = LeasePolicy()
    """How long a lease lasts; the same for all workers."""

    def stream(self, table: str) -> SharedStream:
        """Return the stream of a table as it is shared for this sink."""
        return SharedStream(group=group_of(self.sink, table), of_table=table, sink=self.sink)


class Member:
    """One worker. Each of its lives has an identifier; a worker that was considered dead begins another life."""

    def __init__(
        self,
        membership: Membership,
        stream: SharedStream,
        clock: Callable[[], float],
        ids: Callable[[], str],
        lags: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        self._session = membership.leases
        self._stream = stream
        self._lags = lags
        self._name = membership.name
        self._seconds = membership.policy.seconds
        self._clock = clock
        self._ids = ids
        self._lock = threading.Lock()
        self._life: Heartbeat | None = None
        self._valid_until = 0.0

    @property
    def worker(self) -> str | None:
        """The identifier of its current life; None if it has none, or if its heartbeat was late."""
        life = self._life
        return life.worker if life is not None and self._clock() < self._valid_until else None

    def live(self) -> str:
        """Continue the current life or begin one; return its identifier."""
        with self._lock:
            began = self._clock()
            if self._life is None or began >= self._valid_until:
                self._session.run(name_stream(self._stream))
                fresh = Heartbeat(group=self._stream.group, worker=self._ids(), name=self._name)
                self._life = self._session.run(join(fresh))
                self._valid_until = began + self._seconds
            return self._life.worker

    def beat(self) -> None:
        """Write a heartbeat."""
        with self._lock:
            life, began = self._life, self._clock()
            if life is None or began >= self._valid_until:
                return  # too late: the next call of `live` begins another life
            news = {"beat": life.beat + 1, "lags": dict(self._lags())}
            try:
                self._life = self._session.run(renew(life.model_copy(update=news)))
                self._valid_until = began + self._seconds
            except ConditionFailed:
                self._life = None

    def leave(self) -> None:
        """End the current life, so that all of its shards are free at once."""
        with self._lock:
            life, self._life = self._life, None
            if life is not None:
                try:
                    self._session.run(end(life))
                except ConditionFailed:
                    return  # another worker has already ended it


class Heart:
    """Writes a worker's heartbeats from a thread, so that they continue during a long commit."""

    def __init__(self, member: Member, every: float) -> None:
        self._member = member
        self._every = every
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._stopped.clear()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, and wait for its end."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _beat(self) -> None:
        while not self._stopped.wait(self._every):
            try:
                self._member.beat()
            except PartitaError as error:
                logger.warning("A heartbeat could not be written, and will be tried again: %s", error)


class Watch:
    """Measures, with this worker's own clock alone, for how long each heartbeat of the others has not changed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._seen: dict[str, tuple[int, float]] = {}

    def dead(self, workers: dict[str, Heartbeat], now: float) -> list[Heartbeat]:
        """Return the workers whose heartbeats have not changed for too long."""
        before, self._seen = self._seen, {}
        for name, each in workers.items():
            beat, since = before.get(name, (-1, now))
            self._seen[name] = (each.beat, since if beat == each.beat else now)
        return [workers[name] for name, (_, since) in self._seen.items() if now - since >= self._seconds]
