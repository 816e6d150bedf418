"""Serving DynamoDB's protocol in the only process, or in one of several on one port."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct
from msgspec.structs import replace

from partita import EmbeddedStore
from partita.cli._data_folder import DataFolder
from partita.cli._descriptors import log_outages, max_connections
from partita.cli._listen import address_of
from partita.cli._vanished import await_folder
from partita.cli.processes import Acceptor, ConnectionBoard, ProcessChannel
from partita.cli.serving._realism import realistically
from partita.runtime import AllowedHosts

if TYPE_CHECKING:
    from partita.wire import AccessKey, WireServer


class WireSettings(Struct, frozen=True):
    """The settings from the command line, which are the same for every process."""

    data: DataFolder
    allowed_hosts: AllowedHosts
    switches: Mapping[str, Any]
    regions: bool
    key: AccessKey | None
    buckets: str | None = None
    """Where bulk operations read and write reports: a folder, or the address of buckets."""


@contextmanager
def opened_server(
    settings: WireSettings, *, sweep_every: float | None, on_connections: Callable[[int], None] | None = None
) -> Iterator[WireServer]:
    """A server on the database of the folder, and with `regions`, on one database for each region."""
    from partita.buckets import open_buckets
    from partita.wire import Limits, RegionStores, WireServer

    buckets = None if settings.buckets is None else open_buckets(settings.buckets)
    data, realistic = settings.data, realistically(settings.switches)
    with closing(realistic(data.open(sweep_every=sweep_every))) as store:
        stores = RegionStores(store, lambda region: realistic(data.open_region(region, sweep_every=sweep_every)))
        with closing(stores):
            server = WireServer(
                store,
                key=settings.key,
                allowed_hosts=settings.allowed_hosts,
                limits=Limits(connections=max_connections(Limits().connections)),
                regions=stores if settings.regions else None,
                on_connections=on_connections,
            )
            if buckets is not None:
                server.use_buckets(buckets)
            yield server


def run_wire_server(
    channel: ProcessChannel, number: int, board: ConnectionBoard, listener: socket.socket, settings: WireSettings
) -> None:
    """Serve until the supervisor sends `Stop`. Requests that have begun are finished."""
    settings = replace(settings, data=replace(settings.data, is_in_use=True))
    with (
        opened_server(settings, sweep_every=None, on_connections=board.setter(number)) as server,
        asyncio.Runner(loop_factory=new_loop) as runner,
    ):
        runner.run(_serve(server, channel, number, board, listener, settings.data))


async def _serve(
    server: WireServer,
    channel: ProcessChannel,
    number: int,
    board: ConnectionBoard,
    listener: socket.socket,
    data: DataFolder,
) -> None:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    log_outages()
    acceptor = Acceptor(listener, server.begin(listener), board, number)
    acceptor.start()

    def stop() -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(stopped.set)

    channel.on_stop(stop, stop)
    channel.ready(banner_of(listener, data))
    await stopped.wait()
    await acceptor.stop()
    await server.stop()


def run_sweeper(
    channel: ProcessChannel, _number: int, _board: ConnectionBoard, settings: WireSettings, every: float
) -> None:
    """Create the database if needed, and delete expired data until the supervisor sends `Stop`."""
    data = settings.data if channel.is_first else replace(settings.data, is_in_use=True)
    await_folder(data, channel.stopping)
    if channel.stopping.is_set():
        return
    with closing(data.open(sweep_every=every)), RegionSweeper(settings, every):
        channel.ready()
        channel.wait_for_stop()


class RegionSweeper:
    """Deletes expired data in the databases of regions, which are created by the server processes."""

    def __init__(self, settings: WireSettings, every: float) -> None:
        self._data = settings.data
        self._every = every
        self._is_needed = settings.regions
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="regions")

    def __enter__(self) -> Self:
        if self._is_needed:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._is_needed:
            self._thread.join()

    def _run(self) -> None:
        opened: dict[str, EmbeddedStore] = {}
        with ExitStack() as stores:
            while not self._stop.wait(self._every):
                for region in self._data.regions():
                    if region not in opened:
                        opened[region] = stores.enter_context(self._data.open_region(region, sweep_every=self._every))


def new_loop() -> asyncio.AbstractEventLoop:
    """The fastest event loop that is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def banner_of(listener: socket.socket, data: DataFolder) -> str:
    """The text that the server prints when it is ready."""
    return f"DynamoDB's protocol at {address_of(listener)} from {data.path}\nStop with Ctrl-C."
