"""What is needed of a store to read its past: a view of one state, writes, and the time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from msgspec import Struct

from partita._sqlite import MEMORY
from partita.runtime import Clock
from partita.store.embedded._connection import Reader


class StoreAccess(Struct, frozen=True):
    """The parts of a store that points in time are made of."""

    snapshot: Callable[[], AbstractContextManager[Reader]]
    """One state of the file, with every write that has read the clock before; temporary tables may be made on it."""
    write: Callable[[Any], Any]
    """Executes a write, which is durable when it returns."""
    clock: Clock
    path: str
    check_open: Callable[[], None]
    """Raises StoreClosed for a store that is closed, or that another process opened."""

    @property
    def is_in_memory(self) -> bool:
        """Whether all share one connection, so that a snapshot keeps every other thread waiting."""
        return self.path == MEMORY
