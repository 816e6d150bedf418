"""Reading the rows of a table in chunks that are small enough to be rewritten while other writers wait."""

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
    """Every item with its row number; read in chunks, so that rows may be changed during the iteration."""
    last = 0
    while rows := chunk_of(connection, table, last):
        for row_id, blob in rows:
            yield row_id, decode_item(blob)
        last = rows[-1][0]


def chunk_of(connection: apsw.Connection, table: Table, after: int) -> list[tuple[int, bytes]]:
    """The next rows after a row number: their numbers and items, limited in total size."""
    rows: list[tuple[int, bytes]] = []
    size = 0
    for row_id, blob in connection.execute(_SQL_CHUNK.format(ITEM, f"items_{table.id}"), (after, MAX_ROWS)):
        rows.append((row_id, blob))
        size += len(blob)
        if size >= _CHUNK_BYTES:
            break
    return rows


def chunk_end(connection: apsw.Connection, items: str, after: int) -> int | None:
    """The last row number of the chunk after a row number; None if there are no more rows."""
    last, size = None, 0
    for row_id, bytes_of_item in connection.execute(_SQL_CHUNK.format("size", items), (after, MAX_ROWS)):
        last = row_id
        size += bytes_of_item
        if size >= _CHUNK_BYTES:
            break
    return last
