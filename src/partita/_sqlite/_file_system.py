"""The file system of SQLite's that compares checksums: its own extension `cksumvfs`, which comes with apsw.

It keeps a checksum in the last eight bytes of each page of a file, and compares it whenever a page is read. The log has
checksums of SQLite's own, which are compared when it is opened.
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
    """The name to open files with; None where there are no checksums.

    That is where apsw was built without the extension, and where a program has put a file system of its own in place.
    """
    return _CHECKING if apsw.vfs_names()[0] in _PLAIN and _is_loaded() else None


@cache
def _is_loaded() -> bool:
    """Load the extension into this process, for those alone who ask for it by name."""
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
    """Have the pages of a new database keep checksums, or those of the next copy of this one.

    False where checksums cannot be kept.
    """
    if file_system() is None:
        return False
    asked = array("i", [CHECKSUM_BYTES])
    address, _ = asked.buffer_info()
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, address)
    return True
