"""The pytest plugin: a store, a session, a clock and identifiers for tests, made only when a test asks for them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

# ruff: noqa: PLC0415 - every pytest run of every user loads this module, so fixtures import what only they need
if TYPE_CHECKING:
    from partita import EmbeddedStore, Session, Ulids
    from partita.testing import FakeClock


@pytest.fixture
def fake_clock() -> FakeClock:
    """A clock that stands still at noon of 1 January 2026 until it is moved."""
    from partita.testing import FakeClock

    return FakeClock()


@pytest.fixture
def ids(fake_clock: FakeClock) -> Ulids:
    """Makes identifiers: the same in every run, and sorted as they were made."""
    from partita.testing import counted_ulids

    return counted_ulids(fake_clock)


@pytest.fixture
def partita_store(fake_clock: FakeClock) -> Iterator[EmbeddedStore]:
    """An empty embedded store in memory, with the fake clock."""
    from partita import EmbeddedStore

    with EmbeddedStore(":memory:", clock=fake_clock, sweep_every=None) as store:
        yield store


@pytest.fixture
def partita_db(partita_store: EmbeddedStore, fake_clock: FakeClock) -> Session:
    """A session on the store with all registered tables; a budget exceeded is an error, and waiting moves the clock."""
    from partita import REGISTRY, Session

    jitter = random.Random(0)  # noqa: S311 - spreads retries, the same way in every run
    db = Session(
        partita_store,
        clock=fake_clock,
        secret=b"fake",
        strict_budgets=True,
        random=jitter,
        sleep=fake_clock.advance,
    )
    db.create_tables(REGISTRY)
    return db
