"""Accepting connections from a socket that several processes listen on, so that all have about the same number.

    connections wait ──> every process is notified
    the process with the fewest connections   accepts until another has fewer
    a process with more                       waits a little, and accepts some that are left: the others may be busy

asyncio would accept all waiting connections, so that one process would get them all. Accepting one per iteration of the
event loop would take long: an iteration lasts as long as its requests, and the requests of a burst share a commit only
if they are read together. All processes share the socket, and thus its queue of waiting connections: none is lost when
a process dies.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final

from partita.cli.processes._board import ConnectionBoard

GRACE_SECONDS: Final = 0.005
"""How long a process leaves a connection to processes that have fewer."""
MAX_AT_ONCE: Final = 64
"""The maximum number of connections that are accepted before requests are served again."""
RETRY_SECONDS: Final = 1.0
"""When accepting is retried after the process has run out of file descriptors."""
_EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Acceptor:
    """Accepts connections for one process, in one event loop."""

    def __init__(
        self,
        listener: socket.socket,
        make: Callable[[], asyncio.BaseProtocol],
        board: ConnectionBoard,
        number: int,
    ) -> None:
        """Set up an acceptor; nothing is accepted yet.

        Args:
            listener: the listening socket.
            make: creates the protocol of a connection.
            board: how many connections each process has. The protocols update it.
            number: the number of this process.
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
        """Begin to accept connections."""
        self._listener.setblocking(False)  # all processes are notified of a connection, and one of them gets it
        self._is_open = True
        self._board.open(self._number)
        self._listen()

    async def stop(self) -> None:
        """Stop accepting, close the socket, and wait until the accepted connections have begun."""
        if not self._is_open:
            return
        self._is_open = False
        self._board.close(self._number)
        self._loop.remove_reader(self._listener)
        self._listener.close()  # once all processes have closed it, the system refuses new clients, so they do not wait
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
        """Accept connections that other processes have left: at most a quarter of the number that this one has."""
        self._listen()
        for _ in range(min(MAX_AT_ONCE, max(1, self._board.get(self._number) // 4))):
            if not self._accept():
                return

    def _accept(self) -> bool:
        """Accept one connection. Return False if none is waiting, or none can be accepted now."""
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):  # another process has it, or none
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
