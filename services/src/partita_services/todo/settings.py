"""Settings of the To-Do service, from the environment."""

from __future__ import annotations

import os
from typing import Final

KEEP_COMPLETED_DAYS: Final = "PARTITA_TODO_KEEP_COMPLETED_DAYS"
REMINDERS: Final = "PARTITA_TODO_REMINDERS"
_DAY: Final = 86_400


def keep_completed() -> int | None:
    """For how many seconds a completed task is kept; None, the default, means for ever.

    Raises:
        ValueError: the setting is not a positive whole number.
    """
    days = os.environ.get(KEEP_COMPLETED_DAYS, "")
    if not days:
        return None
    if not days.isascii() or not days.isdecimal() or int(days) == 0:
        raise ValueError(f"{KEEP_COMPLETED_DAYS} is {days!r}, and must be a number of days such as 30.")
    return int(days) * _DAY


def reminder_sender() -> str | None:
    """The address of the sender of reminders; `queue` if another program reads the queue; None if none are sent."""
    return os.environ.get(REMINDERS) or None
