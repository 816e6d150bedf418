"""The head of a response and its body, sent in one piece.

uvicorn writes them one after the other, and an event loop sends each at once: two calls of the system, and two packets.
Here a piece is kept until the next one comes, and both are sent together:

    head, body              ── one call
    head, then nothing yet  ── sent when the loop comes around: a stream begins at once
    a large body            ── by itself: to put it behind its head would copy it

To close sends what was kept first. To abort does not, as it drops what was not sent yet.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

MAX_JOINED: Final = 65_536
"""Bytes of a piece that are copied behind another."""


class JoinedWrites(asyncio.Transport):
    """A transport of one connection, before that of the event loop. It has what uvicorn asks for, and no more."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._kept = b""
        self._sending: asyncio.Handle | None = None
        # As they are, since every request asks for them.
        self.is_closing = transport.is_closing  # type: ignore[method-assign]
        self.pause_reading = transport.pause_reading  # type: ignore[method-assign]
        self.resume_reading = transport.resume_reading  # type: ignore[method-assign]

    def write(self, data: bytes) -> None:  # type: ignore[override]  # uvicorn writes bytes
        """Send a piece, together with the one before or after it."""
        if self._sending is None:
            self._kept = data
            self._sending = self._loop.call_soon(self.send_kept)
        elif len(data) > MAX_JOINED:
            self.send_kept()
            self._transport.write(data)
        else:
            kept = self._kept + data
            self._forget()
            self._transport.write(kept)

    def send_kept(self) -> None:
        """Send what waits for the next piece."""
        if self._sending is not None:
            kept = self._kept
            self._forget()
            self._transport.write(kept)

    def _forget(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        self._kept = b""

    def close(self) -> None:
        """Send what is left, and close."""
        self.send_kept()
        self._transport.close()

    def abort(self) -> None:
        """Close at once; what was not sent is lost."""
        self._forget()
        self._transport.abort()

    def get_write_buffer_size(self) -> int:
        """The bytes that were not sent yet."""
        return self._transport.get_write_buffer_size() + len(self._kept)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What is known of the connection."""
        return self._transport.get_extra_info(name, default)
