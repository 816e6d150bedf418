"""A store in which processes report, with a fake clock."""

from __future__ import annotations

import pytest

from partita import Session
from partita.reports import TABLE
from partita.store import Store
from partita.testing import FakeClock, FaultyStore


@pytest.fixture
def store(partita_store: Store) -> FaultyStore:
    return FaultyStore(partita_store)


@pytest.fixture
def db(store: FaultyStore, fake_clock: FakeClock) -> Session:
    """A session of a reporting process; exceeding a budget is an error."""
    session = Session(store, clock=fake_clock, secret=b"fake", strict_budgets=True, sleep=fake_clock.advance)
    session.create_tables([TABLE])
    store.requests.clear()
    return session
