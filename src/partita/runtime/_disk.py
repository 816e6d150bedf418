"""Flushing files to disk, whether it has space, and the error if it has none."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from partita.errors import StoreError, StoreFull, StoreReadOnly

_SPACE: Final = bytes(1 << 16)
_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    if os.name == "nt" and path.is_dir():  # pragma: no cover - Windows has no such call for folders
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def try_disk(folder: Path) -> None:
    """Write a small temporary file.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    from tempfile import TemporaryFile  # noqa: PLC0415 - it loads many modules, and this is rarely called

    with TemporaryFile(dir=folder, buffering=0) as file:
        file.write(_SPACE)
        os.fsync(file.fileno())


def disk_error(error: OSError, problem: str, *, if_full: str = "") -> StoreError:
    """Return the error for a problem with the disk, such as "The file x cannot be written".

    `if_full` is the hint if no space is left.
    """
    message = f"{problem} ({error.strerror})."
    return StoreFull(message, hint=if_full) if error.errno in _NO_SPACE else StoreReadOnly(message)
