"""Compaction of change logs by age: every change for an hour, then one record per item and second, then none.

Older states are restored to the second, so of the changes of an item within one second only the first is needed: it has
the image before that second. Records older than the recovery period are deleted. Both happen in small steps, each of
which continues where the last one ended.
"""

from __future__ import annotations

from typing import Any, Final

import apsw

from partita.store.embedded.points._change_log import DAY, SECOND, first_after, has_settings, microseconds
from partita.store.embedded.points._settings import EXACT

BATCH: Final = 5_000
_SQL_SETTINGS: Final = "SELECT table_id, days, since, merged FROM recovery"


def compact_logs(connection: apsw.Connection, now: float) -> int:
    """Compact some records of each log. Return the number of records examined, 0 if nothing is left to do."""
    if not has_settings(connection):
        return 0
    rows: list[Any] = connection.execute(_SQL_SETTINGS).fetchall()
    looked_at = 0
    for table_id, days, since, merged in rows:
        looked_at += _trim(connection, table_id, microseconds(now) - days * DAY, since)
        looked_at += _merge(connection, table_id, microseconds(now) - EXACT, merged)
    return looked_at


def _trim(connection: apsw.Connection, table_id: int, oldest: int, since: int) -> int:
    """Delete records that are only needed for instants before the oldest one, with a margin of one second."""
    cut = oldest // SECOND * SECOND - SECOND
    if cut <= since:
        return 0
    last = connection.execute(
        f"SELECT max(sequence) FROM (SELECT sequence, at FROM points_{table_id} ORDER BY sequence LIMIT {BATCH}) "
        "WHERE at <= ?",
        (cut,),
    ).get
    if last is None:
        return 0
    reached = connection.execute(f"SELECT at FROM points_{table_id} WHERE sequence = ?", (last,)).get
    connection.execute(f"DELETE FROM points_{table_id} WHERE sequence <= ?", (last,))
    dropped = connection.changes()
    connection.execute("UPDATE recovery SET since = ? WHERE table_id = ?", (reached, table_id))
    return dropped


def _merge(connection: apsw.Connection, table_id: int, newest: int, merged: int) -> int:
    """Keep only the first record per item and second, for whole seconds up to `newest`."""
    newest = newest // SECOND * SECOND
    first = first_after(connection, table_id, merged)
    if merged >= newest or first is None:
        return 0
    at = f"SELECT at FROM points_{table_id} WHERE sequence >= ? ORDER BY sequence"
    some = connection.execute(f"{at} LIMIT 1 OFFSET {BATCH}", (first,)).get
    end = newest if some is None else min(newest, -(-some // SECOND) * SECOND)
    following = first_after(connection, table_id, end)
    if following is None:
        following = connection.execute(f"SELECT max(sequence) FROM points_{table_id}").get + 1
    if following == first:
        return 0
    span = f"FROM points_{table_id} WHERE sequence >= {first} AND sequence < {following}"
    kept = f"SELECT min(sequence) {span} GROUP BY (at + {SECOND - 1}) / {SECOND}, hh, hk, rk"
    connection.execute(f"DELETE {span} AND sequence NOT IN ({kept})")
    connection.execute("UPDATE recovery SET merged = ? WHERE table_id = ?", (end, table_id))
    return following - first
