"""What clients may ask of the server."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """What clients may ask of the server, one by one and together."""

    head_bytes: int = 16 * 1024
    """Of the request line and the headers."""

    body_bytes: int = 17 * 1024 * 1024
    """Of one body, packed or not."""

    head_seconds: float = 10.0
    """From the first byte of a request to the end of its headers."""

    request_seconds: float = 30.0
    """From the first byte of a request to its last; also for a client to read its responses."""

    idle_seconds: float = 300.0
    """Between two requests."""

    connections: int = 1_000
    """How many at once. One that waits for a request is closed in favour of a new one."""

    buffered_bytes: int = 256 * 1024 * 1024
    """Of the bodies of all connections together, until they are responded to."""
