"""What services open besides the store, as long as a command runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from msgspec.structs import replace

from partita.cli._data_folder import DataFolder
from partita.queue import Queue, QueuePolicy
from partita.service import Installation, Service


def installation_of(data: DataFolder, url: str | None = None) -> Installation:
    """What services may use of the data folder."""
    data.create()
    return Installation(data.path, data.secret, data.open_queue, url)


def tracking_queues(queues: dict[str, Queue], installation: Installation) -> Installation:
    """The same installation; the queues that are opened there are put into `queues`, by name."""

    def open_queue(name: str, policy: QueuePolicy) -> Queue:
        queues[name] = installation.open_queue(name, policy)
        return queues[name]

    return replace(installation, open_queue=open_queue)


@contextmanager
def opening(services: Sequence[Service], installation: Installation) -> Iterator[dict[str, Any]]:
    """What each of the services has opened, by name; closed when the block ends."""
    with ExitStack() as opened:
        yield {
            service.name: opened.enter_context(service.resources(installation))
            for service in services
            if service.resources is not None
        }
