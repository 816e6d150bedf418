"""The SQLite VFS that verifies checksums: SQLite's own extension `cksumvfs`, which is included in apsw.

It stores a checksum in the last eight bytes of each page of a file and verifies it whenever the page is read. The log
has checksums of its own, which SQLite verifies when it opens the log.
"""

from __future__ import annotations

import threading
from array import array
from contextlib import closing, suppress
from functools import cache
from importlib.util import find_spec
from typing import Final

import apsw

CHECKSUM_BYTES: Final = 8
_CHECKING: Final = "cksmvfs"
_PLAIN: Final = ("unix", "win32")
_loading = threading.Lock()


def file_system() -> str | None:
    """The name of the VFS to open files with; None if checksums are not available.

    They are not if apsw was built without the extension, or if the program has made a VFS of its own the default.
    """
    return _CHECKING if apsw.vfs_names()[0] in _PLAIN and _is_loaded() else None


@cache
def _is_loaded() -> bool:
    """Load the extension into this process, to be used only by connections that name it."""
    with _loading:
        if _CHECKING in apsw.vfs_names():
            return True
        if find_spec("apsw.sqlite_extra") is None:
            return False
        from apsw import sqlite_extra  # noqa: PLC0415 - not every apsw has it

        if not sqlite_extra.has("cksumvfs"):
            return False
        plain = apsw.vfs_names()[0]
        with closing(apsw.Connection(":memory:")) as connection, suppress(apsw.ExtensionLoadingError):
            sqlite_extra.load(connection, "cksumvfs")
        apsw.set_default_vfs(plain)
        return _CHECKING in apsw.vfs_names()


def reserve(connection: apsw.Connection) -> bool:
    """Reserve space for checksums in the pages of a new database, or of the next copy of this one.

    Return False if checksums are not available.
    """
    if file_system() is None:
        return False
    asked = array("i", [CHECKSUM_BYTES])
    address, _ = asked.buffer_info()
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, address)
    return True
