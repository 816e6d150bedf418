"""Reading change streams in the background, as long as a command runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Final

from partita.change import Consumer
from partita.cli._data_folder import EMBEDDED, DataFolder
from partita.errors import PartitaError, RebuildRequired
from partita.service import OpenProjection, Service
from partita.store import Store

logger: Final = logging.getLogger("partita.change")

POLL_SECONDS: Final = 0.1
REMOTE_POLL_SECONDS: Final = 1.0
"""DynamoDB Streams lets a shard be read five times a second."""
RETRY_SECONDS: Final = 5.0


@contextmanager
def projecting(services: Sequence[Service], store: Store, data: DataFolder) -> Iterator[dict[str, OpenProjection]]:
    """Keep the projections of the services up to date, in files of the data folder."""
    with ExitStack() as opened:
        projections: dict[str, OpenProjection] = {}
        for service in services:
            if service.projection is not None:
                path = data.path / f"{data.prefix}{service.name}-projection.db"
                sink = opened.enter_context(closing(service.projection.open(path)))
                projections[service.name] = OpenProjection(sink, Consumer(store, service.projection.table, sink))
        poll_seconds = POLL_SECONDS if data.store == EMBEDDED else REMOTE_POLL_SECONDS
        opened.enter_context(following((part.consumer for part in projections.values()), poll_seconds=poll_seconds))
        yield projections


@contextmanager
def following(consumers: Iterable[Consumer], *, poll_seconds: float = POLL_SECONDS) -> Iterator[None]:
    """Run consumers, each in a thread, until the block ends; the batch of each is finished."""
    stop = threading.Event()
    threads = [threading.Thread(target=_follow, args=(consumer, stop, poll_seconds)) for consumer in consumers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _follow(consumer: Consumer, stop: threading.Event, poll_seconds: float) -> None:
    """Read on, also after trouble: a consumer is where its sink is, and how far behind is for all to see."""
    while not stop.is_set():
        try:
            _run_or_rebuild(consumer, stop, poll_seconds)
        except PartitaError:
            logger.exception("A change stream cannot be read, and is tried again.")
            stop.wait(RETRY_SECONDS)


def _run_or_rebuild(consumer: Consumer, stop: threading.Event, poll_seconds: float) -> None:
    try:
        consumer.run(stop, lambda: stop.wait(poll_seconds))
    except RebuildRequired:
        consumer.rebuild()
