"""Limits for clients of the server."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Limits for clients of the server, per connection and in total."""

    head_bytes: int = 16 * 1024
    """Maximum size of the request line and the headers."""

    body_bytes: int = 17 * 1024 * 1024
    """Maximum size of one body, both compressed and decompressed."""

    head_seconds: float = 10.0
    """Maximum time from the first byte of a request to the end of its headers."""

    request_seconds: float = 30.0
    """Maximum time from the first byte of a request to its last; also for a client to read its responses."""

    idle_seconds: float = 300.0
    """Maximum time between two requests."""

    connections: int = 1_000
    """Maximum number of connections. One that waits for a request is closed in favour of a new one."""

    buffered_bytes: int = 256 * 1024 * 1024
    """Maximum size of the bodies of all connections together, until their responses are sent."""
