"""Change streams: one record for each change of an item, written in the same transaction.

Each enabled stream has one shard, stored in its own table, until it is split (`upkeep/_reshard.py`). Disabling a stream
closes its shards; their records stay readable until they are trimmed. Enabling it again creates a new stream.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import apsw

from partita.errors import StreamTrimmed, TableNotFound, ValidationFailed
from partita.store._requests import (
    DescribeStream,
    FindInStream,
    ReadStream,
    Shard,
    StreamDescription,
    StreamPage,
    StreamPosition,
    StreamRecord,
)
from partita.store._schema import StreamView
from partita.store.embedded._file import has_table
from partita.values import decode_item, encode_item, item_size

if TYPE_CHECKING:
    from partita.store.embedded._connection import Reader
    from partita.store.embedded._planned_writes import PlannedWrite
    from partita.store.embedded._table import Table

RETENTION_SECONDS: Final = 24 * 3_600
MAX_RECORDS: Final = 1_000
MAX_BYTES: Final = 1_000_000
_SHARD: Final = "shardId-"
_MAX_DIGITS: Final = 18
_SEES_OLD: Final = ("OLD_IMAGE", "NEW_AND_OLD_IMAGES")
_SEES_NEW: Final = ("NEW_IMAGE", "NEW_AND_OLD_IMAGES")

_SQL_LATEST: Final = (
    "SELECT id, label, view, closed_at, trimmed FROM streams WHERE table_id = ? ORDER BY id DESC LIMIT 1"
)
_SQL_SHARDS: Final = (
    "SELECT streams.id, closed_at, trimmed, parent, other_parent, start FROM stream_shards "
    "JOIN streams ON streams.id = stream_shards.id WHERE stream = ? ORDER BY streams.id"
)
_SQL_SHARD: Final = "SELECT id, trimmed, closed_at FROM streams WHERE table_id = ? AND id = ?"
_SQL_RECORDS: Final = (
    "SELECT sequence, event, ifnull(CAST(keys AS BLOB), x''), CAST(old AS BLOB), CAST(new AS BLOB), at, size, by_ttl "
    "FROM changes_{} "
    "WHERE sequence > ? ORDER BY sequence LIMIT ?"
)

_SQL_FIND: Final = "SELECT sequence FROM changes_{} WHERE at >= ? ORDER BY sequence LIMIT 1"
_SQL_OUTDATED: Final = (
    "SELECT max(sequence) FROM (SELECT sequence, at FROM changes_{} ORDER BY sequence LIMIT 1000) WHERE at < ?"
)


def append(connection: apsw.Connection, planned: PlannedWrite, now: float, *, by_ttl: bool) -> None:
    """Add the record of a write to the table's stream."""
    before, after, stream = planned.before, planned.after, planned.table.stream
    assert stream is not None  # noqa: S101 - the caller has checked this
    event = "INSERT" if before is None else "REMOVE" if after is None else "MODIFY"
    keys = planned.table.key_of(after if before is None else before.item)  # type: ignore[arg-type]
    old = before if stream.view in _SEES_OLD else None
    new = planned.blob if after is not None and stream.view in _SEES_NEW else None
    size = item_size(keys) + (old.size if old else 0) + (planned.size if new else 0)
    record = (now, event, by_ttl, size, encode_item(keys), old.blob if old else None, new)
    if stream.shards:
        stream = stream.of_partition(planned.key[0])
    connection.execute(stream.sql_append, record)


def enable(connection: apsw.Connection, table_id: int, view: StreamView, now: float, *, complete: bool) -> None:
    """Create a stream. `complete`: it is created with its table, so it contains every change."""
    label = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
    open_shard(connection, table_id, label, view, complete=complete)


def open_shard(connection: apsw.Connection, table_id: int, label: str, view: StreamView, *, complete: bool) -> int:
    """Create an open shard and return its number."""
    connection.execute(
        "INSERT INTO streams (table_id, label, view, complete) VALUES (?, ?, ?, ?)",
        (table_id, label, view, complete),
    )
    number = connection.last_insert_rowid()
    connection.execute(
        f"CREATE TABLE changes_{number} (sequence INTEGER PRIMARY KEY, at REAL NOT NULL, "
        "event TEXT NOT NULL, by_ttl INTEGER NOT NULL, size INTEGER NOT NULL, "
        "keys BLOB NOT NULL, old BLOB, new BLOB)"
    )
    return number


def disable(connection: apsw.Connection, table_id: int, now: float) -> None:
    """Close the table's stream; its records stay until they are trimmed."""
    connection.execute("UPDATE streams SET closed_at = ? WHERE table_id = ? AND closed_at IS NULL", (now, table_id))


def latest_id(connection: apsw.Connection, table: Table) -> str | None:
    """The identifier of the table's current or last stream, or None."""
    row = connection.execute(_SQL_LATEST, (table.id,)).get
    return None if row is None else _identifier(_stream_of(connection, row[0]), row[1])


def _identifier(number: int, label: str) -> str:
    return f"{label}-{number}"


def _has_shards(connection: apsw.Connection) -> bool:
    return has_table(connection, "stream_shards")


def _stream_of(connection: apsw.Connection, number: int) -> int:
    """The stream of a shard, which is identified by the number of its first shard."""
    if not _has_shards(connection):
        return number
    return connection.execute("SELECT stream FROM stream_shards WHERE id = ?", (number,)).get or number


def describe_stream(reader: Reader, request: DescribeStream) -> StreamDescription:
    """Describe the table's current or last stream."""
    row = reader.connection.execute(_SQL_LATEST, (reader.table(request.table).id,)).get
    if row is None:
        raise TableNotFound(f"Requested resource not found: Stream of table {request.table} not found")
    number, label, view, closed_at, trimmed = row
    stream = _stream_of(reader.connection, number)
    is_whole = not _has_shards(reader.connection)
    rows: list[Any] = [] if is_whole else reader.connection.execute(_SQL_SHARDS, (stream,)).fetchall()
    rows = rows or [(number, closed_at, trimmed, None, None, 0)]
    shards = tuple(_shard(reader.connection, *each) for each in rows)
    return StreamDescription(_identifier(stream, label), view, closed_at is None, shards)


def _shard(
    connection: apsw.Connection,
    number: int,
    closed_at: float | None,
    trimmed: int,
    parent: int | None,
    other_parent: int | None,
    start: int,
) -> Shard:
    newest = connection.execute(f"SELECT max(sequence) FROM changes_{number}").get
    return Shard(
        shard_id(number),
        None if parent is None else shard_id(parent),
        closed_at is not None,
        trimmed,
        newest or max(trimmed, start),
        start,
        None if other_parent is None else shard_id(other_parent),
    )


def shard_id(number: int) -> str:
    """The identifier of a shard."""
    return f"{_SHARD}{number:020}"


def number_of(shard: str) -> int:
    """The number in the id of a shard; 0, which no shard has, if the id is invalid."""
    number = shard.removeprefix(_SHARD)
    return int(number) if number.isdecimal() and len(number.lstrip("0")) <= _MAX_DIGITS else 0


def read_stream(reader: Reader, request: ReadStream) -> StreamPage:
    """Read records of one shard, oldest first; fewer than the limit if they are large.

    Raises:
        StreamTrimmed: the position is older than the oldest kept record. TableNotFound: there is no such shard.
    """
    if not 1 <= request.limit <= MAX_RECORDS:
        raise ValidationFailed(f"Limit must be between 1 and {MAX_RECORDS}")
    stream, trimmed, closed_at = _found_shard(reader, request)
    if 0 < request.after < trimmed:
        raise StreamTrimmed("The data you are trying to access has been trimmed")
    records, size = [], 0
    for found in reader.connection.execute(_SQL_RECORDS.format(stream), (request.after, request.limit)):
        records.append(_record(found))
        size += records[-1].size
        if size >= MAX_BYTES:
            break
    at_end = len(records) < request.limit and size < MAX_BYTES
    return StreamPage(records, closed_at is not None and at_end)


def _found_shard(reader: Reader, request: ReadStream | FindInStream) -> tuple[int, int, float | None]:
    """The number of a shard, the sequence up to which it is trimmed, and the time when it was closed."""
    table = reader.table(request.table)
    row: Any = reader.connection.execute(_SQL_SHARD, (table.id, number_of(request.shard))).get
    if row is None:
        raise TableNotFound("Requested resource not found: Shard does not exist")
    return row  # type: ignore[no-any-return]


def find_in_stream(reader: Reader, request: FindInStream) -> StreamPosition:
    """Find the position before the first record at or after an instant.

    Raises:
        TableNotFound: there is no such shard.
    """
    number, _, _ = _found_shard(reader, request)
    sequence = reader.connection.execute(_SQL_FIND.format(number), (request.instant,)).get
    return StreamPosition(None if sequence is None else sequence - 1)


def _record(row: tuple[Any, ...]) -> StreamRecord:
    sequence, event, keys, old, new, at, size, by_ttl = row
    return StreamRecord(
        sequence,
        event,
        decode_item(keys),
        None if old is None else decode_item(old),
        None if new is None else decode_item(new),
        at,
        size,
        bool(by_ttl),
    )


def trim(connection: apsw.Connection, now: float) -> int:
    """Delete some records of each stream that are older than 24 hours, and streams that were closed before that."""
    oldest, dropped = now - RETENTION_SECONDS, 0
    closed: list[Any] = connection.execute("SELECT id FROM streams WHERE closed_at < ?", (oldest,)).fetchall()
    for (number,) in closed:
        drop_shard(connection, number)
    open_ones: list[Any] = connection.execute("SELECT id FROM streams").fetchall()
    for (number,) in open_ones:
        last = connection.execute(_SQL_OUTDATED.format(number), (oldest,)).get
        if last is not None:
            connection.execute(f"DELETE FROM changes_{number} WHERE sequence <= ?", (last,))
            dropped += connection.changes()
            connection.execute("UPDATE streams SET trimmed = ? WHERE id = ?", (last, number))
    return dropped


def drop_shard(connection: apsw.Connection, number: int) -> None:
    """Remove a shard with its records."""
    connection.execute(f"DROP TABLE changes_{number}")
    connection.execute("DELETE FROM streams WHERE id = ?", (number,))
    if _has_shards(connection):
        connection.execute("DELETE FROM stream_shards WHERE id = ?", (number,))


def drop_all(connection: apsw.Connection, table_id: int) -> None:
    """Remove all streams of a table."""
    rows: list[Any] = connection.execute("SELECT id FROM streams WHERE table_id = ?", (table_id,)).fetchall()
    for (number,) in rows:
        drop_shard(connection, number)
