"""Reads of an item with SQLite alone: the same row of the same file, found by the same index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from zlib import crc32

import apsw

from bench._model import TABLE, task_by_id, task_id, user_id


class BareReads:
    """A connection that reads rows of the benchmark table by their keys."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        table = connection.execute("SELECT id FROM tables WHERE name = ?", (TABLE.name,)).get
        # Without all columns of the key's index, SQLite would read the whole table.
        self._sql = f"SELECT size, item FROM items_{table} WHERE hh = ? AND hk = ? AND rk = ?"  # noqa: S608 - the table's own number

    def read(self, key: tuple[Any, ...]) -> list[Any]:
        """The row with this key."""
        return self._connection.execute(self._sql, key).fetchall()


@contextmanager
def bare_reads(path: str) -> Iterator[BareReads]:
    """Open a file for such reads."""
    connection = apsw.Connection(path)
    try:
        yield BareReads(connection)
    finally:
        connection.close()


def bare_keys(numbers: Iterable[int]) -> list[tuple[Any, ...]]:
    """The keys of tasks as the values of their columns."""
    keys = (task_by_id(user_id(n), task_id(n)).key.values() for n in numbers)
    return [(crc32(hk.encode()), hk, rk) for hk, rk in keys]
