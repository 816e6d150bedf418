"""Writes of one item: their results, which of them are refused, and optimistic locking."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.model.sample import Comment, Status, Task, comment_by_id, task_by_id, tasks_of, tasks_with_status

from partita import Operation, Session, delete, f, insert, put, transact, update
from partita.errors import (
    AlreadyExists,
    ConditionFailed,
    ItemMissing,
    OperationError,
    TransactionCancelled,
    VersionConflict,
)
from partita.model._entity import schema_of
from partita.store import PutItem
from partita.testing import FakeClock

TASK = Task(user_id="u", task_id="t", title="one")
COMMENT = Comment(user_id="u", comment_id="c", text="one")


def instant(clock: FakeClock, seconds: float) -> datetime:
    return datetime.fromtimestamp(clock(), UTC) + timedelta(seconds=seconds)


# --- insert and put ---


def test_an_insert_gives_what_was_stored_with_its_first_version(db: Session) -> None:
    saved = db.run(insert(TASK))
    assert saved == TASK.model_copy(update={"version": 1})
    assert db.run(task_by_id("u", "t")) == saved


def test_an_insert_over_an_item_is_refused_and_shows_it(db: Session) -> None:
    stored = db.run(insert(TASK))
    with pytest.raises(AlreadyExists, match="This Task already exists") as caught:
        db.run(insert(TASK.model_copy(update={"title": "two"})))
    assert caught.value.current == stored
    assert db.run(task_by_id("u", "t")) == stored


def test_an_insert_without_a_version_is_refused_over_an_item_too(db: Session) -> None:
    db.run(insert(COMMENT))
    with pytest.raises(AlreadyExists):
        db.run(insert(COMMENT))


def test_what_was_stored_cannot_be_inserted_again(db: Session) -> None:
    saved = db.run(insert(TASK))
    with pytest.raises(OperationError, match="has version 1, so it is already stored"):
        insert(saved)


def test_a_put_without_a_version_overwrites(db: Session) -> None:
    db.run(put(COMMENT))
    changed = COMMENT.model_copy(update={"text": "two"})
    assert db.run(put(changed)) == changed
    assert db.run(comment_by_id("u", "c")) == changed


def test_a_put_counts_the_version(db: Session) -> None:
    saved = db.run(put(TASK))
    again = db.run(put(saved))
    assert (saved.version, again.version) == (1, 2)


def test_a_put_of_what_was_never_stored_does_not_overwrite(db: Session) -> None:
    stored = db.run(put(TASK))
    with pytest.raises(VersionConflict) as caught:
        db.run(put(TASK))
    assert caught.value.current == stored


def test_a_put_with_a_condition_says_what_is_stored_instead(db: Session) -> None:
    db.run(put(COMMENT))
    with pytest.raises(ConditionFailed) as caught:
        db.run(put(COMMENT).when(f(Comment.score).gt(0)))
    assert type(caught.value) is ConditionFailed
    assert caught.value.current == COMMENT
    assert db.run(put(COMMENT).when(f(Comment.score).eq(0))) == COMMENT


def test_an_insert_with_a_condition_of_its_own_says_which_one_failed(db: Session) -> None:
    impossible = insert(TASK).when(f(Task.title).eq("x"))
    with pytest.raises(ConditionFailed) as caught:
        db.run(impossible)
    assert type(caught.value) is ConditionFailed
    db.run(insert(TASK))
    with pytest.raises(AlreadyExists):
        db.run(impossible)


def test_conditions_add_up(db: Session) -> None:
    db.run(put(COMMENT))
    write = put(COMMENT).when(f(Comment.score).eq(0)).when(f(Comment.text).eq("two"))
    with pytest.raises(ConditionFailed):
        db.run(write)


# --- update ---


def test_an_update_gives_the_whole_item_afterwards(db: Session) -> None:
    saved = db.run(insert(TASK))
    changed = db.run(update(saved, f(Task.status).set(Status.DONE)))
    assert changed == saved.model_copy(update={"status": Status.DONE, "version": 2})


def test_an_update_by_key_changes_only_what_it_names_and_counts_the_version(db: Session) -> None:
    db.run(insert(TASK))
    changed = db.run(update(task_by_id("u", "t"), f(Task.title).set("two")))
    assert changed == TASK.model_copy(update={"title": "two", "version": 2})


@pytest.mark.parametrize(
    "changes", [[f(Task.title).set("x")], [f(Task.status).set(Status.DONE)], [f(Task.points).remove()]]
)
def test_an_update_never_makes_an_item(db: Session, changes: list[Any]) -> None:
    with pytest.raises(ItemMissing, match="There is no such Task"):
        db.run(update(task_by_id("u", "t"), *changes))
    assert db.run(task_by_id("u", "t")) is None


def test_an_update_of_what_was_never_stored_is_refused(db: Session) -> None:
    with pytest.raises(ItemMissing):
        db.run(update(TASK, f(Task.title).set("x")))
    assert db.run(task_by_id("u", "t")) is None


# --- items from before their entity had a version ---


@pytest.fixture
def unversioned(db: Session) -> Task:
    """A task that is stored without its version attribute, as it is read."""
    item = schema_of(Task).item(TASK)
    del item["version"]
    db.store.execute(PutItem(schema_of(Task).table.name, item))
    found = db.run(task_by_id("u", "t"))
    assert found is not None
    assert found.version == 0
    return found


@pytest.mark.parametrize(
    "write",
    [
        lambda task: update(task, f(Task.title).set("new")),
        lambda task: update(task, f(Task.status).set(Status.DONE)),
        lambda _: update(task_by_id("u", "t"), f(Task.title).set("new")),
        lambda _: update(task_by_id("u", "t"), f(Task.status).set(Status.DONE)),
        put,
    ],
)
def test_an_item_without_a_version_gets_its_first(
    write: Callable[[Task], Operation[Task]], unversioned: Task, db: Session
) -> None:
    written = db.run(write(unversioned))
    assert (written.version, db.run(task_by_id("u", "t"))) == (1, written)


def test_an_item_without_a_version_can_be_deleted(unversioned: Task, db: Session) -> None:
    assert db.run(delete(unversioned)) == unversioned


@pytest.mark.parametrize("write", [put, delete, lambda task: update(task, f(Task.title).set("x"))])
def test_who_read_an_item_without_a_version_may_come_second(
    write: Callable[[Task], Operation[Any]], unversioned: Task, db: Session
) -> None:
    first = db.run(update(unversioned, f(Task.title).set("first")))
    with pytest.raises(VersionConflict) as caught:
        db.run(write(unversioned))
    assert caught.value.current == first


def test_an_insert_never_replaces_an_item_without_a_version(unversioned: Task, db: Session) -> None:
    with pytest.raises(AlreadyExists):
        db.run(insert(TASK))
    assert db.run(task_by_id("u", "t")) == unversioned


def test_an_update_with_a_false_condition_says_what_is_stored_instead(db: Session) -> None:
    saved = db.run(insert(TASK))
    with pytest.raises(ConditionFailed) as caught:
        db.run(update(saved, f(Task.title).set("x")).when(f(Task.status).eq(Status.DONE)))
    assert type(caught.value) is ConditionFailed
    assert caught.value.current == saved


# --- delete ---


@pytest.mark.parametrize("at", [lambda saved: saved, lambda _: task_by_id("u", "t")])
def test_a_delete_gives_what_it_deleted(db: Session, at: Callable[[Task], Any]) -> None:
    saved = db.run(insert(TASK))
    assert db.run(delete(at(saved))) == saved
    assert db.run(task_by_id("u", "t")) is None


def test_a_delete_by_key_of_nothing_gives_nothing(db: Session) -> None:
    assert db.run(delete(task_by_id("u", "t"))) is None


def test_a_guarded_delete_of_nothing_says_so(db: Session) -> None:
    saved = db.run(insert(TASK))
    db.run(delete(saved))
    with pytest.raises(ItemMissing):
        db.run(delete(saved))


def test_a_delete_with_a_false_condition_deletes_nothing(db: Session) -> None:
    saved = db.run(insert(TASK))
    with pytest.raises(ConditionFailed) as caught:
        db.run(delete(task_by_id("u", "t")).when(f(Task.status).eq(Status.DONE)))
    assert caught.value.current == saved
    assert db.run(task_by_id("u", "t")) == saved


# --- optimistic locking ---

GUARDED: dict[str, Callable[[Task], Operation[Any]]] = {
    "put": put,
    "update": lambda task: update(task, f(Task.title).set("mine")),
    "update of an index": lambda task: update(task, f(Task.status).set(Status.DONE)),
    "update with unknown operand": lambda task: update(task, f(Task.points).set_if_missing(3)),
    "delete": delete,
}


@pytest.mark.parametrize("write", GUARDED.values(), ids=GUARDED)
def test_the_second_writer_learns_what_the_first_wrote(db: Session, write: Callable[[Task], Operation[Any]]) -> None:
    read = db.run(insert(TASK))
    first = db.run(update(read, f(Task.title).set("theirs")))
    with pytest.raises(VersionConflict, match="Another writer changed this Task first") as caught:
        db.run(write(read))
    assert caught.value.current == first
    assert db.run(task_by_id("u", "t")) == first


@pytest.mark.parametrize("write", GUARDED.values(), ids=GUARDED)
def test_the_second_writer_learns_it_in_a_transaction_too(db: Session, write: Callable[[Task], Any]) -> None:
    read = db.run(insert(TASK))
    first = db.run(update(read, f(Task.title).set("theirs")))
    with pytest.raises(TransactionCancelled) as caught:
        db.run(transact(insert(COMMENT), write(read)))
    error = caught.value.reasons[1].error
    assert isinstance(error, VersionConflict)
    assert error.current == first
    assert db.run(comment_by_id("u", "c")) is None


@pytest.mark.parametrize("write", GUARDED.values(), ids=GUARDED)
def test_the_first_writer_goes_through(db: Session, write: Callable[[Task], Operation[Any]]) -> None:
    read = db.run(insert(TASK))
    db.run(write(read))
    now = db.run(task_by_id("u", "t"))
    assert now is None or now.version == 2


def test_a_writer_without_the_item_is_noticed_by_those_who_hold_it(db: Session) -> None:
    read = db.run(insert(TASK))
    db.run(update(task_by_id("u", "t"), f(Task.title).set("theirs")))
    with pytest.raises(VersionConflict):
        db.run(put(read))


def test_a_conflict_after_a_delete_is_a_missing_item_or_a_conflict_with_nothing(db: Session) -> None:
    read = db.run(insert(TASK))
    db.run(delete(read))
    with pytest.raises(ItemMissing):
        db.run(update(read, f(Task.title).set("x")))
    with pytest.raises(VersionConflict) as caught:
        db.run(put(read))
    assert caught.value.current is None


# --- expiry ---


def test_an_expired_item_is_not_there_although_it_is_stored(db: Session, fake_clock: FakeClock) -> None:
    saved = db.run(insert(TASK.model_copy(update={"expires_at": instant(fake_clock, 10)})))
    fake_clock.advance(9.5)
    assert db.run(task_by_id("u", "t")) == saved
    fake_clock.advance(0.5)
    assert db.run(task_by_id("u", "t")) is None


def test_an_expired_item_can_be_inserted_over(db: Session, fake_clock: FakeClock) -> None:
    db.run(insert(TASK.model_copy(update={"expires_at": instant(fake_clock, 10)})))
    with pytest.raises(AlreadyExists):
        db.run(insert(TASK))
    fake_clock.advance(10)
    again = db.run(insert(TASK))
    assert db.run(task_by_id("u", "t")) == again


@pytest.mark.parametrize(
    "change", [f(Task.title).set("x"), f(Task.status).set(Status.DONE), f(Task.points).set_if_missing(1)]
)
def test_an_expired_item_cannot_be_updated(db: Session, fake_clock: FakeClock, change: Any) -> None:
    saved = db.run(insert(TASK.model_copy(update={"expires_at": instant(fake_clock, 10)})))
    fake_clock.advance(10)
    for at in (saved, task_by_id("u", "t")):
        with pytest.raises(ItemMissing):
            db.run(update(at, change))


def test_deleting_an_expired_item_gives_nothing(db: Session, fake_clock: FakeClock) -> None:
    db.run(insert(TASK.model_copy(update={"expires_at": instant(fake_clock, 10)})))
    fake_clock.advance(10)
    assert db.run(delete(task_by_id("u", "t"))) is None


def test_an_expired_item_is_in_no_query(db: Session, fake_clock: FakeClock) -> None:
    kept = db.run(insert(Task(user_id="u", task_id="kept")))
    db.run(insert(TASK.model_copy(update={"expires_at": instant(fake_clock, 10)})))
    fake_clock.advance(10)
    assert db.run(tasks_of("u")).items == (kept,)
    assert db.run(tasks_with_status("u", Status.OPEN)).items == (kept,)
    assert db.run(tasks_of("u").count()) == 1
    assert db.run(tasks_of("u").walk(max_items=9)).items == (kept,)
    assert db.run(tasks_of("u").reversed().first()) == kept
