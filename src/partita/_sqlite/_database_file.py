"""A database file that only its owner can access, connections to it, and its header.

The file is opened only through SQLite: with POSIX locks, closing any other descriptor of the file in this process would
drop the locks that SQLite holds.
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
from partita.errors import OperationError, StoreDamaged, StoreError, StoreReadOnly
from partita.runtime import close_to_others, create_private

MEMORY: Final = ":memory:"
BUSY_MILLISECONDS: Final = 60_000
CHECKPOINT_PAGES: Final = 4_000
"""The length of the log at which it is checkpointed; up to this, SQLite finds a page in it with a single lookup."""
_CACHED_STATEMENTS: Final = 500
_CACHE_KILOBYTES: Final = 16 * 1024
"""The page cache of each connection. It holds the pages of about 2,000 often-read items in a file of any size."""
_WAL_BYTES: Final = 64 * 1024 * 1024
_EXISTING: Final = apsw.SQLITE_OPEN_READWRITE
_HEADER_BYTES: Final = 100
_RESERVED: Final = 20
"""The offset in the header of the number of bytes in each page that SQLite does not use."""
_MAGIC: Final = b"SQLite format 3\0"
_PARTS: Final = ("", "-wal", "-shm", "-journal", ".lock", ".turn")


def path_text(path: object) -> str:
    """The path of a database file as text.

    Raises:
        OperationError: it is not a path. As text, None would be a file named None.
    """
    if not isinstance(path, str | Path) or "\0" in str(path):
        raise OperationError(f"{path!r:.80} is not the path of a file.", hint="Pass a str or a Path.")
    return str(path)


class FileHeader(Struct, frozen=True):
    """The program that a database file belongs to, and the version of its format."""

    application_id: int
    user_version: int
    page_size: int
    has_checksums: bool


def read_header(path: str) -> FileHeader | None:
    """Return the header of a database file; None if the file is empty.

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
    """Read only the header: during a checkpoint the file is inconsistent without its log."""
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
    """Create a database file that only its owner can access, before SQLite does; restrict an existing file likewise.

    SQLite gives the log and its other files the mode of the database file. Only one thread at a time may create the
    same file: a second thread could lose its locks when the first closes its descriptor.

    Raises:
        StoreError: the path is a dangling link.
    """
    try:
        create_private(Path(path))
    except FileExistsError as error:
        if not Path(path).exists():
            raise StoreError(f"The path {path} is a link to nothing.", hint="Remove the link.") from error
        close_to_others(Path(f"{path}{part}") for part in _PARTS)


def open_database(path: str, flags: int = _EXISTING, *, cached_statements: int = 100) -> apsw.Connection:
    """Return a connection that verifies and updates page checksums if the file has them.

    Raises:
        StoreError: the file has checksums, which this process cannot maintain.
    """
    checking = file_system()
    if checking is None and path != MEMORY and Path(path).exists():
        header = read_header(path)
        if header is not None and header.has_checksums:
            hint = "Install apsw from its wheel, and use SQLite's own file system."
            raise StoreError(f"The pages of {path} have checksums, which this process cannot maintain.", hint=hint)
    return apsw.Connection(path, flags, vfs=checking, statementcachesize=cached_statements)


def connect(path: str, *, durable: bool) -> apsw.Connection:
    """Return a connection with the library's settings; if `durable`, each commit waits for the disk.

    The file must exist. Data that is deleted through the connection is overwritten.
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
    connection.pragma("secure_delete", True)  # overwrites whole pages too, unlike "fast"
    return connection


def refuse_moved(connection: apsw.Connection, has_moved: array[int] | None = None) -> None:
    """Refuse a file that is not at its path any more, because nobody would find data that is written to it.

    `has_moved` is the buffer that SQLite writes its result to; callers that check often pass the same one.

    Raises:
        StoreMoved: the file was moved or deleted.
    """
    if has_moved is None:
        has_moved = moved_flag()
    address, _ = has_moved.buffer_info()
    if connection.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, address) and has_moved[0]:
        raise moved(connection.filename)


def moved_flag() -> array[int]:
    """Return a result buffer for `refuse_moved`, to be used by one thread at a time."""
    return array("i", [0])


def file_number(path: str) -> int | None:
    """The inode number of the file at a path; None if there is no file."""
    return Path(path).stat().st_ino if Path(path).exists() else None


def erase_log(connection: apsw.Connection) -> None:
    """Checkpoint the log and truncate it, because it contains pages from before a deletion.

    The log is left as it is while somebody reads from it; the next call then truncates it.
    """
    connection.set_busy_timeout(0)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)  # most of the log, while others still write
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        pass
    finally:
        connection.set_busy_timeout(BUSY_MILLISECONDS)
