"""Shards of a stream: a stream begins with one shard, which can be split; two adjacent shards can be merged.

Each shard has the records of a range of partition key hashes, in its own table. A shard that is split or merged is
closed, and its children continue after its last sequence. So the changes of one key stay in order: first those of the
parent, then those of the child.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import apsw

from partita._sqlite import Handler
from partita.errors import TableNotFound, ValidationFailed
from partita.store._requests import Request
from partita.store.embedded import _streams
from partita.store.embedded._connection import Writer
from partita.store.embedded._table import HASHES, Stream, Table

_SQL_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS stream_shards (
        id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,
        parent INTEGER, other_parent INTEGER, start INTEGER NOT NULL
    )
"""
_SQL_SHARD: Final = "SELECT stream, low, high, start FROM stream_shards WHERE id = ?"
_SQL_BEFORE_FIRST: Final = (
    "SELECT max(trimmed, start) FROM stream_shards JOIN streams ON streams.id = stream_shards.id WHERE streams.id = ?"
)
_MAX_PARTS: Final = 1_000


class SplitShard(Request[tuple[str, ...]], frozen=True):
    """Split an open shard into parts of about the same size. The response is their identifiers."""

    table: str
    shard: str
    parts: int = 2


class MergeShards(Request[str], frozen=True):
    """Merge two adjacent open shards. The response is the identifier of the new one."""

    table: str
    first: str
    second: str


def split_shard(writer: Writer, request: SplitShard) -> tuple[str, ...]:
    """Close the shard, and open its parts.

    Raises:
        TableNotFound: there is no such open shard. ValidationFailed: it cannot be split into so many parts.
    """
    table, connection = writer.table(request.table), writer.connection
    connection.execute(_SQL_TABLE)
    number, (stream, low, high, _) = _open_shard(connection, table, request.shard)
    if not 2 <= request.parts <= min(_MAX_PARTS, high - low):  # noqa: PLR2004 - one part is not a split
        raise ValidationFailed(f"A shard cannot be split into {request.parts} parts.")
    bounds = [low + (high - low) * part // request.parts for part in range(request.parts + 1)]
    start = _close(writer, number)
    made = [
        _begin(writer, table, (stream, bounds[part], bounds[part + 1], number, None, start))
        for part in range(request.parts)
    ]
    writer.catalog_changed()
    return tuple(_streams.shard_id(each) for each in made)


def merge_shards(writer: Writer, request: MergeShards) -> str:
    """Close two shards, and open one for both ranges.

    Raises:
        TableNotFound: there is no such open shard. ValidationFailed: the shards are not adjacent.
    """
    table, connection = writer.table(request.table), writer.connection
    connection.execute(_SQL_TABLE)
    shards = [_open_shard(connection, table, shard) for shard in (request.first, request.second)]
    (first, (stream, low, middle, _)), (second, (_, also_middle, high, _)) = sorted(shards, key=lambda each: each[1][1])
    if middle != also_middle:
        raise ValidationFailed("Only adjacent shards can be merged.")
    start = max(_close(writer, first), _close(writer, second))
    made = _begin(writer, table, (stream, low, high, first, second, start))
    writer.catalog_changed()
    return _streams.shard_id(made)


def _open_shard(connection: apsw.Connection, table: Table, shard: str) -> tuple[int, tuple[int, int, int, int]]:
    """The number of an open shard, and its stream, range and start."""
    number = _streams.number_of(shard)
    opened = connection.execute(
        "SELECT 1 FROM streams WHERE table_id = ? AND id = ? AND closed_at IS NULL", (table.id, number)
    ).get
    if opened is None:
        raise TableNotFound(f"Requested resource not found: Open shard {shard} does not exist")
    found: Any = connection.execute(_SQL_SHARD, (number,)).fetchone()
    if found is None:  # the first shard of a stream
        found = (number, 0, HASHES, 0)
        connection.execute("INSERT INTO stream_shards VALUES (?, ?, ?, ?, NULL, NULL, ?)", (number, *found))
    return number, found


def _close(writer: Writer, number: int) -> int:
    """Close a shard, and return the sequence after which its children begin."""
    connection = writer.connection
    # `verify` compares a table with a single complete shard, so a stream with several shards is not complete.
    connection.execute("UPDATE streams SET closed_at = ?, complete = 0 WHERE id = ?", (writer.clock(), number))
    last: int | None = connection.execute(f"SELECT max(sequence) FROM changes_{number}").get
    return last or connection.execute(_SQL_BEFORE_FIRST, (number,)).get


def _begin(writer: Writer, table: Table, shard: tuple[int, int, int, int, int | None, int]) -> int:
    stream: Stream | None = table.stream
    if stream is None:
        raise TableNotFound("Requested resource not found: The stream is disabled")
    connection = writer.connection
    label = connection.execute("SELECT label FROM streams WHERE id = ?", (shard[3],)).get
    number = _streams.open_shard(connection, table.id, label, stream.view, complete=False)
    connection.execute("INSERT INTO stream_shards VALUES (?, ?, ?, ?, ?, ?, ?)", (number, *shard))
    return number


RESHARDING: Final[Mapping[type, Handler]] = {SplitShard: split_shard, MergeShards: merge_shards}
"""The function that executes each write about shards, by the type of the request."""
