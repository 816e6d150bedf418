"""Reading change streams in the background while a command runs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final, Protocol, TypeAlias, TypeVar

from partita._sqlite import CommitNotice
from partita.change import Consumer, Lag, SqliteProjection
from partita.cli._data_folder import EMBEDDED, DataFolder
from partita.errors import PartitaError, RebuildRequired, StoreDamaged
from partita.service import OpenProjection, Service
from partita.store import Store

logger: Final = logging.getLogger("partita.change")

POLL_SECONDS: Final = 0.1
"""Interval of reads of a stream that is written to continuously."""
IDLE_SECONDS: Final = 10.0
"""Interval of reads of a stream for which no write was noticed."""
REMOTE_POLL_SECONDS: Final = 1.0
"""Interval for DynamoDB Streams, where a shard can be read five times a second."""
RETRY_SECONDS: Final = 5.0

P = TypeVar("P", bound=SqliteProjection)


class Follower(Protocol):
    """A reader of a change stream: a consumer, alone or one of several."""

    def run(self, stop: threading.Event, idle: Callable[[], object]) -> None:
        """Read until `stop` is set."""
        ...

    def rebuild(self) -> int:
        """Recover from missed changes; return the number of loaded items."""
        ...


Troubles: TypeAlias = dict[str, str]
"""The names of the readers that currently fail, each with the code of its last error."""


@contextmanager
def reading_projections(
    services: Sequence[Service], store: Store, data: DataFolder
) -> Iterator[dict[str, OpenProjection]]:
    """Open the projections of the services, which another process keeps up to date."""
    with ExitStack() as opened:
        yield {
            service.name: OpenProjection(sink, _RunElsewhere(store, service.projection.table, sink))
            for service in services
            if service.projection is not None
            for sink in [opened.enter_context(closing(service.projection.open(_path_of(service, data))))]
        }


class _RunElsewhere(Consumer):
    """A consumer that another process runs, so that the position of its sink must be read each time."""

    def lag(self) -> Lag:
        self.forget()
        return super().lag()


def _path_of(service: Service, data: DataFolder) -> Path:
    return data.path / f"{data.prefix}{service.name}-projection.db"


@contextmanager
def projecting(
    services: Sequence[Service], store: Store, data: DataFolder, troubles: Troubles | None = None
) -> Iterator[dict[str, OpenProjection]]:
    """Keep the projections of the services up to date while the block runs, in files of the data folder."""
    with ExitStack() as opened:
        projections: dict[str, OpenProjection] = {}
        for service in services:
            if service.projection is not None:
                sink = opened.enter_context(closing(_open_or_rebuild(service.projection.open, _path_of(service, data))))
                projections[service.name] = OpenProjection(sink, Consumer(store, service.projection.table, sink))
        consumers = {f"projection of {name}": part.consumer for name, part in projections.items()}
        if data.store == EMBEDDED:
            opened.enter_context(following(consumers, troubles, file=data.database))
        else:
            opened.enter_context(following(consumers, troubles, poll_seconds=REMOTE_POLL_SECONDS))
        yield projections


def build_projections(services: Sequence[Service], store: Store, data: DataFolder) -> None:
    """Bring the projections of the services up to date, once."""
    for service in services:
        if service.projection is not None:
            with closing(_open_or_rebuild(service.projection.open, _path_of(service, data))) as sink:
                Consumer(store, service.projection.table, sink).catch_up()


def _open_or_rebuild(open_at: Callable[[Path], P], path: Path) -> P:
    """Open a projection. A damaged one is deleted, and rebuilt from its table."""
    try:
        return open_at(path)
    except StoreDamaged as error:
        logger.warning("A projection is damaged and will be rebuilt: %s", error.message)
        for part in ("", "-wal", "-shm", "-journal"):
            Path(f"{path}{part}").unlink(missing_ok=True)
        return open_at(path)


class Pace:
    """When to read a stream again: after each commit to a file, at most once per interval, or once per interval."""

    def __init__(
        self, seconds: float, notice: CommitNotice | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.is_over = threading.Event()
        self._seconds = seconds
        self._notice = notice
        self._clock = clock
        self._read_at = 0.0

    def wait(self) -> None:
        """Wait until it is time to read again, or to stop."""
        if self._notice is None:
            self.is_over.wait(self._seconds)
            return
        self._notice.wait(IDLE_SECONDS)
        self.is_over.wait(max(0.0, self._read_at + self._seconds - self._clock()))
        self._read_at = self._clock()

    def stop(self) -> None:
        """End the current wait, and all later ones."""
        self.is_over.set()
        if self._notice is not None:
            self._notice.wake()


@contextmanager
def following(
    consumers: Mapping[str, Follower],
    troubles: Troubles | None = None,
    *,
    poll_seconds: float = POLL_SECONDS,
    file: Path | None = None,
) -> Iterator[None]:
    """Run consumers, each in a thread, until the block ends; their current batches are finished.

    `troubles` always has the names of the consumers that currently fail. If everything that they read is in one `file`,
    they read after each commit to it.
    """
    seen: Troubles = {} if troubles is None else troubles
    paces = [Pace(poll_seconds, None if file is None else CommitNotice(file)) for _ in consumers]
    threads = [
        threading.Thread(target=_follow, args=(name, consumer, pace, seen))
        for pace, (name, consumer) in zip(paces, consumers.items(), strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for pace in paces:
            pace.stop()
        for thread in threads:
            thread.join()


def _follow(name: str, consumer: Follower, pace: Pace, troubles: Troubles) -> None:
    """Run a consumer until it has to stop, and retry after errors: it continues at the position of its sink."""

    def idle() -> None:
        troubles.pop(name, None)
        pace.wait()

    while not pace.is_over.is_set():
        try:
            _run_or_rebuild(consumer, pace.is_over, idle)
        except Exception as error:  # sinks fail for many reasons that pass, such as a full disk
            code = error.code if isinstance(error, PartitaError) else type(error).__name__
            if troubles.get(name) != code:  # an outage is logged once, however long it lasts
                logger.exception("The %s cannot follow its change stream and will be retried.", name)
            troubles[name] = code
            pace.is_over.wait(RETRY_SECONDS)


def _run_or_rebuild(consumer: Follower, stop: threading.Event, idle: Callable[[], object]) -> None:
    try:
        consumer.run(stop, idle)
    except RebuildRequired:
        consumer.rebuild()
