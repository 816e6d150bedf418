"""The file of a queue: its tables, and opening it.

| table | holds |
| --- | --- |
| `queue` | one row: the last sequence, and when it was assigned |
| `messages` | waiting and in-flight messages; `visible_at` is when an in-flight message may be delivered again |
| `groups` | each group with messages: its first message, and until when the group is held back |
| `sent` | deduplication ids of the last five minutes, with the returned response |
| `dead` | dead letters, with their original sequence |

Times are whole microseconds, and no two messages of a queue have the same `sent_at`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import apsw

from partita import _sqlite
from partita.errors import StoreDamaged, StoreNewer
from partita.queue._interface import MAX_HIDDEN_SECONDS
from partita.runtime import Clock

APPLICATION_ID: Final = 0x50415251  # "PARQ"
FORMAT_VERSION: Final = 2
WITHOUT_CHECKSUMS: Final = 1
MICROSECONDS: Final = 1_000_000
DAMAGED: Final = "Stop the processes that use it, move the file away, and restore a backup or start an empty queue."

_SCHEMA: Final = f"""
    CREATE TABLE queue (sequence INTEGER NOT NULL, sent_at INTEGER NOT NULL);
    INSERT INTO queue VALUES (0, 0);
    CREATE TABLE messages (
        sequence INTEGER PRIMARY KEY,
        group_name TEXT NOT NULL,
        body TEXT NOT NULL,
        sent_at INTEGER NOT NULL,
        receives INTEGER NOT NULL DEFAULT 0,
        visible_at INTEGER
    );
    CREATE INDEX messages_of_group ON messages (group_name, sequence);
    CREATE INDEX messages_in_flight ON messages (group_name, visible_at) WHERE visible_at IS NOT NULL;
    CREATE TABLE groups (
        name TEXT NOT NULL PRIMARY KEY,
        first INTEGER NOT NULL,
        held_until INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
    CREATE INDEX groups_by_first ON groups (first);
    CREATE TABLE sent (
        group_name TEXT NOT NULL,
        deduplication_id TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        sent_at INTEGER NOT NULL,
        PRIMARY KEY (group_name, deduplication_id)
    ) WITHOUT ROWID;
    CREATE INDEX sent_by_time ON sent (sent_at);
    CREATE TABLE dead (
        sequence INTEGER PRIMARY KEY,
        group_name TEXT NOT NULL,
        body TEXT NOT NULL,
        sent_at INTEGER NOT NULL
    );
    PRAGMA application_id = {APPLICATION_ID};
"""


class QueueConnection:
    """A connection to the file, with the clock."""

    def __init__(self, connection: apsw.Connection, clock: Clock, max_receives: int) -> None:
        self.connection = connection
        self.max_receives = max_receives
        self._clock = clock

    def now(self) -> int:
        """The current time in microseconds."""
        return int(self._clock() * MICROSECONDS)

    def hidden(self) -> tuple[int, int]:
        """The first and last possible end of the hidden time of a message that is hidden now.

        A later end than any message can have was set by a clock that was ahead, so such a message is not hidden.
        """
        now = self.now()
        return now + 1, now + int(MAX_HIDDEN_SECONDS * MICROSECONDS)

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement with its values, and return its rows."""
        return list(self.connection.execute(statement, values))

    def refresh(self) -> None:
        """Do nothing: this class caches nothing that another process could change."""

    def forget(self) -> None:
        """Do nothing: this class caches nothing."""


def open_file(path: Path, *, durable: bool) -> apsw.Connection:
    """Open a connection to the queue at the path, and create the file if it does not exist.

    Raises:
        StoreError: the file is not a queue, or cannot be opened.
    """
    connection = _sqlite.connect(str(path), durable=durable)
    try:
        _create_or_check(connection, path)
        if durable:  # without syncs, frames may be lost from the middle of the log
            _sqlite.refuse_cut_log(connection, str(path))
        if _sqlite.add_checksums(connection, path, FORMAT_VERSION):
            connection = _sqlite.connect(str(path), durable=durable)
        connection.pragma("journal_mode", "wal")
    except BaseException:
        _sqlite.close_untouched(connection)
        raise
    return connection


def _create_or_check(connection: apsw.Connection, path: Path) -> None:
    header = _sqlite.read_header(str(path))
    if header is not None and header.user_version == FORMAT_VERSION and not header.has_checksums:
        raise StoreDamaged(f"The header of {path} is damaged: its pages should have checksums.", hint=DAMAGED)
    made_as = FORMAT_VERSION if header is None and _sqlite.reserve(connection) else WITHOUT_CHECKSUMS
    connection.execute("BEGIN IMMEDIATE")
    version, application = connection.pragma("user_version"), connection.pragma("application_id")
    is_new = not connection.pragma("schema_version")
    if is_new:
        connection.execute(f"{_SCHEMA} PRAGMA user_version = {made_as};")
    connection.execute("COMMIT")
    if not is_new and application != APPLICATION_ID:
        raise StoreDamaged(f"The file {path} is not a queue of Partita.", hint="Choose another folder.")
    if version > FORMAT_VERSION:
        raise StoreNewer(f"The queue {path} has format {version}; this version supports up to {FORMAT_VERSION}.")
