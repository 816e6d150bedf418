"""The whole table as it was at one position in its stream, although others write while it is scanned.

The scan reads each item at a different instant. Changes after the positions are then undone with the old images of the
stream. The result is exactly the state that the changes after the positions build on:

    positions   scan begins         scan ends   read up to here
        |-----------|-------------------|-----------|---->  the stream
        ^ state of the snapshot         the first change of each key since `positions` has the old image

DynamoDB delivers a record a little after its write is visible. For DynamoDB, the stream is therefore read after a
pause.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any, Final

import apsw

from partita.change._change import ItemChange
from partita.change._stream import PAGE, ChangeStream
from partita.model import EntitySchema, Table
from partita.operations import Context, Operation, Requests
from partita.runtime import Clock, system_clock
from partita.session import Session
from partita.store import PageResponse, ScanTable, Store
from partita.values import Item, decode_item, encode_item

SETTLE_SECONDS: Final = 10.0
"""How long after its write a record may be delivered."""

_SCHEMA: Final = """
    CREATE TABLE items (key BLOB PRIMARY KEY, entity TEXT NOT NULL, item BLOB NOT NULL);
    CREATE TABLE touched (key BLOB PRIMARY KEY);
"""
_SQL_BY_ENTITY: Final = "CREATE INDEX IF NOT EXISTS by_entity ON items (entity)"
_SQL_PUT: Final = "INSERT OR REPLACE INTO items VALUES (?, ?, ?)"
_CACHE_KILOBYTES: Final = 16 * 1024


class Snapshot:
    """All items of a table at the positions, as changes of kind "snapshot". May be iterated several times."""

    def __init__(self, table: Table, positions: Mapping[str, int], at: float) -> None:
        self.table = table
        self.positions = positions
        self.at = at
        # A database without a name is a temporary file: a large table does not have to fit into memory.
        self._staged = apsw.Connection("")
        self._staged.pragma("synchronous", "off")
        self._staged.pragma("cache_size", -_CACHE_KILOBYTES)
        self._staged.execute(_SCHEMA)

    def __iter__(self) -> Iterator[ItemChange]:
        return self._changes("SELECT item FROM items", ())

    def __len__(self) -> int:
        return int(self._staged.execute("SELECT count(*) FROM items").get)

    def of(self, schema: EntitySchema[Any]) -> Iterator[ItemChange]:
        """Yield the items of one entity."""
        self._staged.execute(_SQL_BY_ENTITY)  # only now, after all items were added
        return self._changes("SELECT item FROM items WHERE entity = ?", (schema.name,))

    def stage(self, items: list[Item]) -> None:
        """Add items as the scan returned them."""
        with self._staged:
            self._staged.executemany(_SQL_PUT, [self._row(self._keys(item), item) for item in items])

    def undo(self, changes: list[ItemChange]) -> None:
        """Restore items to their state before the first change of each."""
        with self._staged:
            for change in changes:
                self._staged.execute("INSERT OR IGNORE INTO touched VALUES (?)", (encode_item(change.keys),))
                if not self._staged.changes():
                    continue
                if change.old_item is None:
                    self._staged.execute("DELETE FROM items WHERE key = ?", (encode_item(change.keys),))
                else:
                    self._staged.execute(_SQL_PUT, self._row(change.keys, change.old_item))

    def close(self) -> None:
        """Remove the temporary file."""
        self._staged.close()

    def _row(self, keys: Item, item: Item) -> tuple[bytes, str, bytes]:
        change = self._change(item)
        entity = "" if change.schema is None else change.schema.name
        return encode_item(keys), entity, encode_item(item)

    def _keys(self, item: Item) -> Item:
        return {attribute.name: item[attribute.name] for attribute in self.table.schema.key}

    def _changes(self, sql: str, values: tuple[Any, ...]) -> Iterator[ItemChange]:
        for (blob,) in self._staged.execute(sql, values):
            yield self._change(decode_item(blob))

    def _change(self, item: Item) -> ItemChange:
        return ItemChange.snapshot(self.table, self._keys(item), item, self.at)


class _ScanPage(Operation[PageResponse], frozen=True):
    """One page of a scan of a whole table."""

    table: str
    start: Item | None = None

    def default_name(self) -> str:
        """The name in metrics."""
        return f"{self.table}.snapshot"

    def requests(self, context: Context) -> Requests[PageResponse]:  # noqa: ARG002 - one signature for all operations
        """Read the page."""
        response: PageResponse = yield ScanTable(self.table, limit=PAGE, start=self.start, consistent=True)
        return response


@contextmanager
def snapshot(
    store: Store,
    table: Table,
    *,
    at: Mapping[str, int] | None = None,
    clock: Clock = system_clock,
    pause: Callable[[float], object] = time.sleep,
    random: Random | None = None,
) -> Iterator[Snapshot]:
    """Take a snapshot at the positions, or else at the current end of the stream.

    Raises:
        RebuildRequired: the stream no longer has all changes since the positions.
    """
    stream = ChangeStream(store, table)
    taken = Snapshot(table, stream.end() if at is None else at, clock())
    try:
        _scan(Session(store, clock=clock, sleep=pause, random=random), taken)
        if not stream.delivers_at_once():
            pause(SETTLE_SECONDS)
        _undo(stream, taken)
        yield taken
    finally:
        taken.close()


def _scan(session: Session, taken: Snapshot) -> None:
    session = session.maintenance(f"a snapshot of {taken.table.name}, to which its stream is then applied")
    page = session.run(_ScanPage(taken.table.name))
    taken.stage(page.items)
    while page.last_key is not None:
        page = session.run(_ScanPage(taken.table.name, page.last_key))
        taken.stage(page.items)


def _undo(stream: ChangeStream, taken: Snapshot) -> None:
    batch = stream.read(taken.positions, PAGE)
    taken.undo(batch.changes)
    while batch.more:
        batch = stream.read(batch.positions, PAGE)
        taken.undo(batch.changes)
