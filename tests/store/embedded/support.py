"""A clock that the test sets, a small table of notes, and the pages that commits write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import apsw

from partita._sqlite import PendingWrite
from partita.store._requests import DescribeTable, GetItem, PutItem, Request
from partita.store._schema import IndexSchema, KeyAttribute, TableSchema
from partita.store.embedded import EmbeddedStore

TABLE = TableSchema("notes", KeyAttribute("pk"), KeyAttribute("sk"))
BY_OWNER = IndexSchema("by-owner", (KeyAttribute("owner"),), (KeyAttribute("rank", "N"),))


OpenStore: TypeAlias = Callable[..., EmbeddedStore]


class Clock:
    """A clock that advances only if the test sets it."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def note(number: int, **attributes: Any) -> PutItem:
    return PutItem("notes", {"pk": "p", "sk": f"{number:06}", **attributes})


def read(store: EmbeddedStore, number: int) -> dict[str, Any] | None:
    return store.execute(GetItem("notes", {"pk": "p", "sk": f"{number:06}"})).item


def enqueue(store: EmbeddedStore, *requests: Request[Any]) -> list[PendingWrite]:
    """Queue writes like threads that find the write lock held, and return them."""
    writes = [PendingWrite(request) for request in requests]
    for write in writes:
        store._commit._queue.append(write)
    return writes


def count(store: EmbeddedStore, table: str = "notes") -> int:
    return store.execute(DescribeTable(table)).item_count


def pages_by_commit(store: EmbeddedStore) -> list[int]:
    """Return a list to which each later commit adds the number of pages that it writes to the log."""
    pages, length = list[int](), store._writer.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)[0]

    def note_pages(_connection: apsw.Connection, _name: str, written: int) -> int:
        nonlocal length
        pages.append(written - length)
        length = written
        return apsw.SQLITE_OK

    store._writer.connection.set_wal_hook(note_pages)
    return pages
