"""Sessions of a past instant run the same patterns, and refuse writes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from tests.model.sample import SAMPLES, TABLE, Task, task_by_id, tasks_of

from partita import AsyncSession, EmbeddedStore, Session, put
from partita.errors import InstantOutOfRange, OperationError, PastRefused, RecoveryDisabled
from partita.store import SetRecovery, Store, TableNames
from partita.testing import FakeClock


class Plain:
    """A store that does not keep past states."""

    def __init__(self, store: Store) -> None:
        self.execute, self.execute_async, self.close = store.execute, store.execute_async, store.close


@pytest.fixture
def store(fake_clock: FakeClock) -> EmbeddedStore:
    return EmbeddedStore(":memory:", clock=fake_clock)


@pytest.fixture
def then(store: EmbeddedStore, fake_clock: FakeClock) -> float:
    """An instant at which only the first of two tasks existed."""
    db = Session(store, clock=fake_clock)
    db.create_tables(SAMPLES)
    store.execute(SetRecovery(TABLE.name))
    db.run(put(Task(user_id="u", task_id="1")))
    at = fake_clock()
    fake_clock.advance(5)
    db.run(put(Task(user_id="u", task_id="2")))
    return at


def test_patterns_read_what_was_there(store: EmbeddedStore, then: float) -> None:
    db = Session(store)
    past = db.as_of(then)
    assert [task.task_id for task in past.run(tasks_of("u"))] == ["1"]
    assert past.run(task_by_id("u", "2")) is None
    later = db.as_of(datetime.fromtimestamp(then, UTC) + timedelta(seconds=5))
    assert [task.task_id for task in later.run(tasks_of("u"))] == ["1", "2"]
    assert db.run(task_by_id("u", "2")) is not None


def test_async_sessions_do_the_same(store: EmbeddedStore, then: float) -> None:
    past = AsyncSession(store).as_of(then)
    assert [task.task_id for task in asyncio.run(past.run(tasks_of("u")))] == ["1"]
    with pytest.raises(PastRefused):
        asyncio.run(past.run(put(Task(user_id="u", task_id="3"))))


def test_what_cannot_be_is_refused_with_a_code(store: EmbeddedStore, then: float) -> None:
    db = Session(store)
    with pytest.raises(PastRefused):
        db.as_of(then).run(put(Task(user_id="u", task_id="3")))
    with pytest.raises(InstantOutOfRange):
        db.as_of(then + 60)
    with pytest.raises(InstantOutOfRange):
        db.as_of(then - 60).run(tasks_of("u"))
    with pytest.raises(OperationError, match="no time zone"):
        db.as_of(datetime.fromtimestamp(then))  # noqa: DTZ006 - it is refused
    with pytest.raises(RecoveryDisabled, match="The past states of a Plain cannot be read"):
        Session(Plain(store)).as_of(then)
    store.execute(SetRecovery(TABLE.name, None))
    with pytest.raises(RecoveryDisabled) as off:
        db.as_of(then).run(tasks_of("u"))
    assert off.value.code == "recovery_disabled"


def test_tables_of_a_stage_have_their_past_too(fake_clock: FakeClock) -> None:
    store, names = EmbeddedStore(":memory:", clock=fake_clock), TableNames(prefix="test-")
    db = Session(store, clock=fake_clock, table_names=names)
    db.create_tables(SAMPLES)
    db.store.execute(SetRecovery(TABLE.name))
    at = fake_clock()
    fake_clock.advance(5)
    db.run(put(Task(user_id="u", task_id="1")))
    assert list(db.as_of(at).run(tasks_of("u"))) == []
    store.close()
