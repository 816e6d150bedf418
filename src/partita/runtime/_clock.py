"""Time is passed as an argument: a clock is a function that returns seconds since the epoch."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], float]
"""Returns the time, in seconds since the epoch."""

system_clock: Clock = time.time
"""The system time."""
