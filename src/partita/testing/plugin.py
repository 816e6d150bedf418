"""The pytest plugin: a store, a session, a clock and identifiers for tests, created only if a test uses them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

# ruff: noqa: PLC0415 - every pytest run of every user loads this module, so fixtures import what they need
if TYPE_CHECKING:
    from partita import EmbeddedStore, Session, Ulids
    from partita.testing import FakeClock, PreparedStore


@pytest.fixture
def fake_clock() -> FakeClock:
    """A clock that stands still at noon (UTC) on 1 January 2026 until a test moves it."""
    from partita.testing import FakeClock

    return FakeClock()


@pytest.fixture
def ids(fake_clock: FakeClock) -> Ulids:
    """Creates identifiers: the same in every run, and in ascending order."""
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
    """A session on the store with all registered tables; exceeding a budget raises, and waiting advances the clock."""
    from partita import REGISTRY

    db = _session(partita_store, fake_clock)
    db.create_tables(REGISTRY)
    return db


def _session(store: EmbeddedStore, clock: FakeClock) -> Session:
    from partita import Session

    jitter = random.Random(0)  # noqa: S311 - spreads retries in the same way in every run
    return Session(store, clock=clock, secret=b"fake", strict_budgets=True, random=jitter, sleep=clock.advance)


@pytest.fixture(scope="session")
def partita_prepare() -> Callable[[Session], object]:
    """The function that fills the store for `partita_branch`: override it. By default it creates registered tables."""

    def prepare(db: Session) -> None:
        from partita import REGISTRY

        db.create_tables(REGISTRY)

    return prepare


@pytest.fixture(scope="session")
def partita_prepared(
    partita_prepare: Callable[[Session], object], tmp_path_factory: pytest.TempPathFactory
) -> PreparedStore:
    """The store that `partita_prepare` fills once per run."""
    from partita.testing import PreparedStore

    return PreparedStore(tmp_path_factory.mktemp("partita"), partita_prepare)


@pytest.fixture
def partita_branch(partita_prepared: PreparedStore, fake_clock: FakeClock) -> Iterator[Session]:
    """A session on this test's own branch of the prepared store; otherwise like `partita_db`."""
    with partita_prepared.branch(clock=fake_clock) as store:
        yield _session(store, fake_clock)
