"""Transactions: all or nothing, reasons mapped to operations, tokens, and reads of several items at one instant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.model.sample import Comment, Status, Task, User, comment_by_id, session_on, task_by_id, user_by_id

from partita import EmbeddedStore, Session, absent, check, delete, f, insert, put, transact, transact_get, update
from partita.errors import (
    AlreadyExists,
    ConditionFailed,
    ItemMissing,
    OperationError,
    StoreUnavailable,
    TokenMismatch,
    TransactionCancelled,
)
from partita.store import TransactWriteItems
from partita.testing import FakeClock, FaultyStore

TASK = Task(user_id="u", task_id="t")
ADA = User(user_id="u", name="Ada")
COMMENT = Comment(user_id="u", comment_id="c")


def test_all_writes_of_a_transaction_happen(db: Session) -> None:
    db.run(put(COMMENT))
    db.transact(insert(TASK), put(ADA), delete(comment_by_id("u", "c")))
    assert db.run(transact_get(task_by_id("u", "t"), user_by_id("u"), comment_by_id("u", "c"))) == (
        TASK.model_copy(update={"version": 1}),
        ADA,
        None,
    )


def test_nothing_of_a_cancelled_transaction_happens(db: Session) -> None:
    db.run(insert(ADA))
    with pytest.raises(TransactionCancelled):
        db.transact(insert(TASK), insert(ADA))
    assert db.run(task_by_id("u", "t")) is None


def test_reasons_name_the_operation_and_the_error_it_would_have_raised(db: Session) -> None:
    db.run(insert(ADA))
    task = db.run(insert(TASK))
    operations = (
        put(COMMENT),
        insert(ADA),
        update(task, f(Task.title).set("x")).when(f(Task.status).eq(Status.DONE)),
        check(task_by_id("u", "none")),
    )
    with pytest.raises(TransactionCancelled) as caught:
        db.transact(*operations)
    assert [reason.code for reason in caught.value.reasons] == ["None", *["ConditionalCheckFailed"] * 3]
    assert tuple(reason.operation for reason in caught.value.reasons) == operations
    errors = [reason.error for reason in caught.value.reasons]
    assert [type(error) for error in errors] == [type(None), AlreadyExists, ConditionFailed, ItemMissing]
    assert [reason.operation for reason in caught.value.failed] == list(operations[1:])
    assert errors[1] is not None
    assert errors[1].current == ADA
    assert str(caught.value).endswith(f"The first action that failed: {errors[1]}")


@pytest.mark.parametrize("stored", [True, False])
def test_check_and_absent_look_for_an_item(db: Session, stored: bool) -> None:  # noqa: FBT001
    if stored:
        db.run(insert(ADA))
    good, bad = check(user_by_id("u")), absent(user_by_id("u"))
    if not stored:
        good, bad = bad, good
    db.transact(put(COMMENT), good)
    with pytest.raises(TransactionCancelled):
        db.transact(put(COMMENT), bad)


def test_a_check_with_a_condition_needs_both(db: Session) -> None:
    db.run(insert(ADA))
    db.transact(put(COMMENT), check(user_by_id("u"), f(User.name).eq("Ada")))
    with pytest.raises(TransactionCancelled) as caught:
        db.transact(put(COMMENT), check(user_by_id("u"), f(User.name).eq("Eve")))
    error = caught.value.reasons[1].error
    assert error is not None
    assert error.current == ADA


def test_a_check_on_another_entitys_field_is_refused() -> None:
    with pytest.raises(OperationError, match="User has no attribute 'title'"):
        check(user_by_id("u"), f(Task.title).eq("x"))


def test_an_expired_item_is_absent_in_a_transaction_too(db: Session, fake_clock: FakeClock) -> None:
    at = datetime.fromtimestamp(fake_clock() + 5, UTC)
    db.run(insert(TASK.model_copy(update={"expires_at": at})))
    fake_clock.advance(5)
    assert db.run(transact_get(task_by_id("u", "t"))) == (None,)
    db.transact(put(COMMENT), absent(task_by_id("u", "t")))
    with pytest.raises(TransactionCancelled) as caught:
        db.transact(put(COMMENT), check(task_by_id("u", "t")))
    assert type(caught.value.reasons[1].error) is ItemMissing


@pytest.mark.parametrize("count", [0, 101])
def test_a_transaction_has_1_to_100_actions(count: int) -> None:
    comments = [put(Comment(user_id="u", comment_id=str(n))) for n in range(count)]
    with pytest.raises(OperationError, match=f"1 to 100 actions, not {count}"):
        transact(*comments)
    with pytest.raises(OperationError, match=f"1 to 100 actions, not {count}"):
        transact_get(*[comment_by_id("u", str(n)) for n in range(count)])


def test_a_transaction_of_100_actions_goes_through(db: Session) -> None:
    db.transact(*[put(Comment(user_id="u", comment_id=str(n))) for n in range(100)])
    assert db.run(comment_by_id("u", "99")) is not None


# --- tokens ---


def test_the_same_transaction_with_the_same_token_runs_once(db: Session) -> None:
    db.run(put(COMMENT))
    once = transact(update(comment_by_id("u", "c"), f(Comment.text).set("x")), insert(ADA), token="token")
    db.run(once)
    db.run(once)
    assert db.run(user_by_id("u")) == ADA


def test_another_transaction_with_the_same_token_is_refused(db: Session) -> None:
    db.run(transact(put(ADA), token="token"))
    with pytest.raises(TokenMismatch):
        db.run(transact(put(COMMENT), token="token"))


def test_a_token_is_forgotten_after_ten_minutes(db: Session, fake_clock: FakeClock) -> None:
    db.transact(put(ADA), token="token")
    fake_clock.advance(601)
    db.transact(put(COMMENT), token="token")
    assert db.run(comment_by_id("u", "c")) == COMMENT


def test_the_same_transaction_of_an_expiring_entity_keeps_its_token_while_time_passes(
    db: Session, fake_clock: FakeClock
) -> None:
    """A retry a second later must be the same request, so it must not contain the time at which it is sent."""
    once = transact(insert(TASK), token="token")
    db.run(once)
    fake_clock.advance(1)
    db.run(once)
    assert db.run(task_by_id("u", "t")) == TASK.model_copy(update={"version": 1})


def test_a_lost_response_is_asked_for_again_where_a_token_makes_that_safe(
    partita_store: EmbeddedStore, fake_clock: FakeClock
) -> None:
    store = FaultyStore(partita_store)
    db = session_on(store, fake_clock)
    store.unavailable(on=TransactWriteItems, happens=True)
    db.transact(insert(ADA), token="token")
    assert db.run(user_by_id("u")) == ADA
    store.unavailable(on=TransactWriteItems, happens=True)
    with pytest.raises(StoreUnavailable):
        db.transact(insert(COMMENT))


# --- reads ---


def test_a_transactional_read_costs_twice_a_consistent_one(db: Session) -> None:
    with db.meter.watch() as seen:
        db.run(transact_get(user_by_id("u"), task_by_id("u", "t")))
    assert [run.read for run in seen] == [4.0]
