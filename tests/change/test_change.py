"""Changes: the entity before and after, the position in the stream, and the problem of an invalid item."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.change.memory import MemorySink
from tests.change.model import SHARD, TABLE, Status, Task, User, item_of

from partita import EmbeddedStore, Session, delete, put
from partita.change import Consumer, ItemChange
from partita.errors import InvalidItem
from partita.store import PutItem
from partita.testing import FakeClock

pytestmark = pytest.mark.req("T52")


@pytest.fixture
def sink() -> MemorySink:
    return MemorySink()


@pytest.fixture
def consumer(store: EmbeddedStore, db: Session, sink: MemorySink) -> Consumer:
    consumer = Consumer(store, TABLE, sink)
    consumer.step()
    return consumer


TASK = Task(user_id="u", task_id="t", title="Call", due=date(2026, 1, 5), tags=frozenset({"a"}))
DONE = TASK.model_copy(update={"status": Status.DONE})


def test_it_has_the_entity_before_and_after(db: Session, consumer: Consumer, sink: MemorySink) -> None:
    db.run(put(TASK))
    db.run(put(DONE))
    db.run(delete(TASK))
    consumer.catch_up()
    kinds = [(change.kind, change.old, change.new) for change in sink.changes]
    assert kinds == [("insert", None, TASK), ("modify", TASK, DONE), ("remove", DONE, None)]
    assert {change.entity for change in sink.changes} == {Task}


def test_entities_of_one_table_are_recognised(db: Session, consumer: Consumer, sink: MemorySink) -> None:
    db.run(put(TASK))
    db.run(put(User(user_id="u")))
    consumer.catch_up()
    assert [change.entity for change in sink.changes] == [Task, User]


def test_an_undeclared_item_is_given_without_entity(store: EmbeddedStore, consumer: Consumer, sink: MemorySink) -> None:
    item = {"PK": "legacy", "SK": "1", "n": 1}
    store.execute(PutItem(TABLE.name, item))
    consumer.catch_up()
    (change,) = sink.changes
    assert (change.entity, change.old, change.new, change.new_item) == (None, None, None, item)
    assert repr(change) == f"<insert of undeclared item ('legacy', '1') at {SHARD}:1>"


def test_it_tells_where_and_when(db: Session, consumer: Consumer, sink: MemorySink, fake_clock: FakeClock) -> None:
    db.run(put(TASK))
    consumer.catch_up()
    (change,) = sink.changes
    assert (change.shard, change.sequence, change.at) == (SHARD, 1, fake_clock())
    assert change.keys == {"PK": "TASK#u", "SK": "TASK#t"}
    assert repr(change) == f"<insert of Task ('TASK#u', 'TASK#t') at {SHARD}:1>"


@pytest.mark.req("T44")
def test_expiry_differs_from_deletion(
    store: EmbeddedStore, db: Session, consumer: Consumer, sink: MemorySink, fake_clock: FakeClock
) -> None:
    db.run(put(Task(user_id="u", task_id="1", ttl=int(fake_clock()) + 10)))
    db.run(put(Task(user_id="u", task_id="2")))
    fake_clock.advance(20)
    store.sweep()
    db.run(delete(Task(user_id="u", task_id="2")))
    consumer.catch_up()
    removed = [(change.old.task_id, change.by_ttl) for change in sink.changes if change.kind == "remove"]
    assert removed == [("1", True), ("2", False)]


def test_an_item_that_does_not_fit_says_why(store: EmbeddedStore, consumer: Consumer, sink: MemorySink) -> None:
    bad: dict[str, Any] = {**item_of(TASK), "estimate": "many"}
    store.execute(PutItem(TABLE.name, bad))
    consumer.catch_up()
    (change,) = sink.changes
    assert change.problem is not None
    assert "estimate" in change.problem
    assert change.new_item == bad
    with pytest.raises(InvalidItem):
        change.new  # noqa: B018 - it raises


def test_one_that_fits_has_no_problem(db: Session, consumer: Consumer, sink: MemorySink) -> None:
    db.run(put(TASK))
    db.run(delete(TASK))
    consumer.catch_up()
    assert [change.problem for change in sink.changes] == [None, None]


def test_what_was_there_before_is_a_snapshot(store: EmbeddedStore, db: Session, sink: MemorySink) -> None:
    db.run(put(TASK))
    Consumer(store, TABLE, sink).step()
    (change,) = sink.loaded
    assert isinstance(change, ItemChange)
    assert (change.kind, change.old, change.new) == ("snapshot", None, TASK)
