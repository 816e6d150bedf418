"""All connections of a server, with limits for their number and for how long each may keep the server waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Final

from partita.runtime import Clock
from partita.wire.connection._body import ByteBudget
from partita.wire.connection._limits import Limits

if TYPE_CHECKING:
    from partita.wire.connection._connection import Connection

_SWEEP_SECONDS: Final = 1.0
_ID_LENGTH: Final = 52
_IDS_AT_ONCE: Final = 256


def _nothing(connections: int) -> None:
    """The default `on_change`, which does nothing."""


class RequestIds:
    """Random, non-secret request ids, generated in batches: generating one alone takes as long as sending it."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._ids: list[str] = []

    def next_id(self) -> str:
        """A new id."""
        if not self._ids:
            digits = self._random.randbytes(_ID_LENGTH // 2 * _IDS_AT_ONCE).hex().upper()
            self._ids = [digits[start : start + _ID_LENGTH] for start in range(0, len(digits), _ID_LENGTH)]
        return self._ids.pop()


class Connections:
    """The open connections, and what they share."""

    def __init__(self, limits: Limits, timer: Clock, on_change: Callable[[int], None] | None = None) -> None:
        """`on_change` is called with the number of connections whenever it changes."""
        self.limits = limits
        self.timer = timer
        self.ids = RequestIds(Random())  # noqa: S311 - ids are not secrets
        self.budget = ByteBudget(limits.buffered_bytes)
        self._open: set[Connection] = set()
        self._sweeping: asyncio.TimerHandle | None = None
        self._on_change = on_change or _nothing

    def add(self, connection: Connection) -> bool:
        """Add a connection if there is room or one that waits for a request can be closed. Return whether it did."""
        if len(self._open) >= self.limits.connections and not self._close_oldest():
            return False
        self._open.add(connection)
        self._on_change(len(self._open))
        return True

    def remove(self, connection: Connection) -> None:
        """Remove a closed connection."""
        self._open.discard(connection)
        self._on_change(len(self._open))

    def _close_oldest(self) -> bool:
        """Close the connection that has waited longest for a request, but none with a complete request head."""
        waiting = [connection for connection in self._open if connection.is_waiting()]
        if not waiting:
            return False
        oldest = min(waiting, key=lambda connection: connection.since)
        oldest.abort()
        self._open.discard(oldest)
        return True

    def close_late(self) -> None:
        """Close connections that exceed their time limit."""
        now = self.timer()
        for connection in tuple(self._open):
            if now - connection.since > connection.patience():
                connection.abort()

    def sweep(self) -> None:
        """Close late connections now and once per second."""
        self.close_late()
        self._sweeping = asyncio.get_running_loop().call_later(_SWEEP_SECONDS, self.sweep)

    async def finish(self) -> None:
        """Close all connections, each after the response to its current request."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connection in tuple(self._open):
            connection.finish()
        pending = [connection.responding for connection in self._open if connection.responding is not None]
        if pending:
            await asyncio.gather(*pending, return_exceptions=True)
