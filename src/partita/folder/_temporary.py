"""Temporary folders, which are deleted even if their process is killed: by the next process that needs one.

A living process holds a lock on a file in its folder. The file gets its name only once it is locked, so a folder with a
file of that name that is not locked belongs to no process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from partita.runtime import open_private

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: what a killed process left behind stays
    fcntl = None  # type: ignore[assignment]

_PREFIX: Final = ".partita-"
_LOCK: Final = "lock"


@contextmanager
def temporary_folder(place: Path) -> Iterator[Path]:
    """Create a folder that only its owner can access, and delete it when the block ends.

    Raises:
        OSError: it cannot be created.
    """
    _delete_abandoned(place)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
    lock: int | None = None
    try:
        lock = _lock(folder)
        yield folder
    finally:
        try:
            shutil.rmtree(folder)  # with the lock, so that no other process deletes it at the same time
        finally:
            if lock is not None:
                os.close(lock)


def _lock(folder: Path) -> int | None:
    if fcntl is None:
        return None
    unnamed = folder / f"{_LOCK}.new"
    lock = open_private(unnamed)
    fcntl.flock(lock, fcntl.LOCK_EX)
    unnamed.rename(folder / _LOCK)
    return lock


def _delete_abandoned(place: Path) -> None:
    """Delete the folders of killed processes of this user."""
    if fcntl is None:
        return
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:  # it has no lock, or another process has just deleted it
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not folder.is_symlink() and folder.stat().st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # its process is alive, or has just deleted it
            pass
        finally:
            os.close(lock)
