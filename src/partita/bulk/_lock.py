"""The lock that allows one load at a time for each file, across processes."""

from __future__ import annotations

from partita._sqlite import MEMORY, NoLock, ProcessLock, lock_beside
from partita.store import Store


def load_lock(store: Store) -> ProcessLock | NoLock:
    """The lock to hold while loading into the store; it is released when the process that holds it ends."""
    return lock_beside(getattr(store, "path", MEMORY), "bulk")
