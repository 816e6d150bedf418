"""Waiting for what other processes bring about, without keeping a processor busy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

DEADLINE = 60.0


def soon(holds: Callable[[], bool], *, pause: float = 0.02) -> None:
    """Wait until something holds; the pause is longer where to look takes long itself."""
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline
        threading.Event().wait(pause)
