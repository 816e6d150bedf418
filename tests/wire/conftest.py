"""A store, a server on it, and a caller that needs no server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.wire.support import TASKS, Caller, serving

from partita import EmbeddedStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(tmp_path / "wire.db", durable=False) as store:
        yield store


@pytest.fixture
def call(store: EmbeddedStore) -> Caller:
    """A caller on a store that has the table of tasks."""
    caller = Caller(store)
    caller("CreateTable", **TASKS)
    return caller


@pytest.fixture
def address(store: EmbeddedStore) -> Iterator[tuple[str, int]]:
    """The host and port of a server on the store."""
    with serving(store) as address:
        yield address
