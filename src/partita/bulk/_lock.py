"""One load at a time for each file, whichever process it is in."""

from __future__ import annotations

from partita._sqlite import MEMORY, NoLock, ProcessLock, lock_beside
from partita.store import Store


def load_lock(store: Store) -> ProcessLock | NoLock:
    """The lock of whoever loads into the store; it ends with the process that has it."""
    return lock_beside(getattr(store, "path", MEMORY), "bulk")
