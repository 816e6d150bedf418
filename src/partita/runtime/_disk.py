"""Flushing files to disk, and whether it has space."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

_SPACE: Final = bytes(1 << 16)


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
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(_SPACE)
        os.fsync(file.fileno())
