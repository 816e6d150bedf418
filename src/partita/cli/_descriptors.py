"""How many connections a process may have: each needs a file descriptor, and the system limits their number."""

from __future__ import annotations

import asyncio
import errno
import logging
from pathlib import Path
from typing import Any, Final

logger: Final = logging.getLogger("partita.serve")

RESERVED_DESCRIPTORS: Final = 128
"""Descriptors that are kept for the databases, the queues, and connections that are being closed."""
OUTAGE_SECONDS: Final = 60.0
"""If accepting fails again within this time, that is the same outage."""
_EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_OPENED: Final = Path("/dev/fd")
"""On Linux and macOS, this folder has an entry for each open file of the process."""


def max_connections(wanted: int) -> int:
    """The wanted number of connections, or as many as the file limit of this process allows."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return wanted
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, connections_within(soft, _opened()))


def connections_within(descriptors: int, opened: int) -> int:
    """How many of the descriptors are used for connections: all but a reserve, or half of the free ones."""
    return max(1, descriptors - RESERVED_DESCRIPTORS, (descriptors - opened) // 2)


def _opened() -> int:
    try:
        return len(list(_OPENED.iterdir()))
    except OSError:
        return RESERVED_DESCRIPTORS


class LoopErrors:
    """Handles errors of the event loop. While connections cannot be accepted, logs one line, not one per connection."""

    def __init__(self) -> None:
        self._same_until = float("-inf")

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log the error, unless it belongs to an outage that was logged already."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _EXHAUSTED or "socket" not in context:
            loop.default_exception_handler(context)
            return
        if loop.time() >= self._same_until:
            logger.error("No connections can be accepted: %s. Accepting is retried every second.", error.strerror)
        self._same_until = loop.time() + OUTAGE_SECONDS


def log_outages() -> None:
    """Make the running event loop log an outage of accepting once, not for each connection."""
    asyncio.get_running_loop().set_exception_handler(LoopErrors())
