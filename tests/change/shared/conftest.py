"""A stream of eight shards, and workers that share it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.change.model import TABLE
from tests.change.shared.fleet import Fleet
from tests.change.shared.sinks import projection_at

from partita import EmbeddedStore, Session
from partita.store import DescribeStream
from partita.testing import FakeClock


@pytest.fixture
def split(store: EmbeddedStore, db: Session) -> EmbeddedStore:
    """A table whose stream has eight open shards."""
    (first,) = store.execute(DescribeStream(TABLE.name)).shards
    store.split_shard(TABLE.name, first.id, 8)
    return store


@pytest.fixture
def fleet(split: EmbeddedStore, tmp_path: Path, fake_clock: FakeClock) -> Iterator[Fleet]:
    fleet = Fleet(split, lambda: projection_at(tmp_path / "p.db"), fake_clock)
    fleet.begin()
    yield fleet
    for sink in fleet.sinks:
        sink.close()
