"""How many connections a process may have: they are files to the system, which gives a process so many and no more."""

from __future__ import annotations

import asyncio
import errno
import logging
from pathlib import Path
from typing import Any, Final

logger: Final = logging.getLogger("partita.serve")

RESERVED_DESCRIPTORS: Final = 128
"""Of those that a process may open: for the databases, the queues, and connections that are being closed."""
OUTAGE_SECONDS: Final = 60.0
"""Accepting that fails again within this time is the same outage."""
_EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_OPENED: Final = Path("/dev/fd")
"""Has an entry for each file that this process has open, on Linux and macOS."""


def max_connections(wanted: int) -> int:
    """As many as wanted, or as this process can have beside the files that it has open now."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return wanted
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, connections_within(soft, _opened()))


def connections_within(descriptors: int, opened: int) -> int:
    """So many of these descriptors are for connections: all but a reserve, or half of those that are left."""
    return max(1, descriptors - RESERVED_DESCRIPTORS, (descriptors - opened) // 2)


def _opened() -> int:
    try:
        return len(list(_OPENED.iterdir()))
    except OSError:
        return RESERVED_DESCRIPTORS


class LoopErrors:
    """Handles errors of the event loop: where connections cannot be accepted, one line says so, not one for each."""

    def __init__(self) -> None:
        self._same_until = float("-inf")

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log the error, unless it is of an outage that was logged."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _EXHAUSTED or "socket" not in context:
            loop.default_exception_handler(context)
            return
        if loop.time() >= self._same_until:
            logger.error("No connection can be accepted now: %s. This is tried again every second.", error.strerror)
        self._same_until = loop.time() + OUTAGE_SECONDS


def log_outages() -> None:
    """Have the running event loop log it once, and not for each connection, where none can be accepted."""
    asyncio.get_running_loop().set_exception_handler(LoopErrors())
