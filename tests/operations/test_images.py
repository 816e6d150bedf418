"""Images: the item before and after each kind of write, from the request that wrote it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.model.sample import Comment, Status, Task, comment_by_id, create_task, task_by_id

from partita import Images, Session, delete, explain, f, insert, put, transact, update, upsert
from partita.errors import OperationError, VersionConflict
from partita.store import PutItem
from partita.testing import FakeClock, assert_budget

TASK = Task(user_id="u", task_id="t", title="one")
COMMENT = Comment(user_id="u", comment_id="c", text="one")


def test_a_put_gives_what_it_replaced(db: Session) -> None:
    assert db.run(put(COMMENT).images()) == Images(None, COMMENT)
    changed = COMMENT.model_copy(update={"text": "two"})
    with db.meter.watch() as seen:
        assert db.run(put(changed).images()) == Images(COMMENT, changed)
    assert [run.requests for run in seen] == [("PutItem",)]


def test_an_insert_replaces_nothing_even_where_an_expired_item_lies(db: Session, fake_clock: FakeClock) -> None:
    soon = datetime.fromtimestamp(fake_clock(), UTC) + timedelta(seconds=5)
    db.run(insert(TASK.model_copy(update={"expires_at": soon})))
    fake_clock.advance(10)
    images = db.run(insert(TASK).images())
    assert (images.old, images.new.version) == (None, 1)


def test_what_did_not_fit_the_entity_is_replaced_without_an_error(db: Session) -> None:
    broken = {"PK": "USER#u", "SK": "COMMENT#c", "user_id": "u", "comment_id": "c", "score": "high"}
    db.store.execute(PutItem("sample", broken))
    assert db.run(put(COMMENT).images()) == Images(None, COMMENT)


@pytest.mark.parametrize("by_key", [True, False])
def test_an_update_gives_both(db: Session, by_key: bool) -> None:  # noqa: FBT001
    old = db.run(insert(TASK))
    at = task_by_id("u", "t") if by_key else old
    changes = (f(Task.status).set(Status.DONE), f(Task.notes).append(["n"]), f(Task.tags).add_members({"a"}))
    images = db.run(update(at, *changes).images())
    assert images.old == old
    assert images.new == db.run(task_by_id("u", "t"))
    assert (images.new.version, images.new.notes) == (2, ["n"])


def test_an_update_that_reads_first_gives_both_too(db: Session) -> None:
    old = db.run(insert(COMMENT.model_copy(update={"mood": "sad"})))
    images = db.run(update(comment_by_id("u", "c"), f(Comment.score).add(2)).images())
    assert (images.old, images.new.score) == (old, 2)
    assert images.new == db.run(comment_by_id("u", "c"))


def test_an_update_that_is_refused_gives_the_usual_error(db: Session) -> None:
    old = db.run(insert(TASK))
    db.run(update(old, f(Task.title).set("two")))
    with pytest.raises(VersionConflict):
        db.run(update(old, f(Task.title).set("three")).images())


def test_an_upsert_says_whether_it_created(db: Session) -> None:
    first = db.run(upsert(task_by_id("u", "t"), f(Task.title).set("one")).images())
    assert (first.old, first.new) == (None, db.run(task_by_id("u", "t")))
    second = db.run(upsert(task_by_id("u", "t"), f(Task.title).set("two")).images())
    assert (second.old, second.new) == (first.new, db.run(task_by_id("u", "t")))


def test_a_delete_gives_what_was_there(db: Session) -> None:
    task = db.run(insert(TASK))
    assert db.run(delete(task).images()) == Images(task, None)
    assert db.run(delete(task_by_id("u", "t")).images()) == Images(None, None)


def test_images_keep_the_name_and_the_budget_of_their_pattern(db: Session) -> None:
    operation = create_task(TASK).images()
    assert (operation.name, operation.budget) == ("create_task", create_task(TASK).budget)
    assert assert_budget(db, operation).old is None
    assert explain(put(COMMENT).images()).name == "Comment.put"
    assert explain(put(COMMENT).images()).request["ReturnValues"] == "ALL_OLD"


def test_a_transaction_has_no_images() -> None:
    with pytest.raises(OperationError, match="PutImages is neither a write nor a check"):
        transact(put(COMMENT).images())  # type: ignore[arg-type]
