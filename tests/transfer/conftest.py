"""A store to copy from, and an empty one to copy to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.transfer.support import fill

from partita import EmbeddedStore


@pytest.fixture
def source(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(tmp_path / "source.db", durable=False) as store:
        fill(store, 120)
        yield store


@pytest.fixture
def target(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(tmp_path / "target.db", durable=False) as store:
        yield store
