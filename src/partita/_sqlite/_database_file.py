"""A database file for its owner alone, connections to it, and what its header says.

The file is only opened through SQLite: closing any other handle of it in this process would drop the locks that SQLite
holds.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Final

import apsw
from msgspec import Struct

from partita._sqlite._errors import moved
from partita._sqlite._file_system import CHECKSUM_BYTES, file_system
from partita._sqlite._fork import close_untouched_at_fork
from partita.errors import StoreDamaged, StoreError, StoreReadOnly
from partita.runtime import close_to_others, create_private

MEMORY: Final = ":memory:"
BUSY_MILLISECONDS: Final = 60_000
CHECKPOINT_PAGES: Final = 4_000
"""So long a log is brought into the file; SQLite finds as many pages in it with a single look."""
_CACHED_STATEMENTS: Final = 500
_CACHE_KILOBYTES: Final = 16 * 1024
"""Of each connection. It has the pages of about 2,000 items that are read again and again in a file of any size."""
_WAL_BYTES: Final = 64 * 1024 * 1024
_EXISTING: Final = apsw.SQLITE_OPEN_READWRITE
_HEADER_BYTES: Final = 100
_RESERVED: Final = 20
"""Where the header says how many bytes of each page are not SQLite's."""
_MAGIC: Final = b"SQLite format 3\0"
_PARTS: Final = ("", "-wal", "-shm", "-journal", ".lock", ".turn")


class FileHeader(Struct, frozen=True):
    """Which program a database file belongs to, and in which version of its format it is."""

    application_id: int
    user_version: int
    page_size: int
    has_checksums: bool


def read_header(path: str) -> FileHeader | None:
    """The header of a database file; None if the file is empty.

    Raises:
        StoreDamaged: the file is not a database.
    """
    header = _first_bytes(path)
    if not header:
        return None
    if not header.startswith(_MAGIC):
        raise StoreDamaged(f"The file {path} is not a database.", hint="Choose another path.")
    page_size = int.from_bytes(header[16:18], "big")
    has_checksums = len(header) > _RESERVED and header[_RESERVED] == CHECKSUM_BYTES
    return FileHeader(_number(header, 68), _number(header, 60), page_size, has_checksums)


def _first_bytes(path: str) -> bytes:
    """The header alone: in the middle of a checkpoint the file by itself is torn, its log completes it."""
    flags = [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0]
    file = apsw.VFSFile("", str(Path(path).absolute()), flags)
    try:
        size = file.xFileSize()
        return file.xRead(min(size, _HEADER_BYTES), 0) if size else b""
    finally:
        file.xClose()


def _number(header: bytes, offset: int) -> int:
    return int.from_bytes(header[offset : offset + 4], "big")


def make_private(path: str) -> None:
    """Make the file of a database before SQLite does, for its owner alone; close one that is there to others.

    SQLite gives the log and whatever else it puts beside the file the mode of the file. Only one thread at a time may
    make the same file: a second could lose its locks when the first closes its handle.

    Raises:
        StoreError: there is a link to nothing.
    """
    try:
        create_private(Path(path))
    except FileExistsError as error:
        if not Path(path).exists():
            raise StoreError(f"The path {path} is a link to nothing.", hint="Remove the link.") from error
        close_to_others(Path(f"{path}{part}") for part in _PARTS)


def open_database(path: str, flags: int = _EXISTING, *, cached_statements: int = 100) -> apsw.Connection:
    """A connection that compares the checksums of pages, and keeps them, where the file has them.

    Raises:
        StoreError: it has them, and they cannot be kept here.
    """
    checking = file_system()
    if checking is None and path != MEMORY and Path(path).exists():
        header = read_header(path)
        if header is not None and header.has_checksums:
            hint = "Install apsw from its wheel, and use SQLite's own file system."
            raise StoreError(f"The pages of {path} have checksums, which cannot be kept here.", hint=hint)
    return apsw.Connection(path, flags, vfs=checking, statementcachesize=cached_statements)


def connect(path: str, *, durable: bool) -> apsw.Connection:
    """A connection with the library's settings; where it is durable, each commit waits for the disk.

    The file must be there. What is deleted through it is overwritten.
    """
    connection = open_database(path, cached_statements=_CACHED_STATEMENTS)
    if path != MEMORY:
        close_untouched_at_fork(connection, path)
    if connection.readonly("main"):
        connection.close()
        raise StoreReadOnly(f"The store {path} cannot be written.")
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.pragma("synchronous", "full" if durable else "off")
    connection.pragma("journal_size_limit", _WAL_BYTES)
    connection.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
    connection.pragma("cache_size", -_CACHE_KILOBYTES)
    connection.pragma("secure_delete", True)  # also whole pages, which "fast" leaves as they were
    return connection


def refuse_moved(connection: apsw.Connection, has_moved: array[int] | None = None) -> None:
    """Refuse a file that is not at its path any more: nobody would find what is written to it.

    `has_moved` is where SQLite writes what it finds; who asks often keeps one.

    Raises:
        StoreMoved: it was moved or deleted.
    """
    if has_moved is None:
        has_moved = moved_flag()
    address, _ = has_moved.buffer_info()
    if connection.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, address) and has_moved[0]:
        raise moved(connection.filename)


def moved_flag() -> array[int]:
    """Room for what `refuse_moved` asks for; for one thread at a time."""
    return array("i", [0])


def file_number(path: str) -> int | None:
    """What tells the file at a path from another one; None where there is none."""
    return Path(path).stat().st_ino if Path(path).exists() else None


def erase_log(connection: apsw.Connection) -> None:
    """Bring the log into the file and cut it off: it has the pages as they were before something was deleted.

    Does nothing while somebody reads what the log has; the next call will.
    """
    connection.set_busy_timeout(0)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)  # the most of it, while others write
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        pass
    finally:
        connection.set_busy_timeout(BUSY_MILLISECONDS)
