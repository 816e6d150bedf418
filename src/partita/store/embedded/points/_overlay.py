"""The past state of a table, as the current table with an overlay of the old images of items that changed since.

    temp.undone_<table>(hh, hk, rk, ttl, size, index columns, item)     one row for each item that changed since
    rows of the past = rows of the table without a row in the overlay, and rows of the overlay that have an item

The past state of a changed item is the old image of its first change after the instant. So the size of the overlay
depends on the items that changed and not on the size of the table, and it grows with changes made while it is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from typing import Any, Final

import apsw
from msgspec import Struct

from partita.store.embedded._connection import Reader
from partita.store.embedded._table import ITEM, Index, Row, Table
from partita.store.embedded.points._change_log import first_after
from partita.store.embedded.points._past_table import checked
from partita.store.embedded.points._restore import row_of

_MARK: Final = re.compile(r"\?")
_KEY: Final = "hh = ?1 AND hk = ?2 AND rk = ?3"


class RowsThen(Struct, frozen=True):
    """The past rows of a source: those of the table and of the overlay, merged in order."""

    items: str
    index: str
    undone: str
    undone_index: str

    def select(self, where: Sequence[str], order: Sequence[str], direction: str = "") -> str:
        """The statement, with the same parameters as one that reads only the table."""
        numbers = count(1)
        terms = [_MARK.sub(lambda _: f"?{next(numbers)}", term) for term in where]
        limit = f"?{next(numbers)}"
        columns = "".join(f", {column}" for column in order)
        by = ", ".join(f"{place}{direction}" for place in range(3, 3 + len(order)))
        same = " AND ".join(f"undone.{column} = {self.items}.{column}" for column in ("hh", "hk", "rk"))
        unchanged = [*terms, f"NOT EXISTS (SELECT 1 FROM {self.undone} AS undone WHERE {same})"]
        changed = [*terms, "item IS NOT NULL"]
        return (
            f"SELECT size, blob FROM (SELECT size, {ITEM} AS blob{columns} FROM {self.items} INDEXED BY {self.index} "
            f"WHERE {' AND '.join(unchanged)} UNION ALL "
            f"SELECT size, item{columns} FROM {self.undone}{self.undone_index} WHERE {' AND '.join(changed)}"
            f"{f' ORDER BY {by}' if by else ''} LIMIT {limit})"
        )


class Overlay:
    """The overlay of one table at an instant, in a temporary table of a connection."""

    def __init__(self, reader: Reader, table: Table, instant: float) -> None:
        self.instant = instant
        self.numbers = _numbers(table)
        self._name = f"undone_{table.id}"
        self._last: tuple[int, int] | None = None
        """Sequence and time of the last record that was read."""
        self.table = _then(table, f"temp.{self._name}")
        columns = "".join(f"{column}, " for index in table.indexes for column in index.columns)
        connection = reader.connection
        self.drop(connection)
        connection.execute(
            f"CREATE TEMP TABLE {self._name} (hh NOT NULL, hk NOT NULL, rk NOT NULL, ttl INTEGER, size INTEGER, "
            f"{columns}item BLOB, PRIMARY KEY (hh, hk, rk)) WITHOUT ROWID"
        )
        for index in table.indexes:
            connection.execute(_sql_index(self._name, index))

    def fits(self, table: Table) -> bool:
        """Whether the table is still the one that this overlay was created for, with the same indexes."""
        return self.numbers == _numbers(table)

    def follow(self, reader: Reader, table: Table, now: float) -> None:
        """Add the changes since the last call. Call this in the transaction that then reads.

        Raises:
            RecoveryDisabled, InstantOutOfRange: the log does not reach back to the instant.
        """
        connection = reader.connection
        at = checked(connection, table, self.instant, now)
        first = self._next(connection, table, at)
        if first is None:
            return
        log, undone = f"points_{table.id}", f"temp.{self._name} AS undone"
        once = f"SELECT min(sequence) FROM {log} WHERE sequence >= ? GROUP BY hh, hk, rk"
        known = f"SELECT 1 FROM {undone} WHERE (undone.hh, undone.hk, undone.rk) = (log.hh, log.hk, log.rk)"
        new = f"SELECT hh, hk, rk, old FROM {log} AS log WHERE sequence IN ({once}) AND NOT EXISTS ({known})"
        empty = (None,) * (3 + sum(len(index.columns) for index in table.indexes))
        marks = ", ".join("?" * (3 + len(empty)))
        rows: list[Any] = connection.execute(new, (first,)).fetchall()
        connection.executemany(
            f"INSERT INTO temp.{self._name} VALUES ({marks})",
            [(hh, hk, rk, *(empty if old is None else row_of(table, old)[3:])) for hh, hk, rk, old in rows],
        )
        self._last = connection.execute(f"SELECT sequence, at FROM {log} ORDER BY sequence DESC LIMIT 1").get

    def _next(self, connection: apsw.Connection, table: Table, at: int) -> int | None:
        """The first record to read. A log that was emptied restarts its numbers and is read from the instant on."""
        if self._last is not None:
            sequence, time = self._last
            if connection.execute(f"SELECT at FROM points_{table.id} WHERE sequence = ?", (sequence,)).get == time:
                newest: int = connection.execute(f"SELECT max(sequence) FROM points_{table.id}").get
                return None if newest == sequence else sequence + 1
        return first_after(connection, table.id, at)

    def difference(self, connection: apsw.Connection) -> tuple[int, int]:
        """The item count and size of the past table minus those of the current table."""
        items, undone = f"items_{self.table.id}", f"temp.{self._name}"
        then = connection.execute(f"SELECT count(item), ifnull(sum(size), 0) FROM {undone} WHERE item IS NOT NULL").get
        now = connection.execute(
            f"SELECT count(*), ifnull(sum({items}.size), 0) FROM {undone} AS undone "
            f"CROSS JOIN {items} USING (hh, hk, rk)"
        ).get
        return then[0] - now[0], then[1] - now[1]

    def drop(self, connection: apsw.Connection) -> None:
        """Drop the temporary table."""
        connection.execute(f"DROP TABLE IF EXISTS temp.{self._name}")


def _numbers(table: Table) -> tuple[int, Row]:
    return table.id, tuple(index.number for index in table.indexes)


def _then(table: Table, undone: str) -> Table:
    """The table with statements that read the past state."""
    numbers = {index.name: index.number for index in table.indexes}
    numbers |= {index.name: index.number for index in table.vectors}
    then = Table(table.id, table.schema, numbers, None)
    items = f"items_{table.id}"
    then.sql_from = RowsThen(items, f"key_{table.id}", undone, "")
    for index in then.indexes:
        index.sql_from = RowsThen(items, f"index_{index.number}", undone, f" INDEXED BY undone_index_{index.number}")
    then.sql_get = (
        f"SELECT size, item FROM {undone} WHERE {_KEY} AND item IS NOT NULL UNION ALL SELECT size, {ITEM} FROM {items} "
        f"WHERE {_KEY} AND NOT EXISTS (SELECT 1 FROM {undone} WHERE {_KEY})"
    )
    return then


def _sql_index(undone: str, index: Index) -> str:
    columns = ", ".join(index.order)
    present = f"{index.columns[0]} IS NOT NULL"
    return f"CREATE INDEX temp.undone_index_{index.number} ON {undone} ({columns}) WHERE {present}"
