"""A projection of the change stream: counts by status, places of waiting requests, and decisions per second.

There is one row for each request; triggers keep the counts in step with it, so that everything changes in one commit.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

import apsw
from msgspec import Struct

from partita.change import ItemChange, SqliteProjection
from partita.model import instant_text
from partita_services.events.terms import Status

_TABLES: Final = """
CREATE TABLE requests (
    request_id TEXT PRIMARY KEY, event_id TEXT NOT NULL, status TEXT NOT NULL, queued_at TEXT NOT NULL,
    finished_at TEXT, batch TEXT
) WITHOUT ROWID;
CREATE INDEX unsent ON requests (batch) WHERE status = 'RECEIVED';
CREATE TABLE sent (batch TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX waiting ON requests (event_id, queued_at) WHERE finished_at IS NULL;
CREATE TABLE counts (
    event_id TEXT NOT NULL, status TEXT NOT NULL, requests INTEGER NOT NULL, PRIMARY KEY (event_id, status)
) WITHOUT ROWID;
CREATE TABLE seconds (
    event_id TEXT NOT NULL, second TEXT NOT NULL, decided INTEGER NOT NULL, PRIMARY KEY (event_id, second)
) WITHOUT ROWID;
CREATE TRIGGER request_added AFTER INSERT ON requests BEGIN
    INSERT INTO counts VALUES (new.event_id, new.status, 1) ON CONFLICT DO UPDATE SET requests = requests + 1;
    INSERT INTO seconds SELECT new.event_id, substr(new.finished_at, 1, 19), 1 WHERE new.finished_at IS NOT NULL
        ON CONFLICT DO UPDATE SET decided = decided + 1;
END;
CREATE TRIGGER request_removed AFTER DELETE ON requests BEGIN
    UPDATE counts SET requests = requests - 1 WHERE event_id = old.event_id AND status = old.status;
    UPDATE seconds SET decided = decided - 1
        WHERE event_id = old.event_id AND second = substr(old.finished_at, 1, 19);
END;
CREATE TRIGGER request_queued AFTER UPDATE OF status ON requests BEGIN
    UPDATE counts SET requests = requests - 1 WHERE event_id = old.event_id AND status = old.status;
    INSERT INTO counts VALUES (new.event_id, new.status, 1) ON CONFLICT DO UPDATE SET requests = requests + 1;
END;
"""

_AHEAD: Final = (
    "SELECT count(*) FROM requests WHERE event_id = ? AND (queued_at, request_id) <= (?, ?) AND finished_at IS NULL"
)
_ADD: Final = (
    "INSERT INTO requests SELECT ?, ?, "
    "CASE WHEN ? = 'RECEIVED' AND EXISTS (SELECT 1 FROM sent WHERE batch = ?) THEN 'QUEUED' ELSE ? END, ?, ?, ? "
    "WHERE true ON CONFLICT DO NOTHING"
)
_REMOVE: Final = "DELETE FROM requests WHERE request_id = ?"
_REQUEST: Final = "REQ#"
_SENT: Final = "SENT#"


class Second(Struct, frozen=True):
    """How many requests were decided in one second."""

    second: datetime
    decided: int


class RequestProjection(SqliteProjection):
    """Figures about the requests of each event, as far as the changes of the table have been read."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, tables=_TABLES, apply=_apply)

    def status(self, request_id: str) -> Status | None:
        """The status of a request; None if none of its changes has been read yet."""
        rows = self.read("SELECT status FROM requests WHERE request_id = ?", [f"REQ#{request_id}"])
        return Status(rows[0][0]) if rows else None

    def counts(self, event_id: str) -> dict[Status, int]:
        """How many requests an event has in each status."""
        found = dict(self.read("SELECT status, requests FROM counts WHERE event_id = ?", [event_id]))
        return {status: found.get(status, 0) for status in Status}

    def oldest_waiting(self, event_id: str) -> datetime | None:
        """When the oldest waiting request was queued; None if none waits."""
        sql = "SELECT min(queued_at) FROM requests WHERE event_id = ? AND finished_at IS NULL"
        [(oldest,)] = self.read(sql, [event_id])
        return None if oldest is None else datetime.fromisoformat(oldest)

    def position(self, event_id: str, queued_at: datetime, request_id: str) -> int:
        """How many waiting requests were queued no later than this one, by its stored time."""
        [(ahead,)] = self.read(_AHEAD, [event_id, instant_text(queued_at), f"REQ#{request_id}"])
        return int(ahead)

    def seconds(self, event_id: str, since: datetime) -> list[Second]:
        """How many requests were decided in each second since then; seconds without any are omitted."""
        sql = "SELECT second, decided FROM seconds WHERE event_id = ? AND second >= ? AND decided > 0 ORDER BY second"
        rows = self.read(sql, [event_id, f"{since:%Y-%m-%dT%H:%M:%S}"])
        return [Second(datetime.fromisoformat(f"{second}Z"), decided) for second, decided in rows]


def _apply(connection: apsw.Connection, change: ItemChange) -> None:
    """Replace the row of a request by its current state, or record that the queue has a batch."""
    # By key, because finding the entity takes as long as all the rest, and there are very many changes, also of locks.
    key, part = change.keys["PK"], change.keys["SK"]
    if part != "META":
        return
    if key.startswith(_REQUEST):
        _apply_request(connection, change)
    elif key.startswith(_SENT):
        _apply_batch(connection, change)


def _apply_request(connection: apsw.Connection, change: ItemChange) -> None:
    request_id, item = change.keys["PK"], change.new_item
    if item is not None:
        # Stored attributes are read directly, because an entity for each change would take longer than all the rest.
        status, batch = item["status"], item.get("batchId")
        row = (request_id, item["eventId"], status, batch, status, item["queuedAt"], item.get("finishedAt"), batch)
        connection.execute(_ADD, row)
        if connection.changes():
            return  # it is new, as most are
        connection.execute(_REMOVE, (request_id,))
        connection.execute(_ADD, row)
    else:
        connection.execute(_REMOVE, (request_id,))


def _apply_batch(connection: apsw.Connection, change: ItemChange) -> None:
    """Mark the requests of a batch as queued: those that are known, and those whose stream shard is read later."""
    batch = change.keys["PK"].removeprefix(_SENT)
    if change.new_item is None:
        connection.execute("DELETE FROM sent WHERE batch = ?", (batch,))
        return
    connection.execute("INSERT OR IGNORE INTO sent VALUES (?)", (batch,))
    connection.execute("UPDATE requests SET status = 'QUEUED' WHERE batch = ? AND status = 'RECEIVED'", (batch,))
