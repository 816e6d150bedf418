"""Recent changes: a part of a projection that stores the newest changes, for clients that listen to them.

A projection includes its tables (`RECENT_CHANGES`), records the subjects of its changes (`note_change`), and is queried
for the changes after a number (`changes_after`).
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
"""SQL statements that a projection includes in its `tables`."""

REMEMBERED: Final = 10_000
"""How many changes are kept, of all topics together."""
_FORGOTTEN_TOGETHER: Final = 64
"""How many old changes one statement deletes; until then they stay stored, but are not returned."""
MAX_CHANGES: Final = 100
"""A client that has missed more changes than this reads everything again."""


class RecentChanges(Struct, frozen=True):
    """The items that have changed after a number."""

    number: int
    """The number to continue from."""
    items: tuple[str, ...] = ()
    """The changed items, each once, in the order of their last changes."""
    is_forgotten: bool = False
    """Whether more has changed than is stored or returned: read everything again."""


def note_change(connection: apsw.Connection, topic: str, item: str) -> None:
    """Record that an item of a topic has changed. Only a hash of the topic's name is stored."""
    connection.execute("INSERT OR REPLACE INTO recent_changes VALUES (NULL, ?, ?)", (_hashed(topic), item))
    number = connection.last_insert_rowid()
    if number % _FORGOTTEN_TOGETHER == 0:
        connection.execute("DELETE FROM recent_changes WHERE number <= ?", (number - REMEMBERED,))


def changes_after(projection: SqliteProjection, number: int | None, topics: Collection[str]) -> RecentChanges:
    """Return the changes of some topics after a number; with None, only the number to listen from."""
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
    """Hash a topic: whoever knows its name can query it, but the stored hash does not reveal the name."""
    return blake2b(topic.encode(), digest_size=16).hexdigest()
