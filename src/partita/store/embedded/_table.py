"""The representation of a table in the file: columns, statements, and the order of each index.

    items_<table>(id, hh, hk, rk, ttl, size, k<index>_h, k<index>_<position>…, item)
    key_<table>      on (hh, hk, rk)
    index_<index>    on (k<index>_h, hash columns, range columns, hk, rk), only rows that have all of them
    unused_<index>_… columns of a deleted index, to be reused by the next one (`tables/_index_columns.py`)

`hh` and `k<index>_h` are hashes of the partition key: scans are in their order, and a segment is a range of hashes.

An item's index entries are columns of its own row, so an index is always consistent with its table.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from math import inf
from typing import Any, Final, Protocol, TypeAlias
from zlib import crc32

from msgspec import Struct

from partita.errors import TableNotFound, ValidationFailed
from partita.expressions import Path
from partita.store._schema import IndexSchema, StreamView, TableSchema
from partita.store.embedded._keys import (
    HASH_BYTES,
    RANGE_BYTES,
    Column,
    KeyMismatch,
    KeyPart,
    partition_hash,
)
from partita.store.embedded.vectors import VectorIndex
from partita.values import Item, text_size, value_size

Row: TypeAlias = tuple[Any, ...]
KeyColumns: TypeAlias = tuple[int, Column, Column]
"""The hash of the partition, its key, and the sort key."""

ITEM: Final = "ifnull(CAST(item AS BLOB), x'')"
"""The bytes of an item. In a damaged row, the column may have any type; decoding fails cleanly only for bytes."""
_NO_RANGE: Final = ""
_LATEST_TTL: Final = 2**53
HASHES: Final = 2**32
"""The number of different hashes of partition keys."""


class Stream(Struct, frozen=True):
    """A table's enabled stream: the number of its shard, or range end, number and start of each of several shards."""

    id: int
    view: StreamView
    shards: tuple[tuple[int, int, int], ...] = ()
    start: int = 0

    @property
    def sql_append(self) -> str:
        """The statement that adds one record."""
        return _sql_append(self.id, self.start)

    def of_partition(self, hashed: int) -> Stream:
        """The stream with only the shard for changes of a partition."""
        _, number, start = self.shards[bisect_right(self.shards, (hashed, inf))]
        return Stream(number, self.view, start=start)


@lru_cache(maxsize=256)  # the identical string each time, by which the prepared statement is found
def _sql_append(number: int, start: int) -> str:
    last = f"SELECT max(sequence) FROM changes_{number}"
    if_empty = f"SELECT max(trimmed, {start}) FROM streams WHERE id = {number}"
    return (
        f"INSERT INTO changes_{number} (sequence, at, event, by_ttl, size, keys, old, new) "
        f"VALUES (1 + ifnull(({last}), ({if_empty})), ?, ?, ?, ?, ?, ?, ?)"
    )


def sql_log(table_id: int) -> str:
    """The statement that adds one record to a table's change log, with a time not before that of the last record."""
    last = f"(SELECT at FROM points_{table_id} ORDER BY sequence DESC LIMIT 1)"
    return f"INSERT INTO points_{table_id} (at, hh, hk, rk, old) VALUES (max(?, ifnull({last}, 0)), ?, ?, ?, ?)"


class SourceSql(Protocol):
    """Builds the statements that read the rows of a source."""

    def select(self, where: Sequence[str], order: Sequence[str], direction: str = "") -> str:
        """The statement that selects sizes and items of rows, ordered by columns; its last parameter is the limit."""
        ...


class RowsOf(Struct, frozen=True):
    """The rows of one SQLite table, read through one of its indexes."""

    table: str
    index: str

    def select(self, where: Sequence[str], order: Sequence[str], direction: str = "") -> str:
        """The statement, as a query of one SQLite table through one of its indexes."""
        terms = f" WHERE {' AND '.join(where)}" if where else ""
        by = f" ORDER BY {', '.join(column + direction for column in order)}" if order else ""
        return f"SELECT size, {ITEM} FROM {self.table} INDEXED BY {self.index}{terms}{by} LIMIT ?"


class Source:
    """A source of queries and scans: a table or one of its secondary indexes."""

    def __init__(
        self, *, sql_from: SourceSql, order_column: str, hash_columns: tuple[str, ...], ties: tuple[str, ...]
    ) -> None:
        self.sql_from = sql_from
        self.order_column = order_column
        """The column with the hash of the partition key."""
        self.hash_columns = hash_columns
        self.ties = ties
        self.index: Index | None = None
        self.hash: tuple[KeyPart, ...] = ()
        self.range: tuple[KeyPart, ...] = ()
        self.range_columns: tuple[str, ...] = ()
        self.statements: dict[tuple[object, ...], str] = {}
        """Cached statements, by the shape of the request."""


class Index(Source):
    """A secondary index."""

    def __init__(self, table_id: int, number: int, schema: IndexSchema, table: TableSchema) -> None:
        own = schema.range if schema.local else schema.key
        keys = tuple(f"k{number}_{position}" for position in range(len(own)))
        self.columns = keys if schema.local else (f"k{number}_h", *keys)
        hashes = ("hk",) if schema.local else keys[: len(schema.hash)]
        table_key = ("hk",) if table.range is None else ("hk", "rk")
        super().__init__(
            sql_from=RowsOf(f"items_{table_id}", f"index_{number}"),
            order_column="hh" if schema.local else self.columns[0],
            hash_columns=hashes,
            ties=("rk",) if schema.local else table_key,
        )
        self.number = number
        self.schema = schema
        self.name = schema.name
        self.local = schema.local
        self.index = self
        self.hash = tuple(KeyPart(attribute, HASH_BYTES) for attribute in schema.hash)
        self.range = tuple(KeyPart(attribute, RANGE_BYTES) for attribute in schema.range)
        self.range_columns = keys[-len(schema.range) :] if schema.range else ()
        self.order = (self.order_column, *self.hash_columns, *self.range_columns, *self.ties)
        """The columns that it is sorted by, which are all columns of the SQLite index."""
        self._hashes = 0 if schema.local else len(schema.hash)
        self._own = self.range if schema.local else (*self.hash, *self.range)
        self.empty: Row = (None,) * len(self.columns)
        self.projected = _projected(schema, table)

    def entry(self, item: Item, before: Item | None = None) -> Row:
        """The index columns of an item; all None if the item is not in the index.

        An invalid key attribute that the item already had `before` is accepted: the item predates the index.

        Raises:
            ValidationFailed: a key attribute has a wrong type, or is empty or too long.
        """
        row: list[Column] = []
        for part in self._own:
            value = item.get(part.name, _ABSENT)
            if value is _ABSENT:
                continue
            if part.type == "S" and type(value) is str and value.isascii() and 0 < len(value) <= RANGE_BYTES:
                row.append(value)  # ASCII, so its size is known without encoding it
                continue
            try:
                row.append(part.in_index(value, self.name))
            except ValidationFailed:
                if before is None or before.get(part.name, _ABSENT) != value:
                    raise
        if len(row) != len(self._own):
            return self.empty
        return (partition_hash(*row[: self._hashes]), *row) if self._hashes else tuple(row)

    def entry_or_none(self, item: Item) -> Row:
        """The index columns of a stored item; an item with an invalid key attribute is not in the index."""
        try:
            return self.entry(item)
        except ValidationFailed:
            return self.empty

    def projection(self, item: Item) -> Item:
        """The attributes of the item that the index projects."""
        if self.projected is None:
            return item
        return {name: item[name] for name in self.projected if name in item}

    def sql_create(self, table_id: int) -> str:
        """The statement that creates the SQLite index."""
        columns = ", ".join(self.order)
        name, present = f"index_{self.number}", f"{self.columns[0]} IS NOT NULL"
        return f"CREATE INDEX {name} ON items_{table_id} ({columns}) WHERE {present}"


_ABSENT: Final = object()


def _projected(schema: IndexSchema, table: TableSchema) -> tuple[str, ...] | None:
    if schema.projection == "ALL":
        return None
    extra = () if schema.projection == "KEYS_ONLY" else schema.projection
    names = [attribute.name for attribute in (*table.key, *schema.key)]
    return tuple(dict.fromkeys((*names, *extra)))


class Table(Source):
    """A table with its statements, which are built once when the catalog is read."""

    def __init__(
        self,
        number: int,
        schema: TableSchema,
        indexes: dict[str, int],
        stream: Stream | None,
        *,
        is_logged: bool = False,
        building: Iterable[tuple[int, IndexSchema]] = (),
    ) -> None:
        by_key = RowsOf(f"items_{number}", f"key_{number}")
        super().__init__(sql_from=by_key, order_column="hh", hash_columns=("hk",), ties=())
        self.id = number
        self.schema = schema
        self.name = schema.name
        self.stream = stream
        self.sql_log = sql_log(number) if is_logged else None
        """The statement that adds a record to the change log; None without continuous backups."""
        self.hash = (KeyPart(schema.hash, HASH_BYTES),)
        if schema.range is not None:
            self.range = (KeyPart(schema.range, RANGE_BYTES),)
            self.range_columns = ("rk",)
        self.key = (*self.hash, *self.range)
        self.key_names = frozenset(part.name for part in self.key)
        by_name = sorted(schema.indexes, key=lambda index: index.name)  # AWS checks their keys in this order
        self.indexes = tuple(Index(number, indexes[index.name], index, schema) for index in by_name)
        self.index_keys = {part.name: part for index in self.indexes for part in (*index.hash, *index.range)}
        """The key attributes of all indexes, by name."""
        self.building = tuple(Index(number, made, index, schema) for made, index in building)
        """Unfinished indexes: every write of an item also writes their entries, but they cannot be read."""
        self.vectors = tuple(VectorIndex(indexes[index.name], index, schema) for index in schema.vectors)
        self.last_put_was_new = True
        """Whether the last put created an item, as a guess for the next put. Only writers use it."""
        self.keeps_entries = bool(schema.indexes or schema.vectors)
        """Whether a write has to consider index entries."""
        self._hash, self._range = self.hash[0], self.range[0] if self.range else None
        self._text_names = _names_of_text_keys(schema)
        self._scalars = self.key_names.union(part.name for index in schema.indexes for part in index.key)
        self._write_statements()

    def _write_statements(self) -> None:
        items, every_index = f"items_{self.id}", (*self.indexes, *self.building)
        columns = [column for index in every_index for column in index.columns]
        every = ["ttl", "size", *columns, "item"]
        self.sql_get = f"SELECT size, {ITEM} FROM {items} WHERE hh = ? AND hk = ? AND rk = ?"
        self.sql_find = f"SELECT id, size, {ITEM} FROM {items} WHERE hh = ? AND hk = ? AND rk = ?"
        marks = ", ".join("?" * (len(every) + 3))
        self.sql_insert = f"INSERT INTO {items} (hh, hk, rk, {', '.join(every)}) VALUES ({marks})"
        self.sql_insert_new = f"{self.sql_insert} ON CONFLICT (hh, hk, rk) DO NOTHING"
        self.sql_upsert = (
            f"{self.sql_insert} ON CONFLICT (hh, hk, rk) DO UPDATE SET "
            f"{', '.join(f'{column} = excluded.{column}' for column in every)}"
        )
        self.sql_update = f"UPDATE {items} SET {', '.join(f'{column} = ?' for column in every)} WHERE id = ?"
        self.sql_replace = f"UPDATE {items} SET size = ?, item = ? WHERE id = ?"
        self.sql_delete = f"DELETE FROM {items} WHERE id = ?"
        among = f"FROM {items} WHERE id IN (SELECT value FROM json_each(?))"
        self.sql_order = f"SELECT id {among} ORDER BY hk, rk"
        self.sql_items = f"SELECT id, {ITEM} {among}"

    def index_of(self, name: str) -> Index:
        """The secondary index with that name.

        Raises:
            ValidationFailed: there is no such index.
        """
        for index in self.indexes:
            if index.name == name:
                return index
        raise MissingIndex("The table does not have the specified index: " + name)

    def vector_of(self, name: str) -> VectorIndex:
        """The vector index with that name.

        Raises:
            ValidationFailed: there is no such index.
        """
        for index in self.vectors:
            if index.name == name:
                return index
        raise MissingIndex("The table does not have the specified index: " + name)

    def check_scalars(self, paths: Iterable[Path]) -> None:
        """Raise ValidationFailed for a path into a key attribute, because key attributes are scalars."""
        for path in paths:
            name = path.parts[0]
            if len(path.parts) == 1 or name not in self._scalars:
                continue
            role = "Key" if name in self.key_names else "IndexKey"
            message = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed"
            raise ValidationFailed(f"{message}: {role}: {name}")

    def key_columns(self, key: Item) -> KeyColumns:
        """The columns of the key of a request, which must contain exactly the key attributes."""
        if len(key) != len(self.key):
            raise KeyMismatch("The provided key element does not match the schema")
        names = self._text_names
        if names is not None:
            hk, rk = key.get(names[0]), key.get(names[1])
            if type(hk) is str and type(rk) is str and hk and rk:
                both = hk + rk  # fast path: most keys are so short that one check of both suffices
                if both.isascii() and len(both) <= RANGE_BYTES:
                    return crc32(hk.encode()), hk, rk
        hash_column = self._hash.in_key(key.get(self._hash.name))
        if self._range is None:
            return partition_hash(hash_column), hash_column, _NO_RANGE
        return partition_hash(hash_column), hash_column, self._range.in_key(key.get(self._range.name))

    def item_columns(self, item: Item) -> KeyColumns:
        """The key columns of an item to be put."""
        names = self._text_names
        if names is not None:
            hk, rk = item.get(names[0]), item.get(names[1])
            if type(hk) is str and type(rk) is str and hk and rk:
                both = hk + rk  # fast path: most keys are so short that one check of both suffices
                if both.isascii() and len(both) <= RANGE_BYTES:
                    return crc32(hk.encode()), hk, rk
        hash_column = self._hash.in_item(item)
        range_column = _NO_RANGE if self._range is None else self._range.in_item(item)
        return partition_hash(hash_column), hash_column, range_column

    def key_of(self, item: Item) -> Item:
        """The key attributes of an item."""
        return {part.name: item[part.name] for part in self.key}

    def building_row(self, item: Item) -> Row:
        """The columns of an item for the unfinished indexes."""
        row: Row = ()
        for index in self.building:
            row += index.entry_or_none(item)
        return row

    def expiry(self, item: Item) -> int | None:
        """The time when the item expires, in seconds, or None if it has no valid TTL attribute."""
        if self.schema.ttl is None:
            return None
        value = item.get(self.schema.ttl)
        if type(value) not in (int, Decimal) or not 0 < value < _LATEST_TTL:  # type: ignore[operator]
            return None
        return int(value)  # type: ignore[arg-type]

    def sql_create_key(self) -> str:
        """The statement that creates the SQLite index of the key."""
        return f"CREATE UNIQUE INDEX key_{self.id} ON items_{self.id} (hh, hk, rk)"

    def sql_create(self) -> list[str]:
        """The statements that create the SQLite table and its indexes."""
        columns = "".join(f"{column}, " for index in self.indexes for column in index.columns)
        items = f"items_{self.id}"
        fixed = "id INTEGER PRIMARY KEY, hh NOT NULL, hk NOT NULL, rk NOT NULL, ttl INTEGER, size INTEGER NOT NULL"
        return [
            f"CREATE TABLE {items} ({fixed}, {columns}item BLOB NOT NULL)",
            self.sql_create_key(),
            f"CREATE INDEX expiry_{self.id} ON {items} (ttl) WHERE ttl IS NOT NULL",
            *(index.sql_create(self.id) for index in self.indexes),
        ]


class MissingIndex(ValidationFailed):
    """The index is not in the catalog in memory; another process may have created it."""

    hint = "Create it with `session.create_tables()` or `partita tables update`."


def _names_of_text_keys(schema: TableSchema) -> tuple[str, str] | None:
    if schema.range is None or schema.hash.type != "S" or schema.range.type != "S":
        return None
    return schema.hash.name, schema.range.name


def entry_size(index: Index, item: Item, size: int) -> int:
    """The size of the item's entry in the index; `size` is the size of the whole item."""
    if index.projected is None:
        return size
    return sum(text_size(name) + value_size(item[name]) for name in index.projected if name in item)


def not_found(name: str) -> TableNotFound:
    """The error for a table that does not exist."""
    return TableNotFound(f"Requested resource not found: Table: {name} not found")
