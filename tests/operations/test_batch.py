"""Batches: splitting, results in the order of the gets, retries, and the error that names unprocessed items."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.model.sample import Comment, Step, Task, Title, comment_by_id, fresh_session, session_on, steady, task_by_id

from partita import (
    AsyncSession,
    EmbeddedStore,
    Get,
    Rcu,
    Session,
    batch_get,
    batch_write,
    delete,
    explain,
    f,
    get,
    insert,
    put,
    transact_get,
)
from partita.errors import ModelError, OperationError, Unprocessed, ValidationFailed
from partita.store import BatchGetItem, BatchWriteItem, GetItem
from partita.testing import FakeClock, FaultyStore, assert_budget


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
    assert (writes, sorted(gets)) == ([25, 25, 25, 25, 20], [20, 100])


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
    assert fake_clock() > before  # it waited between the attempts


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
        batch_write([write])  # type: ignore[list-item]  # the writes have several types


def test_one_item_may_be_asked_for_twice(faulty: Session, store: FaultyStore) -> None:
    """DynamoDB refuses a batch that names an item twice, so such an item is requested once."""
    task = faulty.run(insert(Task(user_id="u", task_id="t")))
    assert faulty.run(batch_get([task_by_id("u", "t"), task_by_id("u", "t")])) == (task, task)
    assert [len(request.gets) for request in store.requests if isinstance(request, BatchGetItem)] == [1]
    with pytest.raises(ValidationFailed):
        faulty.run(batch_write([put(Comment(user_id="u", comment_id="c"))] * 2))


class Meeting:
    """A store whose batch gets block until as many of them as `parties` are running at the same time."""

    def __init__(self, store: EmbeddedStore, parties: int) -> None:
        self._store = store
        self._threads = threading.Barrier(parties, timeout=60)
        self._waiting = 0
        self._parties = parties
        self._all_here = asyncio.Event()

    def execute(self, request: Any) -> Any:
        if isinstance(request, BatchGetItem):
            self._threads.wait()
        return self._store.execute(request)

    async def execute_async(self, request: Any) -> Any:
        if isinstance(request, BatchGetItem):
            self._waiting += 1
            if self._waiting == self._parties:
                self._all_here.set()
            await asyncio.wait_for(self._all_here.wait(), 10)
        return await self._store.execute_async(request)

    def close(self) -> None:
        """Do nothing: the fixture closes the store."""


def test_the_requests_of_a_large_batch_are_sent_at_once(db: Session, partita_store: EmbeddedStore) -> None:
    db.run(batch_write([put(comment) for comment in comments(450)]))
    gets = [comment_by_id("u", str(n)) for n in range(450)]
    meeting = Session(Meeting(partita_store, 5))
    with meeting.meter.watch() as seen:
        assert meeting.run(batch_get(gets)) == tuple(comments(450))
    assert [run.requests for run in seen] == [("BatchGetItem",) * 5]
    assert seen[0].read == 450 * 0.5
    assert asyncio.run(AsyncSession(Meeting(partita_store, 5)).run(batch_get(gets))) == tuple(comments(450))


def test_one_failing_part_of_a_large_batch_fails_all(faulty: Session, store: FaultyStore) -> None:
    store.unprocessed(99)
    with pytest.raises(Unprocessed, match="1 of 100 reads were left unprocessed"):
        faulty.run(batch_get([comment_by_id("u", str(n)) for n in range(100)] + [task_by_id("u", "t").consistent()]))


def test_a_large_batch_is_explained_as_a_whole() -> None:
    explained = explain(batch_get([comment_by_id("u", str(n)) for n in range(250)]))
    assert (explained.call, explained.predicted) == ("BatchGetItem", Rcu(125))


class Score(BaseModel):
    """A view of a comment."""

    comment_id: str
    score: int = 0


@get(Comment, view=Score, budget=Rcu(0.5))
def score_of(user_id: str, comment_id: str) -> None:
    """The score of a comment."""


def test_a_get_gives_a_view(faulty: Session, store: FaultyStore) -> None:
    faulty.run(put(Comment(user_id="u", comment_id="c", score=3, text="x" * 100)))
    assert assert_budget(faulty, score_of("u", "c")) == Score(comment_id="c", score=3)
    assert faulty.run(score_of("u", "none").consistent()) is None
    request = next(request for request in store.requests if isinstance(request, GetItem))
    assert {str(path.parts[0]) for path in request.projection or ()} == {"comment_id", "score", "PK", "SK"}
    assert "ProjectionExpression" in explain(score_of("u", "c")).request


def test_an_expired_item_has_no_view(db: Session, fake_clock: FakeClock) -> None:
    soon = datetime.fromtimestamp(fake_clock() + 5, UTC)
    db.run(insert(Task(user_id="u", task_id="t", expires_at=soon)))
    assert db.run(task_title("u", "t")) == Title(task_id="t", title="")
    fake_clock.advance(10)
    assert db.run(task_title("u", "t")) is None


@get(Task, view=Title)
def task_title(user_id: str, task_id: str) -> None:
    """The title of a task."""


def test_batches_and_transactions_give_views_too(db: Session) -> None:
    comment = db.run(put(Comment(user_id="u", comment_id="c", score=3)))
    gets: list[Get[Any]] = [score_of("u", "c"), comment_by_id("u", "c"), score_of("u", "none")]
    assert db.run(batch_get(gets)) == (Score(comment_id="c", score=3), comment, None)
    assert db.run(transact_get(score_of("u", "c"), task_title("u", "t"))) == (Score(comment_id="c", score=3), None)


def test_a_view_with_a_field_that_the_entity_has_not_is_refused() -> None:
    class Wrong(BaseModel):
        mark: int

    with pytest.raises(ModelError, match="The view Wrong has 'mark', which Comment does not have"):

        @get(Comment, view=Wrong)
        def wrong(user_id: str, comment_id: str) -> None: ...


def test_gets_of_different_consistency_are_sent_apart(faulty: Session, store: FaultyStore) -> None:
    """A BatchGetItem request has one consistency for all keys of a table."""
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
