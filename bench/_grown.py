"""Grow the file of a service quickly: write copies of its sample items as rows, and create the indexes afterwards.

The rows, stream records and indexes are the ones that the store would have written for as many puts; each copy has its
number in the partition keys of the table and of every index. `store.verify()` finds no difference. Only the fill of
the index pages differs: they are as full as in a backup.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import apsw

from partita.store import TableSchema
from partita.store.embedded import _catalog, _file
from partita.store.embedded._keys import partition_hash
from partita.store.embedded._planned_writes import TOO_LARGE, encoded
from partita.store.embedded._table import Index, Row, Table
from partita.values import Item, decode_item, encode_item, item_size

_MARK: Final = "~00000000"
"""The placeholder for the number of a copy; all numbers have the same length."""
_AT_ONCE: Final = 50_000
_CACHE_KILOBYTES: Final = 64 * 1024
_SEES_NEW: Final = ("NEW_IMAGE", "NEW_AND_OLD_IMAGES")

Copier = Callable[[str], tuple[Row, Row | None]]
"""Returns the row of a copy and its stream record, given the mark that contains the number of the copy."""


class GrownFile:
    """A file with the sample data of a service, which nothing has open, and the number of items in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._copies = 0
        with closing(_connected(path)) as connection:
            self._tables = list(_catalog.load(connection).tables.values())
            self._samples = {table.name: list(_copiers(connection, table)) for table in self._tables}
        self.items = self._at_once = sum(map(len, self._samples.values()))

    @property
    def largest(self) -> tuple[TableSchema, int]:
        """The table with the most items, and their number."""
        table = max(self._tables, key=lambda table: len(self._samples[table.name]))
        return table.schema, len(self._samples[table.name]) * (self._copies + 1)

    def grow(self, size: int) -> None:
        """Add copies of all samples until the file has `size` items."""
        with closing(_connected(self._path)) as connection:
            connection.execute("BEGIN")
            for table in self._tables:
                _drop_indexes(connection, table)
            connection.execute("COMMIT")
            while self.items < size:
                numbers = range(self._copies + 1, self._copies + 1 + self._needed(size))
                self._copies = numbers[-1]
                self._add(connection, [f"~{number:08}" for number in numbers])
            for table in self._tables:
                for sql in table.sql_create()[1:]:
                    connection.execute(sql)
            connection.pragma("journal_mode", "wal")

    def _needed(self, size: int) -> int:
        return -(-min(size - self.items, _AT_ONCE) // self._at_once)

    def _add(self, connection: apsw.Connection, marks: Sequence[str]) -> None:
        connection.execute("BEGIN")
        for table in self._tables:
            copies = [copied(mark) for mark in marks for copied in self._samples[table.name]]
            connection.executemany(table.sql_insert, [row for row, _ in copies])
            if table.stream is not None:
                connection.executemany(table.stream.sql_append, [record for _, record in copies if record])
            self.items += len(copies)
        connection.execute("COMMIT")


def _connected(path: Path) -> apsw.Connection:
    connection = _file.connect(str(path), durable=False)
    connection.pragma("journal_mode", "delete")
    connection.pragma("journal_mode", "off")
    connection.pragma("secure_delete", False)
    connection.pragma("cache_size", -_CACHE_KILOBYTES)
    return connection


def _drop_indexes(connection: apsw.Connection, table: Table) -> None:
    sql = "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
    for (name,) in connection.execute(sql, (f"items_{table.id}",)).fetchall():
        connection.execute(f"DROP INDEX {name}")


def _copiers(connection: apsw.Connection, table: Table) -> Iterator[Copier]:
    hashes = hash_attributes(table.schema)
    sql = f"SELECT item FROM items_{table.id} ORDER BY id"  # noqa: S608 - a number
    rows: list[Any] = connection.execute(sql).fetchall()
    for (blob,) in rows:
        yield _copier(table, copied_item(decode_item(blob), hashes, _MARK))


def hash_attributes(schema: TableSchema) -> set[str]:
    """The partition keys of a table and of its global indexes."""
    indexes = [attribute.name for index in schema.indexes if not index.local for attribute in index.hash]
    return {schema.hash.name, *indexes}


def copied_item(item: Item, hashes: set[str], mark: str) -> Item:
    """The item, moved to another partition of the table and of each index."""
    return {name: f"{value}{mark}" if name in hashes else value for name, value in item.items()}


def _copier(table: Table, sample: Item) -> Copier:
    """Return a function that copies one item: it replaces the sample's mark and recomputes the hashes."""
    blob, size = encoded(sample, TOO_LARGE)
    entries = [column for index in table.indexes for column in index.entry_or_none(sample)]
    row = [*table.item_columns(sample), table.expiry(sample), size, *entries, blob]
    marked = [position for position, value in enumerate(row) if isinstance(value, str) and _MARK in value]
    hashed = [(0, (1,)), *_hashed(table.indexes, row)]
    keys = encode_item(table.key_of(sample))
    has_new = table.stream is not None and table.stream.view in _SEES_NEW
    record_size = item_size(table.key_of(sample)) + (size if has_new else 0)
    now, in_bytes = time.time(), _MARK.encode()

    def copied(mark: str) -> tuple[Row, Row | None]:
        made, own = row.copy(), mark.encode()
        for position in marked:
            made[position] = row[position].replace(_MARK, mark)
        for position, columns in hashed:
            made[position] = partition_hash(*[made[column] for column in columns])
        new = made[-1] = blob.replace(in_bytes, own)
        if table.stream is None:
            return tuple(made), None
        record = (now, "INSERT", 0, record_size, keys.replace(in_bytes, own), None, new if has_new else None)
        return tuple(made), record

    return copied


def _hashed(indexes: Sequence[Index], row: Row | list[Any]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the position of each index's partition hash in a row, and the positions of the hashed columns."""
    position = 5
    for index in indexes:
        if not index.local and row[position] is not None:
            yield position, tuple(range(position + 1, position + 1 + len(index.hash)))
        position += len(index.columns)
