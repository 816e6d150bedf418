"""One load at a time for each file, whichever process it is in."""

from __future__ import annotations

from pathlib import Path

from partita._sqlite import MEMORY, NoLock, ProcessLock
from partita.store import Store


def load_lock(store: Store) -> ProcessLock | NoLock:
    """The lock of whoever loads into the store; it ends with the process that has it."""
    path = getattr(store, "path", MEMORY)
    return NoLock() if path == MEMORY else ProcessLock(Path(f"{path}.bulk"))
