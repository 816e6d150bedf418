"""The access to a store that reading its past needs: snapshots, writes and the clock."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from msgspec import Struct

from partita._sqlite import MEMORY
from partita.runtime import Clock
from partita.store.embedded._connection import Reader


class StoreAccess(Struct, frozen=True):
    """The functions of a store that point-in-time recovery uses."""

    snapshot: Callable[[], AbstractContextManager[Reader]]
    """Opens a snapshot with every write that has read the clock before; it allows temporary tables."""
    write: Callable[[Any], Any]
    """Executes a write, which is durable when it returns."""
    clock: Clock
    path: str
    check_open: Callable[[], None]
    """Raises StoreClosed if the store is closed, or was opened before the process was forked."""

    @property
    def is_in_memory(self) -> bool:
        """Whether there is only one connection, so that a snapshot blocks all other threads."""
        return self.path == MEMORY
