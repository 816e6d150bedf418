"""Checking for damage: the columns of each row against its item, and the streams against the tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from typing import Any, Final

import apsw

from partita.errors import StoreDamaged
from partita.store.embedded import _catalog
from partita.store.embedded._table import KeyColumns, Table
from partita.store.embedded.upkeep._effort import Effort, Progress
from partita.store.embedded.vectors import wrong_rows
from partita.values import Item, decode_item, equal, item_size

_SQL_STREAMS: Final = (
    "SELECT id FROM streams WHERE table_id = ? AND complete AND closed_at IS NULL AND trimmed = 0 "
    "AND view IN ('NEW_IMAGE', 'NEW_AND_OLD_IMAGES')"
)
_CACHE_KILOBYTES: Final = 32 * 1024
_SQL_LAST: Final = "DELETE FROM last WHERE hh = ? AND hk = ? AND rk = ? RETURNING sequence"


def verify(connection: apsw.Connection, path: str, progress: Progress | None = None) -> None:
    """Check the file, every row against its item, and every complete stream against its table.

    `progress` receives the rows checked and the approximate total; a row counts each time it is checked.

    Raises:
        StoreDamaged: damage was found; the message says what.
    """
    with connection:  # one snapshot for all checks
        effort = Effort(connection, progress)
        with effort.checking():
            findings = [row[0] for row in connection.execute("PRAGMA integrity_check").fetchall() if row[0] != "ok"]
        if findings:
            raise StoreDamaged(f"The store {path} is damaged: {'; '.join(map(str, findings))}.")
        for table in _catalog.load(connection).tables.values():
            if not connection.table_exists("main", f"items_{table.id}"):
                raise StoreDamaged(f"The store {path} is damaged: table {table.name}, its items are missing.")
            found = (
                _wrong_rows(connection, table, effort),
                wrong_rows(connection, table),
                _wrong_streams(connection, table, effort),
            )
            for finding in chain.from_iterable(found):
                raise StoreDamaged(f"The store {path} is damaged: table {table.name}, {finding}.")
        effort.finish()


def _wrong_rows(connection: apsw.Connection, table: Table, effort: Effort) -> Iterator[str]:
    columns = [column for index in (*table.indexes, *table.building) for column in index.columns]
    names = ("hh", "hk", "rk", "ttl", "size", *columns)
    rows = connection.execute(f"SELECT id, item, {', '.join(names)} FROM items_{table.id}")
    for row_id, blob, *row in effort.counted(rows):
        try:
            item = decode_item(blob)
            expected = _expected_row(table, item)
        except Exception as error:  # noqa: BLE001 - a damaged item can cause any error
            yield f"row {row_id}: its item cannot be read ({error})"
            continue
        if row != expected and not _is_unfinished(connection, table, row_id, row, expected):
            for name, value, right in zip(names, row, expected, strict=True):
                if value != right:
                    yield f"row {row_id}: column {name} is {value!r:.60}, but its item implies {right!r:.60}"


def _is_unfinished(connection: apsw.Connection, table: Table, row_id: int, row: list[Any], expected: list[Any]) -> bool:
    """Whether the only differences are missing entries of unfinished indexes that have not reached this row."""
    made = len(expected)
    for index in reversed(table.building):
        start = made - len(index.columns)
        last = connection.execute("SELECT last FROM index_builds WHERE number = ?", (index.number,)).get
        found = row[start:made]
        if found != expected[start:made] and (row_id <= last or found != list(index.empty)):
            return False
        made = start
    return row[:made] == expected[:made]


def _expected_row(table: Table, item: Item) -> list[Any]:
    entries = [column for index in table.indexes for column in index.entry_or_none(item)]
    unfinished = table.building_row(item)
    return [*table.item_columns(item), table.expiry(item), item_size(item), *entries, *unfinished]


def _wrong_streams(connection: apsw.Connection, table: Table, effort: Effort) -> Iterator[str]:
    stream = connection.execute(_SQL_STREAMS, (table.id,)).get
    if stream is None:
        return
    with closing(apsw.Connection("")) as last:  # a temporary file, because a large stream may not fit into memory
        try:
            _replay(connection, table, stream, last, effort)
        except Exception as error:  # noqa: BLE001 - a damaged record can cause any error
            yield f"its stream cannot be read ({error})"
            return
        rows = connection.execute(f"SELECT id, item, hh, hk, rk FROM items_{table.id}")
        for row_id, blob, *key in effort.counted(rows):  # `_wrong_rows` has verified the key
            sequence = last.execute(_SQL_LAST, key).get
            new = connection.execute(f"SELECT new FROM changes_{stream} WHERE sequence = ?", (sequence,)).get
            if new is None or (new != blob and not equal(decode_item(new), decode_item(blob))):
                yield f"row {row_id}: its item differs from the last image in the stream"
        for hk, rk in last.execute("SELECT hk, rk FROM last"):
            yield f"the item {(hk, rk)} is in the stream but not in the table"


def _replay(connection: apsw.Connection, table: Table, stream: int, last: apsw.Connection, effort: Effort) -> None:
    """Find the last change of each item that exists after all changes."""
    last.pragma("synchronous", "off")
    last.pragma("cache_size", -_CACHE_KILOBYTES)
    last.execute("CREATE TABLE last (hh, hk, rk, sequence, PRIMARY KEY (hh, hk, rk)) WITHOUT ROWID; BEGIN")
    changes = f"SELECT sequence, keys, new FROM changes_{stream} ORDER BY sequence"
    for sequence, keys, new in effort.counted(connection.execute(changes)):
        key: KeyColumns = table.key_columns(decode_item(keys))
        if new is None:
            last.execute(_SQL_LAST, key)
        else:
            decode_item(new)
            last.execute("INSERT OR REPLACE INTO last VALUES (?, ?, ?, ?)", (*key, sequence))
