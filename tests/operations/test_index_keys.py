"""Index-safe writes: after every kind of write, the stored index keys match the stored entity."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, ClassVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.model.sample import (
    TABLE,
    Comment,
    Status,
    Task,
    best_comments,
    comment_by_id,
    fresh_session,
    steady,
    task_by_id,
    tasks_due,
    tasks_with_status,
)

from partita import (
    Change,
    Entity,
    Index,
    Key,
    Registry,
    Session,
    Span,
    Table,
    delete,
    f,
    get,
    insert,
    put,
    query,
    update,
)
from partita.errors import InvalidKey, OperationError
from partita.model._entity import schema_of
from partita.operations import scan_items
from partita.store import PutItem, UpdateItem
from partita.testing import FaultyStore

DERIVED = {"GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "LSI1SK"}


def index_keys(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name in DERIVED}


def assert_index_keys_fit(db: Session, *kinds: type[Any]) -> None:
    """Check that every stored item has exactly the index keys that its entity produces."""
    for item in db.maintenance("compare index keys").run(scan_items(TABLE)):
        schema = next(schema_of(kind) for kind in kinds if schema_of(kind).owns(item))
        assert index_keys(item) == index_keys(schema.item(schema.entity(item)))


# --- tasks: with a version ---

days = st.dates(date(2026, 1, 1), date(2026, 1, 3))
task_changes: st.SearchStrategy[list[Change]] = st.lists(
    st.one_of(
        st.sampled_from(Status).map(lambda status: f(Task.status).set(status)),
        st.just(f(Task.status).remove()),
        days.map(lambda day: f(Task.due).set(day)),
        days.map(lambda day: f(Task.due).set_if_missing(day)),
        st.just(f(Task.due).set(None)),
        st.just(f(Task.due).remove()),
        st.integers(-9, 9).map(lambda points: f(Task.points).set(points)),
        st.integers(-9, 9).map(lambda points: f(Task.points).set_if_missing(points)),
        st.just(f(Task.points).remove()),
        st.just(f(Task.title).set("x")),
        st.just(f(Task.notes).set(f(Task.notes).with_appended(["n"]))),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda change: change.path,
)


def by_entity(db: Session, changes: list[Change]) -> None:
    task = db.run(task_by_id("u", "t"))
    assert task is not None
    db.run(update(task, *changes))


def by_key(db: Session, changes: list[Change]) -> None:
    db.run(update(task_by_id("u", "t"), *changes))


def by_put(db: Session, changes: list[Change]) -> None:
    task = db.run(task_by_id("u", "t"))
    assert task is not None
    db.run(put(task.with_changes(*changes)))


def by_transaction(db: Session, changes: list[Change]) -> None:
    task = db.run(task_by_id("u", "t"))
    assert task is not None
    db.transact(update(task, *changes), put(Comment(user_id="u", comment_id="c")))


def by_transaction_or_alone(db: Session, changes: list[Change]) -> None:
    try:
        db.transact(update(task_by_id("u", "t"), *changes))
    except OperationError:  # finding the new key needs a read, which a transaction cannot do
        by_key(db, changes)


PATHS = st.sampled_from([by_entity, by_key, by_put, by_transaction, by_transaction_or_alone])


@steady
@given(st.lists(st.tuples(PATHS, task_changes), min_size=1, max_size=5))
@example([(by_key, [f(Task.status).remove()])])
@example([(by_entity, [f(Task.status).remove()])])
@example([(by_key, [f(Task.due).set_if_missing(date(2026, 1, 1)), f(Task.status).set(Status.DONE)])])
def test_random_writes_of_a_task_leave_the_right_index_keys(
    writes: list[tuple[Callable[[Session, list[Change]], None], list[Change]]],
) -> None:
    with fresh_session() as db:
        db.run(insert(Task(user_id="u", task_id="t")))
        for write, changes in writes:
            write(db, changes)
            assert_index_keys_fit(db, Task, Comment)
        task = db.run(task_by_id("u", "t"))
        assert task is not None
        assert db.run(tasks_with_status("u", task.status)).items == (task,)
        assert db.run(tasks_due("u", Span())).items == (() if task.due is None else (task,))
        assert task.version == 1 + len(writes)


# --- comments: without a version ---

comment_changes: st.SearchStrategy[list[Change]] = st.lists(
    st.one_of(
        st.sampled_from(["glad", "sad"]).map(lambda mood: f(Comment.mood).set(mood)),
        st.just(f(Comment.mood).set(None)),
        st.just(f(Comment.mood).set_if_missing("new")),
        st.integers(-5, 5).map(lambda score: f(Comment.score).set(score)),
        st.integers(-5, 5).map(lambda score: f(Comment.score).add(score)),
        st.integers(-5, 5).map(lambda score: f(Comment.score).set(f(Comment.score).plus(score))),
        st.just(f(Comment.score).remove()),
        st.just(f(Comment.text).set("x")),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda change: change.path,
)


@steady
@given(st.lists(st.tuples(st.booleans(), comment_changes), min_size=1, max_size=5))
@example([(False, [f(Comment.mood).set("sad")]), (False, [f(Comment.score).add(1)])])
@example([(False, [f(Comment.mood).set("sad"), f(Comment.score).remove()])])
def test_random_writes_of_a_comment_leave_the_right_index_keys(writes: list[tuple[bool, list[Change]]]) -> None:
    with fresh_session() as db:
        comment = db.run(insert(Comment(user_id="u", comment_id="c")))
        for whole, changes in writes:
            comment = db.run(update(comment if whole else comment_by_id("u", "c"), *changes))
            assert_index_keys_fit(db, Comment)
            assert db.run(comment_by_id("u", "c")) == comment
        if comment.mood is not None:
            assert db.run(best_comments(comment.mood)).items == (comment,)


def test_an_update_that_knows_the_new_key_is_one_request(db: Session) -> None:
    db.run(insert(Task(user_id="u", task_id="t")))
    with db.meter.watch() as seen:
        db.run(update(task_by_id("u", "t"), f(Task.status).set(Status.DONE)))
    assert [run.requests for run in seen] == [("UpdateItem",)]


def test_an_update_that_cannot_know_the_new_key_reads_first(db: Session) -> None:
    db.run(insert(Comment(user_id="u", comment_id="c", mood="sad")))
    with db.meter.watch() as seen:
        db.run(update(comment_by_id("u", "c"), f(Comment.score).add(1)))
    assert [run.requests for run in seen] == [("GetItem", "UpdateItem")]


def test_such_an_update_is_refused_in_a_transaction(db: Session) -> None:
    with pytest.raises(OperationError, match="an index key depends on fields that this update does not know"):
        db.transact(update(comment_by_id("u", "c"), f(Comment.score).add(1)))


class Interrupting(FaultyStore):
    """A store that lets another writer in before each of its first updates."""

    def __init__(self, store: Any, meddle: Callable[[int], object], times: int) -> None:
        super().__init__(store)
        self._meddle = meddle
        self._left = times

    def execute(self, request: Any) -> Any:
        if isinstance(request, UpdateItem) and self._left:
            self._left -= 1
            self._meddle(self._left)
        return super().execute(request)


def interrupted(db: Session, times: int) -> Session:
    other = Session(db.store)
    moods = ["glad", "sad", "mad", "odd", "shy", "sly"]
    meddle = lambda left: other.run(update(comment_by_id("u", "c"), f(Comment.mood).set(moods[left])))  # noqa: E731
    return Session(Interrupting(db.store, meddle, times), secret=b"sample")


def test_a_read_modify_write_starts_again_when_another_writer_comes_between(db: Session) -> None:
    db.run(insert(Comment(user_id="u", comment_id="c", mood="sad", score=1)))
    slow = interrupted(db, times=3)
    after = slow.run(update(comment_by_id("u", "c"), f(Comment.score).add(1)))
    assert (after.mood, after.score) == ("glad", 2)
    assert_index_keys_fit(db, Comment)


# --- items written before a field was declared ---

GROWING = Table("growing", indexes=[Index("GSI1")], registry=Registry())


class Grown(Entity, table=GROWING):
    primary: ClassVar = Key("G#{name}", "G")
    by_color: ClassVar = Key("COLOR#{color}", "SIZE#{size:02}", index="GSI1")
    name: str
    color: str = "grey"
    size: int = 1


@get(Grown)
def grown_by_name(name: str) -> None: ...


@query(Grown, Grown.by_color)
def grown_with_color(color: str) -> None: ...


@pytest.mark.parametrize("read_before", [True, False])
def test_an_item_from_before_a_field_was_declared_can_be_updated(partita_db: Session, read_before: bool) -> None:  # noqa: FBT001
    partita_db.create_tables([GROWING])
    partita_db.store.execute(PutItem("growing", {"PK": "G#old", "SK": "G", "name": "old"}))
    old = partita_db.run(grown_by_name("old"))
    assert old == Grown(name="old")
    changed = partita_db.run(update(old if read_before else grown_by_name("old"), f(Grown.color).set("red")))
    assert changed == Grown(name="old", color="red")
    assert partita_db.run(grown_with_color("red")).items == (changed,)


@pytest.mark.parametrize("read_before", [True, False])
def test_a_number_that_is_not_stored_yet_is_added_to_its_default_or_to_zero_but_not_both(
    partita_db: Session,
    read_before: bool,  # noqa: FBT001
) -> None:
    partita_db.create_tables([GROWING])
    partita_db.store.execute(PutItem("growing", {"PK": "G#old", "SK": "G", "name": "old"}))
    at = partita_db.run(grown_by_name("old")) if read_before else grown_by_name("old")
    assert at is not None
    changed = partita_db.run(update(at, f(Grown.size).add(1)))
    assert partita_db.run(grown_by_name("old")) == changed
    (item,) = partita_db.maintenance("compare").run(scan_items(GROWING))
    assert item["GSI1SK"] == f"SIZE#{changed.size:02}"


def test_a_value_that_its_index_key_has_no_room_for_is_refused(partita_db: Session) -> None:
    partita_db.create_tables([GROWING])
    grown = partita_db.run(insert(Grown(name="new", color="red")))
    with pytest.raises(InvalidKey):
        partita_db.run(update(grown, f(Grown.size).set(1_000)))
    assert partita_db.run(grown_by_name("new")) == grown


def test_a_delete_takes_the_item_out_of_every_index(db: Session) -> None:
    task = db.run(insert(Task(user_id="u", task_id="t", due=date(2026, 1, 1))))
    db.run(delete(task))
    assert db.run(tasks_with_status("u", Status.OPEN)).items == ()
    assert db.run(tasks_due("u", Span())).items == ()
