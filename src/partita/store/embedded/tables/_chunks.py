"""The rows of a table by some at a time: as many as can be written while others wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import apsw

from partita.store.embedded._table import ITEM, Table
from partita.values import Item, decode_item

_SQL_CHUNK: Final = "SELECT id, {} FROM {} WHERE id > ? ORDER BY id LIMIT ?"
MAX_ROWS: Final = 1_000
_CHUNK_BYTES: Final = 1_000_000


def items_of(connection: apsw.Connection, table: Table) -> Iterator[tuple[int, Item]]:
    """Every item with its row; in chunks, so that rows may be changed between them."""
    last = 0
    while rows := chunk_of(connection, table, last):
        for row_id, blob in rows:
            yield row_id, decode_item(blob)
        last = rows[-1][0]


def chunk_of(connection: apsw.Connection, table: Table, after: int) -> list[tuple[int, bytes]]:
    """Some rows after a row: their numbers and the bytes of their items, which are few together."""
    rows: list[tuple[int, bytes]] = []
    size = 0
    for row_id, blob in connection.execute(_SQL_CHUNK.format(ITEM, f"items_{table.id}"), (after, MAX_ROWS)):
        rows.append((row_id, blob))
        size += len(blob)
        if size >= _CHUNK_BYTES:
            break
    return rows


def chunk_end(connection: apsw.Connection, items: str, after: int) -> int | None:
    """The last of some rows after a row; None where there are none."""
    last, size = None, 0
    for row_id, bytes_of_item in connection.execute(_SQL_CHUNK.format("size", items), (after, MAX_ROWS)):
        last = row_id
        size += bytes_of_item
        if size >= _CHUNK_BYTES:
            break
    return last
