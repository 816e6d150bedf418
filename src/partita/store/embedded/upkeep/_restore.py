"""Replacing a store that no process uses with a backup."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import apsw

from partita import _sqlite
from partita._sqlite import ProcessLock
from partita.errors import StoreBusy, StoreDamaged, StoreNewer
from partita.runtime import close_to_others, sync
from partita.store.embedded import _file, _streams, points
from partita.store.embedded.upkeep._backup import copy_pages, remove
from partita.store.embedded.upkeep._effort import Progress
from partita.store.embedded.upkeep._upgrade import upgrade
from partita.store.embedded.upkeep._verify import verify

_LOG: Final = "-wal"
_PARTS: Final = ("", _LOG, "-shm")
_SQL_OPEN_STREAMS: Final = "SELECT DISTINCT table_id, view FROM streams WHERE closed_at IS NULL"
_SQL_LAST_NUMBER: Final = "SELECT max(seq) FROM sqlite_sequence WHERE name = 'streams'"
_SQL_NUMBER_FROM: Final = (
    "DELETE FROM sqlite_sequence WHERE name = 'streams'; INSERT INTO sqlite_sequence (name, seq) VALUES ('streams', ?)"
)


@contextmanager
def unused(path: Path) -> Iterator[None]:
    """Prevent all processes from opening or creating a store at a path while the block runs.

    Raises:
        StoreBusy: a process uses the store.
    """
    with _sqlite.translating(str(path)), closing(ProcessLock(path)) as lock:
        if not lock.acquire(blocking=False):
            raise _busy(path)
        _refuse_used(path)
        _settle(path)
        yield


def replace_with_backup(backup: Path, path: Path, now: float, progress: Progress | None = None) -> Path | None:
    """Replace the store at a path with a copy of a backup. Call this within `unused`.

    Returns the name under which the old file is kept, or None if there was none. The store gets new streams, so that
    consumers of the old ones raise `RebuildRequired`.

    Raises:
        StoreError: the backup is not a valid store; nothing was changed.
    """
    fresh = path.with_name(path.name + ".restoring")
    with _sqlite.translating(str(path)):
        remove(fresh)  # may be left over from a killed restore
        try:
            copy_sound(backup, fresh, now, progress)
            return _replace(path, fresh, now)
        finally:
            remove(fresh)


def _busy(path: Path) -> StoreBusy:
    return StoreBusy(f"The store {path} is in use.", hint="First stop `partita serve` and all other users of it.")


def _refuse_used(path: Path) -> None:
    """Raise StoreBusy if the store is open: open stores hold SQLite's shared lock, even if the content is damaged."""
    if not path.exists():
        return
    flags = [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0]
    file = apsw.VFSFile("", str(path.absolute()), flags)
    try:
        file.xLock(apsw.SQLITE_LOCK_SHARED)
        file.xLock(apsw.SQLITE_LOCK_EXCLUSIVE)
        file.xUnlock(apsw.SQLITE_LOCK_NONE)
    except apsw.BusyError as error:
        raise _busy(path) from error
    finally:
        file.xClose()


def _settle(path: Path) -> None:
    """Checkpoint the log of a readable store into its file, so that the file alone is complete.

    So there is a complete store at the path whenever a restore is interrupted: the old one or the new one.
    """
    with suppress(StoreDamaged, StoreNewer):  # a file that is not a store of this version is kept as it is
        if _file.is_new(str(path)):
            return
        connection = _sqlite.open_database(str(path))
        try:
            connection.execute("SELECT generation FROM store").fetchall()
        except apsw.Error:
            _sqlite.close_untouched(connection)
        else:
            connection.close()


def copy_sound(backup: Path, fresh: Path, now: float, progress: Progress | None = None) -> None:
    """Copy a backup to a new file that can replace a store: verified, and with new streams.

    Raises:
        StoreDamaged: the backup is not a valid store. StoreNewer: a newer version wrote it.
    """
    try:
        with closing(_open_backup(backup)) as source:
            copy_pages(source, fresh, progress)
        with closing(_file.connect(str(fresh), durable=True)) as connection, _sqlite.translating(str(backup)):
            upgrade(connection)  # it may have an earlier format
            _file.add_checksums(connection, str(fresh))
        with closing(_file.connect(str(fresh), durable=True)) as connection:
            with _sqlite.translating(str(backup)):
                verify(connection, str(backup))
            connection.pragma("journal_mode", "wal")  # the backup of a store in memory has another mode
            with connection:
                _begin_streams(connection, now)
                points.restart_all(connection, now)
    except StoreDamaged as error:
        raise _unsound(error.message) from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
        raise _unsound(f"The store {backup} is damaged ({error}).") from error
    sync(fresh)


def _unsound(message: str) -> StoreDamaged:
    return StoreDamaged(message, hint="Choose another backup; nothing was changed.")


def _open_backup(backup: Path) -> apsw.Connection:
    """Open a backup without creating files next to it. If it has a log, the log is read too."""
    with _sqlite.translating(str(backup)):
        if _file.is_new(str(backup)):
            raise StoreDamaged(f"The file {backup} is empty.")
        alone = "" if Path(f"{backup}{_LOG}").exists() else "?immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"file:{quote(str(backup.absolute()))}{alone}", flags, vfs=_sqlite.file_system())


def _begin_streams(connection: apsw.Connection, now: float) -> None:
    """Begin new streams, with numbers that no previous restore of this backup has used.

    In the old streams, sequences would be reused for other changes, which consumers would skip.
    """
    last = connection.execute(_SQL_LAST_NUMBER).get or 0
    connection.execute(_SQL_NUMBER_FROM, (max(last, int(now * 1_000)),))
    streams: list[Any] = connection.execute(_SQL_OPEN_STREAMS).fetchall()
    for table_id, view in streams:
        _streams.disable(connection, table_id, now)
        _streams.enable(connection, table_id, view, now, complete=False)


def _replace(path: Path, fresh: Path, now: float) -> Path | None:
    _refuse_used(path)  # a program that does not use our lock may have opened it
    kept = _keep(path, now)
    for part in _PARTS[1:]:
        Path(f"{path}{part}").unlink(missing_ok=True)
    fresh.replace(path)
    sync(path.parent)
    return kept


def _keep(path: Path, now: float) -> Path | None:
    """Give the existing file, and the log that remains if it could not be read, a second name."""
    kept = path.with_name(f"{path.name}.before-{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%S.%fZ}")
    there = [part for part in ("", _LOG) if Path(f"{path}{part}").exists()]
    for part in there:
        os.link(f"{path}{part}", f"{kept}{part}")
    close_to_others(Path(f"{kept}{part}") for part in there)
    sync(path.parent)  # before the first name is removed
    return kept if there else None
