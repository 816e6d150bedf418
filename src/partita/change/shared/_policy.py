"""How long a lease lasts without a heartbeat, and how often workers check each other."""

from __future__ import annotations

import hashlib
from typing import Final

from msgspec import Struct

_DIGITS: Final = 24


class LeasePolicy(Struct, frozen=True):
    """Durations that must be the same for all workers of a group."""

    seconds: float = 20.0
    """The time without a heartbeat after which a worker is considered dead."""
    every: float = 5.0
    """The interval at which a worker writes its heartbeat and checks for shards to take or to release."""

    @property
    def takeover_seconds(self) -> float:
        """The time within which the shards of a killed worker are taken over, if another worker is idle.

        The last heartbeat is read at the next check, remains unchanged for `seconds`, and the check after that takes
        over.
        """
        return self.seconds + 2 * self.every


def group_of(sink: str, table: str) -> str:
    """Return the name of the group that shares the stream of a table for one sink, such as the location of a lake."""
    return hashlib.sha256(f"{table}\n{sink}".encode()).hexdigest()[:_DIGITS]
