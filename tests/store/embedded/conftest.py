"""A store file with a small table in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.store.embedded.support import TABLE, Clock, OpenStore

from partita.store._requests import CreateTable
from partita.store.embedded import EmbeddedStore


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.db"


@pytest.fixture
def open_store(path: Path, clock: Clock) -> Iterator[OpenStore]:
    """A function that opens the test's file, any number of times; all stores are closed at the end."""
    opened: list[EmbeddedStore] = []

    def open_another(**options: Any) -> EmbeddedStore:
        store = EmbeddedStore(path, clock=clock, durable=False, **options)
        opened.append(store)
        return store

    yield open_another
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: OpenStore) -> EmbeddedStore:
    """A store with one empty table."""
    store = open_store()
    store.execute(CreateTable(TABLE))
    return store
