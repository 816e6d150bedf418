"""A worker's life in its group: it joins, counts on, and is over when it could not do so in time.

began to write beat 7         another sees beat 7      … and still the same after `seconds`: dead
|-------------------- seconds --------------------|
^ the worker counts its own time from here, so it has stopped before anybody takes it for dead
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
    """As whom a worker shares a stream, and with whom."""

    leases: Session
    """Keeps the leases, in the table `PartitaLeases`, which must be there."""
    sink: str
    """What all who share a stream call where its changes go, such as the place of a lake."""
    name: str
    """What people call this worker."""
    policy: LeasePolicy = LeasePolicy()
    """How long a lease lasts; the same for all."""

    def stream(self, table: str) -> SharedStream:
        """The stream of a table, as it is shared for this sink."""
        return SharedStream(group=group_of(self.sink, table), of_table=table, sink=self.sink)


class Member:
    """One worker. Its life has an identifier; after its death it begins another."""

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
        """The identifier of its life; None where it has none, or has not said so in time."""
        life = self._life
        return life.worker if life is not None and self._clock() < self._valid_until else None

    def live(self) -> str:
        """Go on living, or begin to; gives the identifier."""
        with self._lock:
            began = self._clock()
            if self._life is None or began >= self._valid_until:
                self._session.run(name_stream(self._stream))
                fresh = Heartbeat(group=self._stream.group, worker=self._ids(), name=self._name)
                self._life = self._session.run(join(fresh))
                self._valid_until = began + self._seconds
            return self._life.worker

    def beat(self) -> None:
        """Say that it lives."""
        with self._lock:
            life, began = self._life, self._clock()
            if life is None or began >= self._valid_until:
                return  # too late: it begins another life when it is next asked
            news = {"beat": life.beat + 1, "lags": dict(self._lags())}
            try:
                self._life = self._session.run(renew(life.model_copy(update=news)))
                self._valid_until = began + self._seconds
            except ConditionFailed:
                self._life = None

    def leave(self) -> None:
        """End this life: all of its shards are free at once."""
        with self._lock:
            life, self._life = self._life, None
            if life is not None:
                try:
                    self._session.run(end(life))
                except ConditionFailed:
                    return  # others were faster


class Heart:
    """Says all the while, from a thread, that a worker lives: also during a long commit."""

    def __init__(self, member: Member, every: float) -> None:
        self._member = member
        self._every = every
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin."""
        self._stopped.clear()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _beat(self) -> None:
        while not self._stopped.wait(self._every):
            try:
                self._member.beat()
            except PartitaError as error:
                logger.warning("A heartbeat could not be written, and is tried again: %s", error)


class Watch:
    """What a worker has seen of the others: how long each has said the same. No clock but its own matters."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._seen: dict[str, tuple[int, float]] = {}

    def dead(self, workers: dict[str, Heartbeat], now: float) -> list[Heartbeat]:
        """Those who have said the same for too long."""
        before, self._seen = self._seen, {}
        for name, each in workers.items():
            beat, since = before.get(name, (-1, now))
            self._seen[name] = (each.beat, since if beat == each.beat else now)
        return [workers[name] for name, (_, since) in self._seen.items() if now - since >= self._seconds]
