"""How long a lease lasts without a sign of life, and how often workers look at each other."""

from __future__ import annotations

import hashlib
from typing import Final

from msgspec import Struct

_DIGITS: Final = 24


class LeasePolicy(Struct, frozen=True):
    """What all workers of a group agree on."""

    seconds: float = 20.0
    """After so long without a heartbeat a worker is taken for dead."""
    every: float = 5.0
    """How often a worker says that it lives, and looks for shards to take or to give."""

    @property
    def takeover_seconds(self) -> float:
        """Within this time the shards of a worker that was killed are another's, where one is idle.

        The last heartbeat is seen at the next look, stays the same for a lease, and the look after that takes over.
        """
        return self.seconds + 2 * self.every


def group_of(sink: str, table: str) -> str:
    """The name of those who share the stream of a table for one sink, such as the place of a lake."""
    return hashlib.sha256(f"{table}\n{sink}".encode()).hexdigest()[:_DIGITS]
