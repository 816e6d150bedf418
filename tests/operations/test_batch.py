"""Batches: split as DynamoDB asks, aligned with what was asked, finished or named as unfinished."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.sample import Comment, Step, Task, comment_by_id, fresh_session, session_on, steady, task_by_id

from partita import EmbeddedStore, Get, Session, batch_get, batch_write, delete, f, insert, put
from partita.errors import OperationError, Unprocessed, ValidationFailed
from partita.store import BatchGetItem, BatchWriteItem
from partita.testing import FakeClock, FaultyStore


@pytest.fixture
def store(partita_store: EmbeddedStore) -> FaultyStore:
    return FaultyStore(partita_store)


@pytest.fixture
def faulty(store: FaultyStore, fake_clock: FakeClock) -> Session:
    return session_on(store, fake_clock)


def comments(count: int) -> list[Comment]:
    return [Comment(user_id="u", comment_id=str(n)) for n in range(count)]


@steady
@given(st.lists(st.integers(0, 20), unique=True, max_size=20))
def test_results_align_with_the_gets(wanted: list[int]) -> None:
    with fresh_session() as db:
        db.run(batch_write([put(comment) for comment in comments(10)]))
        found = db.run(batch_get([comment_by_id("u", str(n)) for n in wanted]))
        assert found == tuple(Comment(user_id="u", comment_id=str(n)) if n < 10 else None for n in wanted)


@pytest.mark.req("C24")
def test_large_batches_are_split(faulty: Session, store: FaultyStore) -> None:
    faulty.run(batch_write([put(comment) for comment in comments(120)]))
    faulty.run(batch_get([comment_by_id("u", str(n)) for n in range(120)]))
    writes = [len(request.writes) for request in store.requests if isinstance(request, BatchWriteItem)]
    gets = [len(request.gets) for request in store.requests if isinstance(request, BatchGetItem)]
    assert (writes, gets) == ([25, 25, 25, 25, 20], [100, 20])


def test_a_batch_writes_and_deletes(db: Session) -> None:
    db.run(put(Comment(user_id="u", comment_id="old")))
    db.run(batch_write([put(Comment(user_id="u", comment_id="new")), delete(comment_by_id("u", "old"))]))
    found = db.run(batch_get([comment_by_id("u", "old"), comment_by_id("u", "new")]))
    assert found == (None, Comment(user_id="u", comment_id="new"))


def test_an_empty_batch_sends_nothing(faulty: Session, store: FaultyStore) -> None:
    before = len(store.requests)
    assert faulty.run(batch_get([])) == ()
    faulty.run(batch_write([]))
    assert len(store.requests) == before


def test_what_is_left_unprocessed_is_sent_again(faulty: Session, store: FaultyStore, fake_clock: FakeClock) -> None:
    before = fake_clock()
    store.unprocessed(2, count=3)
    faulty.run(batch_write([put(comment) for comment in comments(5)]))
    store.unprocessed(2, count=2)
    found = faulty.run(batch_get([comment_by_id("u", str(n)) for n in range(5)]))
    assert found == tuple(comments(5))
    sizes = [len(request.writes) for request in store.requests if isinstance(request, BatchWriteItem)]
    assert sizes == [5, 3, 3]
    assert fake_clock() > before  # it waited between the tries


def test_a_batch_that_cannot_be_finished_names_the_writes_that_are_left(faulty: Session, store: FaultyStore) -> None:
    store.unprocessed(99, count=2)
    writes = [put(comment) for comment in comments(30)]
    with pytest.raises(Unprocessed, match="7 of 30 writes were left unprocessed") as caught:
        faulty.run(batch_write(writes))
    assert caught.value.operations == (*writes[23:25], *writes[25:])
    assert faulty.run(comment_by_id("u", "22")) is not None


def test_a_batch_that_cannot_be_finished_names_the_gets_that_are_left(faulty: Session, store: FaultyStore) -> None:
    faulty.run(batch_write([put(comment) for comment in comments(5)]))
    store.unprocessed(99)
    gets = [comment_by_id("u", str(n)) for n in range(5)]
    with pytest.raises(Unprocessed, match="1 of 5 reads were left unprocessed") as caught:
        faulty.run(batch_get(gets))
    assert caught.value.operations == (gets[4],)


@pytest.mark.parametrize(
    "write",
    [
        put(Task(user_id="u", task_id="t")),
        insert(Comment(user_id="u", comment_id="c")),
        delete(Task(user_id="u", task_id="t", version=3)),
        put(Comment(user_id="u", comment_id="c")).when(f(Comment.score).gt(1)),
        delete(comment_by_id("u", "c")).when(f(Comment.score).gt(1)),
    ],
    ids=["versioned put", "insert", "versioned delete", "conditional put", "conditional delete"],
)
def test_a_conditional_write_in_a_batch_is_refused(write: object) -> None:
    with pytest.raises(OperationError, match="a batch cannot check conditions"):
        batch_write([write])  # type: ignore[list-item]  # of all kinds


def test_one_item_twice_in_a_batch_is_refused_by_the_store(db: Session) -> None:
    with pytest.raises(ValidationFailed):
        db.run(batch_get([task_by_id("u", "t"), task_by_id("u", "t")]))


def test_gets_of_different_consistency_are_sent_apart(faulty: Session, store: FaultyStore) -> None:
    """A batch request has one consistency for all keys of a table."""
    faulty.run(batch_write([put(comment) for comment in comments(3)]))
    gets = [comment_by_id("u", "0"), comment_by_id("u", "1").consistent(), comment_by_id("u", "2")]
    assert faulty.run(batch_get(gets)) == tuple(comments(3))
    sent = [request for request in store.requests if isinstance(request, BatchGetItem)]
    assert [len({get.consistent for get in request.gets}) for request in sent] == [1] * len(sent)


def test_a_batch_reads_different_entities(db: Session) -> None:
    comment = db.run(put(Comment(user_id="u", comment_id="c")))
    task = db.run(insert(Task(user_id="u", task_id="t")))
    db.run(put(Step(user_id="u", task_id="t", number=1)))
    gets: list[Get[Any]] = [comment_by_id("u", "c"), task_by_id("u", "t")]
    assert db.run(batch_get(gets)) == (comment, task)
