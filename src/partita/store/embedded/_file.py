"""Opening the database file, and SQLite's errors in our own words.

The file is never opened but through SQLite: closing any other handle of it in this process
would drop the locks that SQLite holds. For the same reason a forked child leaves all that is open to its parent.
"""

from __future__ import annotations

import os
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import apsw
import msgspec

from partita.errors import (
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreNewer,
    StoreReadOnly,
)

APPLICATION_ID: Final = 0x50415254  # "PART"
FORMAT_VERSION: Final = 1
MEMORY: Final = ":memory:"
_BUSY_MILLISECONDS: Final = 60_000
_CACHED_STATEMENTS: Final = 500
_HEADER_BYTES: Final = 100
_MAGIC: Final = b"SQLite format 3\0"
_WAL_BYTES: Final = 64 * 1024 * 1024
_CACHE_KILOBYTES: Final = 8 * 1024
_CHECKPOINT_PAGES: Final = 4_000
"""As many as SQLite finds in the log with a single look."""

_SCHEMA: Final = f"""
    CREATE TABLE store (generation INTEGER NOT NULL);
    INSERT INTO store VALUES (1);
    CREATE TABLE tables (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        definition TEXT NOT NULL,
        created_at REAL NOT NULL
    );
    CREATE TABLE indexes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        table_id INTEGER NOT NULL,
        name TEXT NOT NULL
    );
    CREATE TABLE streams (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        table_id INTEGER NOT NULL,
        label TEXT NOT NULL,
        view TEXT NOT NULL,
        complete INTEGER NOT NULL,
        trimmed INTEGER NOT NULL DEFAULT 0,
        closed_at REAL
    );
    CREATE TABLE tokens (
        token TEXT NOT NULL PRIMARY KEY,
        digest BLOB NOT NULL,
        at REAL NOT NULL
    ) WITHOUT ROWID;
    PRAGMA application_id = {APPLICATION_ID};
    PRAGMA user_version = {FORMAT_VERSION};
"""

_MEANINGS: Final[tuple[tuple[type[apsw.Error], type[StoreError], str], ...]] = (
    (apsw.NotADBError, StoreDamaged, "is not a database"),
    (apsw.CorruptError, StoreDamaged, "is damaged"),
    (apsw.FullError, StoreFull, "cannot grow: no space is left"),
    (apsw.ReadOnlyError, StoreReadOnly, "cannot be written"),
    (apsw.PermissionsError, StoreReadOnly, "cannot be written"),
    (apsw.CantOpenError, StoreReadOnly, "cannot be opened"),
    (apsw.BusyError, StoreBusy, "is held by another program"),
    (apsw.LockedError, StoreBusy, "is held by another program"),
    (apsw.ConnectionClosedError, StoreClosed, "was closed"),
    (apsw.CursorClosedError, StoreClosed, "was closed"),
    (apsw.ThreadingViolationError, StoreClosed, "was closed"),  # only closing reaches into another thread
)

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError)
"""What decoding raises, and nothing is decoded here but what a file holds."""

TROUBLE: Final = (apsw.Error, *UNREADABLE)


def translated(error: Exception, path: str) -> StoreError:
    """The error of ours that says what one of `TROUBLE` means."""
    if isinstance(error, UNREADABLE):
        return StoreDamaged(f"The store {path} is damaged: what it holds cannot be read ({error}).")
    for kind, ours, meaning in _MEANINGS:
        if isinstance(error, kind):
            return ours(f"The store {path} {meaning} ({error}).")
    return StoreError(f"The store {path} failed: {error}.")


def closed(path: str) -> StoreError:
    """The error for whoever uses a store after it was closed."""
    return StoreClosed(f"The store {path} was closed.")


def opened_before_fork(path: str) -> StoreError:
    """The error for whoever uses a store in a child of the process that opened it."""
    return StoreError(f"The store {path} was opened before a fork.", hint="Open it in each process.")


@contextmanager
def translating(path: str, trouble: tuple[type[Exception], ...] = TROUBLE) -> Iterator[None]:
    """Turns SQLite's, the codec's and the system's errors into ours."""
    try:
        yield
    except trouble as error:
        raise translated(error, path) from error
    except PermissionError as error:
        raise StoreReadOnly(f"The store {path} cannot be written ({error.strerror}).") from error
    except OSError as error:
        raise StoreError(f"The store {path} failed: {error}.") from error


def is_new(path: str) -> bool:
    """Whether a store is still to be made at the path; what else is there is left as it is.

    Raises:
        StoreDamaged: the file is no store. StoreNewer: it is one of a newer version.
    """
    if not Path(path).parent.is_dir():
        raise StoreError(f"The folder of {path} does not exist.", hint="Create it first.")
    if Path(path).is_dir():
        raise StoreError(f"The path {path} is a folder.", hint="Name a file in it.")
    return not Path(path).exists() or _is_empty(path)


def create(path: str) -> None:
    """Make an empty store. Until it is complete, it is no store to anybody."""
    connection = connect(path, durable=True)
    connection.pragma("synchronous", "extra")  # also the journal's end: it must not come back after power loss
    try:
        create_schema(connection)
        # Only now: in the file itself, not in the log, the header tells whose file it is.
        connection.pragma("journal_mode", "wal")
    finally:
        connection.close()


def create_schema(connection: apsw.Connection) -> None:
    """Write the empty catalog, unless another process was first."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        if connection.pragma("user_version") == 0:
            connection.execute(_SCHEMA)
    connection.execute("COMMIT")


def _is_empty(path: str) -> bool:
    header = _header(path)
    if not header:
        return True
    version, application = (int.from_bytes(header[start : start + 4], "big") for start in (60, 68))
    if not header.startswith(_MAGIC):
        raise StoreDamaged(f"The file {path} is not a database.", hint="Choose another path.")
    if application != APPLICATION_ID:
        raise StoreDamaged(f"The file {path} is not a Partita store.", hint="Choose another path.")
    if version > FORMAT_VERSION:
        raise StoreNewer(f"The store {path} has format {version}; this version knows {FORMAT_VERSION}.")
    return False


def _header(path: str) -> bytes:
    """The first bytes of the file; none if it is empty.

    Nothing else is looked at: in the middle of a checkpoint the file by itself is torn, its log completes it.
    """
    flags = [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0]
    file = apsw.VFSFile("", str(Path(path).absolute()), flags)
    try:
        size = file.xFileSize()
        return file.xRead(min(size, _HEADER_BYTES), 0) if size else b""
    finally:
        file.xClose()


def connect(path: str, *, durable: bool) -> apsw.Connection:
    """A connection with our settings."""
    connection = apsw.Connection(path, statementcachesize=_CACHED_STATEMENTS)
    if path != MEMORY:
        _connections[connection] = os.path.realpath(path)
    if connection.readonly("main"):
        connection.close()
        raise StoreReadOnly(f"The store {path} cannot be written.")
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    connection.pragma("synchronous", "full" if durable else "off")
    connection.create_scalar_function("segment_of", segment_of, 2, deterministic=True)
    connection.pragma("journal_size_limit", _WAL_BYTES)
    connection.pragma("wal_autocheckpoint", _CHECKPOINT_PAGES)
    connection.pragma("cache_size", -_CACHE_KILOBYTES)
    return connection


def segment_of(*arguments: Any) -> int:
    """The segment of a scan that a partition is in; takes the key's column and the number of segments."""
    key, segments = arguments
    return zlib.crc32(key if isinstance(key, bytes) else key.encode()) % int(segments)


def close_untouched(connection: apsw.Connection) -> None:
    """Close without bringing the log into the file: what is damaged stays as it was found."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.close()


class Opened(Protocol):
    """A store, a queue or a lock that this process has opened."""

    def leave_to_parent(self) -> None:
        """This process was forked: refuse all use, and let go of what is the parent's without touching it."""
        ...


_opened: Final[weakref.WeakSet[Opened]] = weakref.WeakSet()
_connections: Final[weakref.WeakKeyDictionary[apsw.Connection, str]] = weakref.WeakKeyDictionary()
_in_use_at_fork: Final[set[str]] = set()


def leave_to_parent_at_fork(opened: Opened) -> None:
    """Have a child that is forked from now on leave this to its parent."""
    _opened.add(opened)


def refuse_if_in_use_at_fork(path: str) -> None:
    """Refuse to open a file that could not be left to the parent.

    Raises:
        StoreError: another thread was using the file when this process was forked.
    """
    if os.path.realpath(path) in _in_use_at_fork:
        message = f"The store {path} was in use by another thread when this process was forked."
        raise StoreError(message, hint="Start processes with the method spawn.")


def _after_fork() -> None:
    # First the connections: whatever else held one could drop it, and that would bring the log into the file.
    for connection, path in list(_connections.items()):
        _leave_to_parent(connection, path)
    for opened in list(_opened):
        opened.leave_to_parent()


def _leave_to_parent(connection: apsw.Connection, path: str) -> None:
    """Close a connection in the child.

    As long as it is there, SQLite takes its parent's locks for its own, and opens the file anew without any.
    """
    try:
        if connection.txn_state() != apsw.SQLITE_TXN_WRITE:  # its end would be written to memory that they share
            close_untouched(connection)
            return
    except apsw.ConnectionClosedError:
        return
    except apsw.ThreadingViolationError:  # in use, by a thread that is not in this process
        pass
    _in_use_at_fork.add(path)


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)
