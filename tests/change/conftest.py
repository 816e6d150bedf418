"""A store with the table, and a session on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.change.model import session

from partita import EmbeddedStore, Session
from partita.testing import FakeClock


@pytest.fixture
def store(fake_clock: FakeClock) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(":memory:", clock=fake_clock) as store:
        yield store


@pytest.fixture
def db(store: EmbeddedStore) -> Session:
    return session(store)
