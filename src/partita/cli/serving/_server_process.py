"""One of several server processes of `partita serve`. Work that must be done once is left to another process."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from fastapi.concurrency import run_in_threadpool
from msgspec.structs import replace

from partita.app import PreparedRoutes, RequestMetrics
from partita.cli._descriptors import log_outages
from partita.cli._listen import connection_config
from partita.cli._quiet_server import QuietServer
from partita.cli.data import reading_projections
from partita.cli.processes import Acceptor, ConnectionBoard, ProcessChannel
from partita.cli.serving._served_app import ServedApp, ServeSettings, make_app, opened_resources
from partita.http import Siblings
from partita.reports import ServerFigures
from partita.service import Service
from partita.store import write_troubles


class AskedSiblings(Siblings):
    """The other processes, which are queried through the supervisor."""

    def __init__(self, channel: ProcessChannel) -> None:
        self._channel = channel

    async def figures(self) -> ServerFigures:
        """The figures of the other processes."""
        return (await run_in_threadpool(self._channel.ask)).figures

    async def troubles(self) -> Mapping[str, str]:
        """The failures of the process for background work."""
        return (await run_in_threadpool(self._channel.ask)).troubles


def run_server(
    channel: ProcessChannel,
    number: int,
    board: ConnectionBoard,
    services: Sequence[Service],
    routes: PreparedRoutes,
    listener: socket.socket,
    settings: ServeSettings,
) -> None:
    """Serve until the supervisor sends `Stop`. Requests that have begun are finished."""
    if not channel.is_first:
        logging.disable(logging.WARNING)  # warnings at the start were logged by the first server
    data, requests = replace(settings.data, is_in_use=True), RequestMetrics()
    with (
        closing(data.open_store()) as store,
        opened_resources(services, store, data, listener) as opened,
        reading_projections(services, store, data) as projections,
    ):
        shared = replace(
            opened,
            projections=projections,
            siblings=AskedSiblings(channel),
            requests=requests,
            before=channel.before,
            routes=routes,
        )
        served = make_app(settings, shared)
        meter = served.state.session.meter
        channel.count_with(lambda: requests.figures(meter.usage()), lambda: write_troubles(store))
        SharingServer(served, listener, board, number, channel).run(sockets=[])


class SharingServer(QuietServer):
    """A server that shares its socket with other processes. The supervisor stops it, not a signal."""

    def __init__(
        self, served: ServedApp, listener: socket.socket, board: ConnectionBoard, number: int, channel: ProcessChannel
    ) -> None:
        config = connection_config(served.app, on_change=board.setter(number), has_own_log=False)
        super().__init__(config)
        self._served = served
        self._listener = listener
        self._board = board
        self._number = number
        self._channel = channel
        self._acceptor: Acceptor | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no signal handlers."""
        yield

    def stop(self) -> None:
        """Finish the requests that have begun; endless responses end now."""
        self._served.state.stopping.set()
        self.should_exit = True

    def cut(self) -> None:
        """Cut off the requests that have begun."""
        self.force_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections, and report that the server is ready."""
        log_outages()
        await super().startup(sockets)
        self._acceptor = Acceptor(self._listener, self._connection, self._board, self._number)
        self._acceptor.start()
        self._channel.on_stop(self.stop, self.cut)
        self._channel.ready(self._served.banner() if self._channel.is_first else "")
        logging.disable(logging.NOTSET)

    def _connection(self) -> asyncio.Protocol:
        """Create the protocol of a connection, as `uvicorn.Server.startup` does."""
        config: Any = self.config
        made: asyncio.Protocol = config.http_protocol_class(
            config=config, server_state=self.server_state, app_state=self.lifespan.state, _loop=None
        )
        return made

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, and finish the requests that have begun."""
        if self._acceptor is not None:
            await self._acceptor.stop()
        await super().shutdown(sockets)
        if self.force_exit:  # requests are cut off, but the app still closes its resources
            await self.lifespan.shutdown()
