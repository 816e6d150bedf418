"""The pytest plugin: its fixtures, and its low cost for tests that do not use them."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import ClassVar

import pytest

from partita import REGISTRY, EmbeddedStore, Entity, Key, Rcu, Session, Table, Ulids, get, insert
from partita.errors import BudgetExceeded
from partita.store import ListTables
from partita.testing import FakeClock, FaultyStore


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> type[Entity]:
    """An entity in the default registry, for the duration of one test."""
    monkeypatch.setattr(REGISTRY, "_tables", {})

    class Note(Entity, table=Table("notes")):
        primary: ClassVar = Key("N#{note_id}", "N")
        note_id: str

    return Note


def test_the_store_is_empty_and_in_memory(partita_store: EmbeddedStore) -> None:
    assert partita_store.path == ":memory:"
    assert partita_store.execute(ListTables()) == ()


def test_the_session_has_every_registered_table(registered: type[Entity], partita_db: Session) -> None:
    assert partita_db.store.execute(ListTables()) == ("notes",)
    note = registered(note_id="1")  # type: ignore[call-arg]  # made in the fixture
    assert partita_db.run(insert(note)) == note


def test_the_session_and_the_store_share_the_fake_clock(
    partita_db: Session, partita_store: EmbeddedStore, fake_clock: FakeClock
) -> None:
    fake_clock.set(datetime(2030, 1, 1, tzinfo=UTC))
    assert partita_db.context.clock() == fake_clock() == 1_893_456_000
    assert partita_db.store is partita_store


def test_a_budget_that_was_exceeded_is_an_error(registered: type[Entity], partita_db: Session) -> None:
    @get(registered, budget=Rcu(0.25))
    def note_by_id(note_id: str) -> None: ...

    with pytest.raises(BudgetExceeded):
        partita_db.run(note_by_id("1"))


def test_waiting_moves_the_clock_and_takes_no_time(
    registered: type[Entity], partita_db: Session, fake_clock: FakeClock
) -> None:
    before = fake_clock()
    store = FaultyStore(partita_db.store)
    store.throttle(5)
    db = Session(store, clock=fake_clock, sleep=partita_db.sleep)
    db.run(insert(registered(note_id="1")))  # type: ignore[call-arg]
    assert fake_clock() > before


def test_identifiers_are_the_same_in_every_run_and_in_order(ids: Ulids, fake_clock: FakeClock) -> None:
    first, second = ids(), ids()
    fake_clock.advance(1)
    third = ids()
    assert [first, second] == ["01KDWPVNG00000000000000001", "01KDWPVNG00000000000000002"]
    assert first < second < third


def test_loading_the_plugin_loads_nothing_heavy() -> None:
    heavy = ("apsw", "msgspec", "partita._session", "pydantic")
    program = f"import sys, partita.testing.plugin; print([name for name in {heavy} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
