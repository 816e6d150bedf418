"""Accepting connections of a socket that several processes listen on, so that all of them have about as many.

    connections wait ──> every process hears of them
    who has the fewest   accepts until another has fewer
    who has more         waits a little, and accepts some of those that are still there: the others may be busy

asyncio would accept all that wait, and one process would have them all. One in each iteration would take long: an
iteration lasts for as long as its requests do, and those of a burst share a commit only if they are read together. The
socket is the same for all processes, and so is the queue of connections that wait: when a process dies, none is lost.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final

from partita.cli.processes._board import ConnectionBoard

GRACE_SECONDS: Final = 0.005
"""How long a process leaves a connection to those that have fewer."""
MAX_AT_ONCE: Final = 64
"""So many are accepted at most before requests are served again."""
RETRY_SECONDS: Final = 1.0
"""After so long accepting is tried again where files have run out."""
_EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Acceptor:
    """Accepts for one process. It belongs to one event loop."""

    def __init__(
        self,
        listener: socket.socket,
        make: Callable[[], asyncio.BaseProtocol],
        board: ConnectionBoard,
        number: int,
    ) -> None:
        """Set up an acceptor; nothing is accepted yet.

        Args:
            listener: the socket.
            make: gives the protocol of a connection.
            board: how many connections each process has. The protocols say when that changes.
            number: that of this process.
        """
        self._listener = listener
        self._make = make
        self._board = board
        self._number = number
        self._loop = asyncio.get_running_loop()
        self._later: asyncio.TimerHandle | None = None
        self._connecting: set[asyncio.Future[Any]] = set()
        self._is_open = False

    def start(self) -> None:
        """Begin to accept."""
        self._listener.setblocking(False)  # all processes hear of a connection, and one of them gets it
        self._is_open = True
        self._board.open(self._number)
        self._listen()

    async def stop(self) -> None:
        """Accept no more, and close the socket; those that were accepted have begun when this returns."""
        if not self._is_open:
            return
        self._is_open = False
        self._board.close(self._number)
        self._loop.remove_reader(self._listener)
        self._listener.close()  # where all processes have, the system refuses whoever connects, and they need not wait
        if self._later is not None:
            self._later.cancel()
        if self._connecting:
            await asyncio.wait(self._connecting)

    def _listen(self) -> None:
        self._later = None
        if self._is_open:
            self._loop.add_reader(self._listener, self._ready)

    def _ready(self) -> None:
        if not self._board.has_fewest(self._number):
            self._pause(GRACE_SECONDS, self._accept_left)
            return
        for _ in range(MAX_AT_ONCE):
            if not (self._accept() and self._board.has_fewest(self._number)):
                return

    def _pause(self, seconds: float, then: Callable[[], None]) -> None:
        self._loop.remove_reader(self._listener)
        self._later = self._loop.call_later(seconds, then)

    def _accept_left(self) -> None:
        """Accept what those with fewer have left: a quarter of what there are here, so that few are spread."""
        self._listen()
        for _ in range(min(MAX_AT_ONCE, max(1, self._board.get(self._number) // 4))):
            if not self._accept():
                return

    def _accept(self) -> bool:
        """Accept one connection; False if none can be had now."""
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):  # another process has it, or nobody
            return False
        except OSError as error:
            if error.errno not in _EXHAUSTED:
                raise
            message = {"message": "accept() failed", "exception": error, "socket": self._listener}
            self._loop.call_exception_handler(message)
            self._pause(RETRY_SECONDS, self._listen)
            return False
        connection.setblocking(False)
        self._board.accepted(self._number)
        made: Awaitable[Any] = self._loop.connect_accepted_socket(self._make, connection)
        future = asyncio.ensure_future(made)
        self._connecting.add(future)
        future.add_done_callback(self._connected)
        return True

    def _connected(self, future: asyncio.Future[Any]) -> None:
        self._connecting.discard(future)
        self._board.settle(self._number, len(self._connecting))
        if not future.cancelled() and (error := future.exception()) is not None:
            self._loop.call_exception_handler({"message": "a connection could not be begun", "exception": error})
