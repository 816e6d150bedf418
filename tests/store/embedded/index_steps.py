"""Building and removing indexes in steps, and the state of the file between two steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.store.embedded.support import note

from partita.expressions._ast import KeyCondition
from partita.store import CreateTable, QueryTable
from partita.store._schema import TableSchema
from partita.store.embedded import EmbeddedStore

AT_ONCE = 3
"""The rows of one transaction."""
ITEMS = 10
OWNED = QueryTable("notes", KeyCondition((("owner", "o"),)), index="by-owner")


class Killed(Exception):
    """Simulates the end of a process."""


def killing(store: EmbeddedStore, after: int) -> Callable[[Any], Any]:
    """Return a function that writes, and raises `Killed` after some commits."""
    left = iter(range(after))

    def write(request: Any) -> Any:
        if next(left, None) is None:
            raise Killed
        return store._commit.run(request)

    return write


def filled(store: EmbeddedStore, schema: TableSchema) -> EmbeddedStore:
    """Create a table with items in the store, and return the store."""
    store.execute(CreateTable(schema))
    for number in range(1, ITEMS + 1):
        store.execute(note(number, owner="o", rank=number))
    return store


def numbers(store: EmbeddedStore) -> list[int]:
    """Return the items of an owner in the order of the index."""
    return [int(item["sk"]) for item in store.execute(OWNED).items]


def tables_beside(store: EmbeddedStore) -> list[str]:
    """Return the tables and triggers that exist only while an index is built or removed."""
    sql = "SELECT name FROM sqlite_schema WHERE type = 'trigger' OR name GLOB 'entries_*' OR name GLOB 'changed_*'"
    return [name for (name,) in store._writer.connection.execute(sql)]


def columns(store: EmbeddedStore) -> list[str]:
    """Return the columns of the first table."""
    return [name for (name,) in store._writer.connection.execute("SELECT name FROM pragma_table_info('items_1')")]
