"""Compacting a store: progress reports, and interruptions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.store.embedded.support import OpenStore, count, note

from partita.store import CreateTable
from partita.store._schema import KeyAttribute, TableSchema
from partita.store.embedded import EmbeddedStore
from partita.store.embedded.upkeep import compact

NOTES = TableSchema("notes", KeyAttribute("pk"), KeyAttribute("sk"))
ITEMS = 1_500
DEADLINE = 60.0


@pytest.fixture
def store(open_store: OpenStore) -> EmbeddedStore:
    store = open_store()
    store.execute(CreateTable(NOTES))
    for number in range(ITEMS):
        store.execute(note(number, text="x" * 500))
    return store


def test_it_says_how_far_it_is(store: EmbeddedStore) -> None:
    told: list[tuple[int, int]] = []
    store.compact(lambda done, total: told.append((done, total)))
    (total,) = {total for _, total in told}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert (told[0], told[-1]) == ((0, total), (total, total))
    assert len(told) > 3  # there are reports while SQLite copies rows
    store.verify()
    assert count(store) == ITEMS


def test_a_store_in_memory_says_it_too() -> None:
    told: list[tuple[int, int]] = []
    with EmbeddedStore(":memory:") as store:
        store.compact(lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] > 0


def test_who_is_told_may_end_it_and_nothing_is_lost(store: EmbeddedStore) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.compact(stop)
    store.execute(note(ITEMS))  # no lock is held
    store.verify()
    assert count(store) == ITEMS + 1


class SilentConnection:
    """SQLite while it writes the copy into the log: the log grows, but SQLite reports no progress."""

    def __init__(self, log: Path, seen: Callable[[int], bool]) -> None:
        self._log = log
        self._seen = seen
        self.grown: list[bool] = []

    def pragma(self, name: str) -> int:
        return {"page_size": 100, "page_count": 12, "freelist_count": 2}[name]

    def status(self, _: int) -> tuple[int, int]:
        return 0, 0

    def set_progress_handler(self, *_: Any) -> None:
        pass

    def set_busy_timeout(self, _: int) -> None:
        pass

    def wal_checkpoint(self, *, mode: int) -> None:
        pass

    def execute(self, _: str) -> None:
        for pages in (3, 7):
            self._log.write_bytes(b"x" * 100 * pages)
            self.grown.append(self._seen(pages))


def test_the_log_is_looked_at_while_sqlite_is_silent(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    changed = threading.Condition()

    def tell(done: int, total: int) -> None:
        with changed:
            told.append((done, total))
            changed.notify_all()

    def is_told(pages: int) -> bool:
        with changed:
            return changed.wait_for(lambda: (pages, 20) in told, DEADLINE)

    connection: Any = SilentConnection(tmp_path / "notes.db-wal", is_told)
    compact(connection, str(tmp_path / "notes.db"), tell)
    assert connection.grown == [True, True]
    assert told[-1] == (20, 20)


def test_what_sqlite_refuses_is_raised() -> None:
    connection = apsw.Connection(":memory:")
    with connection, pytest.raises(apsw.SQLError, match="VACUUM"):  # VACUUM is not possible in a transaction
        compact(connection, ":memory:", lambda *_: None)
