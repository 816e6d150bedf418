"""What has changed last: a part of a projection that remembers the newest changes, for those who listen to them.

A projection has it by its tables (`RECENT_CHANGES`), notes what its changes are about (`note_change`), and is asked
what came after a number (`changes_after`).
"""

from __future__ import annotations

import json
from collections.abc import Collection
from hashlib import blake2b
from typing import Final

import apsw
from msgspec import Struct

from partita.change._projection import SqliteProjection

RECENT_CHANGES: Final = """
CREATE TABLE recent_changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, item TEXT NOT NULL, UNIQUE (topic, item)
);
INSERT INTO recent_changes VALUES (abs(random() % 1000000000000), '', '');  -- those of an older file mean nothing here
"""
"""The statements that a projection has among its tables."""

REMEMBERED: Final = 10_000
"""So many are remembered, of all topics together."""
_FORGOTTEN_TOGETHER: Final = 64
"""So many are forgotten by one statement; until then they are stored, and nobody is told of them."""
MAX_CHANGES: Final = 100
"""Who is further behind reads everything again."""


class RecentChanges(Struct, frozen=True):
    """What has changed after a number."""

    number: int
    """Where to go on."""
    items: tuple[str, ...] = ()
    """Each once, in the order in which they have changed last."""
    is_forgotten: bool = False
    """Whether more has changed than is remembered: read everything again."""


def note_change(connection: apsw.Connection, topic: str, item: str) -> None:
    """Remember that an item of a topic has changed. What a topic is called is not stored, only its hash."""
    connection.execute("INSERT OR REPLACE INTO recent_changes VALUES (NULL, ?, ?)", (_hashed(topic), item))
    number = connection.last_insert_rowid()
    if number % _FORGOTTEN_TOGETHER == 0:
        connection.execute("DELETE FROM recent_changes WHERE number <= ?", (number - REMEMBERED,))


def changes_after(projection: SqliteProjection, number: int | None, topics: Collection[str]) -> RecentChanges:
    """What has changed of some topics after a number; None asks from where on to listen."""
    ((last,),) = projection.read("SELECT max(number) FROM recent_changes")
    if number is None or number == last:
        return RecentChanges(last)
    if not last - REMEMBERED <= number < last:
        return RecentChanges(last, is_forgotten=True)
    sql = (
        "SELECT item FROM recent_changes WHERE topic IN (SELECT value FROM json_each(?)) "
        "AND number > ? AND number <= ? ORDER BY number LIMIT ?"
    )
    rows = projection.read(sql, [json.dumps([_hashed(topic) for topic in topics]), number, last, MAX_CHANGES + 1])
    if len(rows) > MAX_CHANGES:
        return RecentChanges(last, is_forgotten=True)
    return RecentChanges(last, tuple(dict.fromkeys(item for (item,) in rows)))


def _hashed(topic: str) -> str:
    """Enough to ask for one's own, and not to know whose another is."""
    return blake2b(topic.encode(), digest_size=16).hexdigest()
