"""Time comes in as an argument: a clock is a function that gives seconds since the epoch."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], float]
"""Gives the time, in seconds since the epoch."""

system_clock: Clock = time.time
"""The time of the machine."""
