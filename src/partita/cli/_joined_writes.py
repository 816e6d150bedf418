"""Sends the head of a response and its body in one piece.

uvicorn writes them one after the other, and an event loop sends each at once: two system calls, and two packets. Here,
a piece is kept until the next one is written, and both are sent together:

    head, body              ── one call
    head, then nothing yet  ── sent in the next iteration of the loop, so that a stream begins at once
    a large body            ── sent separately, because joining it with its head would copy it

`close` first sends the kept piece. `abort` does not, because it drops everything that was not sent yet.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

MAX_JOINED: Final = 65_536
"""Size in bytes up to which a piece is joined with the one before it, which copies it."""


class JoinedWrites(asyncio.Transport):
    """Wraps the event loop's transport of one connection. It has only the methods that uvicorn uses."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._kept = b""
        self._sending: asyncio.Handle | None = None
        # Bound directly, because they are called for every request.
        self.is_closing = transport.is_closing  # type: ignore[method-assign]
        self.pause_reading = transport.pause_reading  # type: ignore[method-assign]
        self.resume_reading = transport.resume_reading  # type: ignore[method-assign]

    def write(self, data: bytes) -> None:  # type: ignore[override]  # uvicorn writes bytes
        """Send a piece together with the one before or after it."""
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
        """Send the piece that waits for the next one, if there is one."""
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
        """Send the kept piece, and close the connection."""
        self.send_kept()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection at once; unsent data is lost."""
        self._forget()
        self._transport.abort()

    def get_write_buffer_size(self) -> int:
        """The number of bytes that were not sent yet."""
        return self._transport.get_write_buffer_size() + len(self._kept)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Information about the connection, by its name in asyncio."""
        return self._transport.get_extra_info(name, default)
