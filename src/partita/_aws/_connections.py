"""The transport of the store: blocking and awaited calls, each with connections of their own."""

from __future__ import annotations

from partita._aws._loops import LoopTransport
from partita._aws._sockets import SocketTransport
from partita._aws._transport import HttpAnswer, HttpCall, Limits


class HttpTransport:
    """HTTP/1.1 with connections that are kept. No redirects are followed, since that would repeat a write."""

    def __init__(self, limits: Limits) -> None:
        self._blocking = SocketTransport(limits)
        self._awaited = LoopTransport(limits)

    def send(self, call: HttpCall) -> HttpAnswer:
        """Send and wait for the whole answer."""
        return self._blocking.send(call)

    async def send_async(self, call: HttpCall) -> HttpAnswer:
        """The same, without blocking the event loop."""
        return await self._awaited.send_async(call)

    def close(self) -> None:
        """Close the connections. Closing twice does nothing."""
        self._blocking.close()
        self._awaited.close()
