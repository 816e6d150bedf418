"""Deleting expired items and old records, in bounded batches."""

from __future__ import annotations

from typing import Any, Final

from partita.store._requests import Request
from partita.store.embedded import _streams, _transactions, points, tables
from partita.store.embedded._connection import Writer
from partita.store.embedded._planned_writes import StoredItem, apply, deletion
from partita.store.embedded._table import ITEM, Table

BATCH: Final = 200
FIVE_YEARS: Final = 5 * 365 * 86_400


class DeleteExpired(Request[int], frozen=True):
    """Delete one batch of expired items. The response is the number of deleted items."""


class TrimHistory(Request[int], frozen=True):
    """Delete old stream records, old tokens and leftovers of deleted indexes, and compact change logs.

    The response is 0 when nothing is left to do.
    """


def delete_expired(writer: Writer, _: DeleteExpired) -> int:
    """Delete up to one batch of expired items, with stream records that are marked `by_ttl`."""
    deleted = 0
    for table in writer.catalog.tables.values():
        if table.schema.ttl is not None and deleted < BATCH:
            deleted += _delete_from(writer, table, BATCH - deleted)
    return deleted


def _delete_from(writer: Writer, table: Table, limit: int) -> int:
    now = writer.clock()
    columns = f"SELECT hh, hk, rk, id, size, {ITEM} FROM items_{table.id}"
    sql = f"{columns} WHERE ttl <= ? AND ttl > ? ORDER BY ttl LIMIT ?"
    rows: list[Any] = writer.connection.execute(sql, (now, now - FIVE_YEARS, limit)).fetchall()
    for hh, hk, rk, *row in rows:
        apply(writer.connection, deletion(table, (hh, hk, rk), StoredItem(tuple(row))), now, by_ttl=True)
    return len(rows)


def trim_history(writer: Writer, _: TrimHistory) -> int:
    """Delete stream records after 24 hours and tokens after ten minutes, clear leftovers, and compact change logs."""
    now, connection = writer.clock(), writer.connection
    _transactions.forget_tokens(writer, now)
    left = tables.clear_leftovers(connection)
    return _streams.trim(connection, now) + points.compact_logs(connection, now) + left
