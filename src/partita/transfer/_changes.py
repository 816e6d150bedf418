"""Changes to apply after a scan: the last image of each item, so that no older image ever follows a newer one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self

import apsw

from partita.change import ChangeStream, ItemChange
from partita.errors import CopyRefused
from partita.model import Registry, Table
from partita.store import DeleteItem, PutItem, Store, TableSchema
from partita.transfer._writing import Write
from partita.values import Item, decode_item, encode_item

COMPLETE: Final = "NEW_AND_OLD_IMAGES"
"""The stream view type that contains the state of each item before and after a change."""


def stream_of(store: Store, schema: TableSchema) -> ChangeStream:
    """Return the stream of a table, which need not be declared in a model.

    Raises:
        CopyRefused: the table has no stream, or one without images.
    """
    if schema.stream != COMPLETE:
        hint = f"Enable a stream for the table ({COMPLETE}), and copy again."
        raise CopyRefused(f"The table {schema.name} has no stream with new and old images.", hint=hint)
    own, other = schema.hash, schema.range
    table = Table(
        schema.name,
        hash=(own.name, own.type),
        range=None if other is None else (other.name, other.type),
        stream=schema.stream,
        registry=Registry(),
    )
    return ChangeStream(store, table)


def write_of(table: str, change: ItemChange) -> Write:
    """Return the write that sets an item to its state after a change."""
    return _write(table, change.keys, change.new_item)


def _write(table: str, keys: Item, new: Item | None) -> Write:
    return DeleteItem(table, keys) if new is None else PutItem(table, new)


class ChangeStage:
    """The last image of each changed item, in a temporary file, because every item may have changed."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._database = apsw.Connection("")
        self._database.pragma("synchronous", "off")
        self._database.execute("CREATE TABLE last (key BLOB PRIMARY KEY, keys BLOB NOT NULL, item BLOB) WITHOUT ROWID")

    def add(self, changes: Iterable[ItemChange]) -> None:
        """Add changes, in their order."""
        rows = [
            (key := encode_item(change.keys), key, None if change.new_item is None else encode_item(change.new_item))
            for change in changes
        ]
        with self._database:
            self._database.executemany("INSERT OR REPLACE INTO last VALUES (?, ?, ?)", rows)

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM last").get)

    def writes(self) -> Iterator[Write]:
        """Yield one write for each item."""
        rows: Any = self._database.execute("SELECT keys, item FROM last")
        for keys, item in rows:
            yield _write(self._table, decode_item(keys), None if item is None else decode_item(item))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()


def reached(positions: Mapping[str, int], wanted: Mapping[str, int]) -> bool:
    """Whether every shard that still exists was read up to the wanted position."""
    return all(positions.get(shard, sequence) >= sequence for shard, sequence in wanted.items())
