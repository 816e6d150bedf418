"""Waiting for the effects of other processes, without busy waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

DEADLINE = 60.0


def soon(holds: Callable[[], bool], *, pause: float = 0.02) -> None:
    """Wait until a condition holds. If checking it takes long, use a longer pause."""
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline
        threading.Event().wait(pause)
