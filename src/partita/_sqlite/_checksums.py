"""Page checksums, which detect bytes that changed on the disk.

They cover every page, so items, keys, index entries and the catalog alike. The header of a file shows whether its pages
have checksums.

    new file      reserve() before its first page is written
    older file    add_checksums(): copied ── sealed ── replaced by the copy, if nobody else has it open
    any copy      seal_pages(): SQLite may write pages before the header, and these have no checksum yet
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Final

import apsw

from partita._sqlite._database_file import BUSY_MILLISECONDS, open_database, read_header
from partita._sqlite._file_system import file_system, reserve
from partita.runtime import create_private, sync

_READ_AND_WRITE: Final = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
_PARTS: Final = ("", "-wal", "-shm", "-journal")


def seal_pages(path: Path) -> None:
    """Write the checksum of every page of a copy that is not in use yet, if its header declares checksums."""
    header = read_header(str(path))
    checking = file_system()
    if header is None or not header.has_checksums or checking is None:
        return
    file = apsw.VFSFile(checking, str(path.absolute()), [_READ_AND_WRITE, 0])
    try:
        with path.open("rb") as pages:
            while page := bytearray(pages.read(header.page_size)):
                file.xWrite(page, pages.tell() - len(page))
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
    finally:
        file.xClose()


def add_checksums(connection: apsw.Connection, path: Path, version: int) -> bool:
    """Replace a file without checksums by a copy that has them, with the given version of its format.

    Call this only while no other process opens the file. Return False and leave the file unchanged if somebody has it
    open, if it is damaged, or if there is no space for a copy. If the result is True, the connection is closed.
    """
    header = read_header(str(path))
    if header is None or header.has_checksums or not _is_alone(connection):
        return False
    copy = path.with_name(f"{path.name}.checksums.partial")
    try:
        _copy_sealed(connection, copy, version)
    except (apsw.Error, OSError):
        _remove(copy)
        connection.pragma("journal_mode", "wal")
        return False
    connection.close()
    copy.replace(path)
    sync(path.parent)
    return True


def _is_alone(connection: apsw.Connection) -> bool:
    """Whether nobody else has the file open; if so, its log is moved into the file."""
    if file_system() is None:
        return False
    connection.set_busy_timeout(0)
    try:
        return bool(connection.pragma("journal_mode", "delete") == "delete")
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(BUSY_MILLISECONDS)


def _copy_sealed(connection: apsw.Connection, copy: Path, version: int) -> None:
    _remove(copy)  # a process that was killed may have left one
    create_private(copy)
    reserve(connection)
    connection.execute("VACUUM INTO ?", (str(copy.absolute()),))
    seal_pages(copy)
    with closing(open_database(str(copy))) as made:
        made.pragma("user_version", version)
        made.pragma("journal_mode", "wal")
    sync(copy)


def _remove(copy: Path) -> None:
    for part in _PARTS:
        Path(f"{copy}{part}").unlink(missing_ok=True)
