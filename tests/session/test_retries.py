"""Retries: requests that were not executed, or may be repeated, are retried; writes with an unknown outcome are not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.model.sample import (
    SAMPLES,
    Comment,
    Status,
    Task,
    board,
    comment_by_id,
    session_on,
    task_by_id,
    tasks_of,
    tasks_with_status,
)

from partita import (
    AsyncSession,
    EmbeddedStore,
    Operation,
    Session,
    batch_get,
    batch_write,
    delete,
    f,
    insert,
    put,
    transact,
    transact_get,
    update,
)
from partita.errors import (
    AlreadyExists,
    ConditionFailed,
    StoreUnavailable,
    Throttled,
    TransactionCancelled,
    TransactionConflict,
    Unprocessed,
)
from partita.operations import scan
from partita.runtime import RetryPolicy
from partita.testing import FakeClock, FaultyStore

COMMENT = Comment(user_id="u", comment_id="c")
TASK = Task(user_id="u", task_id="t")

READS: dict[str, Operation[Any]] = {
    "get": comment_by_id("u", "c"),
    "query": tasks_of("u"),
    "count": tasks_with_status("u", Status.OPEN).count(),
    "walk": tasks_of("u").walk(max_items=5),
    "first": tasks_of("u").first(),
    "collect": board("u"),
    "batch get": batch_get([comment_by_id("u", "c")]),
    "transact get": transact_get(comment_by_id("u", "c"), task_by_id("u", "t")),
}
WRITES: dict[str, Operation[Any]] = {
    "put": put(Comment(user_id="u", comment_id="new")),
    "insert": insert(TASK),
    "update": update(comment_by_id("u", "c"), f(Comment.text).set("x")),
    "update that reads first": update(comment_by_id("u", "c"), f(Comment.score).add(1)),
    "delete": delete(comment_by_id("u", "c")),
    "transact": transact(insert(TASK), put(Comment(user_id="u", comment_id="new"))),
    "batch write": batch_write([put(Comment(user_id="u", comment_id="new"))]),
}
ALL = READS | WRITES


@pytest.fixture
def store(partita_store: EmbeddedStore) -> FaultyStore:
    return FaultyStore(partita_store)


@pytest.fixture
def db(store: FaultyStore, fake_clock: FakeClock) -> Session:
    db = session_on(store, fake_clock)
    db.run(put(COMMENT))
    return db


def plan_throttling(store: FaultyStore) -> None:
    store.throttle(3)


def plan_conflicts(store: FaultyStore) -> None:
    store.conflict(3)


@pytest.mark.rule(39)
@pytest.mark.parametrize("plan", [plan_throttling, plan_conflicts])
@pytest.mark.parametrize("name", ALL)
def test_what_was_refused_for_now_is_tried_again(
    db: Session, store: FaultyStore, fake_clock: FakeClock, name: str, plan: Callable[[FaultyStore], None]
) -> None:
    before = fake_clock()
    plan(store)
    db.run(ALL[name])
    assert store.pending == 0
    assert fake_clock() > before
    assert sum(usage.retries for usage in db.meter.usage()) == 3


@pytest.mark.rule(39)
@pytest.mark.parametrize(("plan", "error"), [("throttle", Throttled), ("conflict", TransactionConflict)])
def test_it_gives_up_after_eight_tries(db: Session, store: FaultyStore, plan: str, error: type[Exception]) -> None:
    getattr(store, plan)(99)
    before = len(store.requests)
    with pytest.raises(error):
        db.run(comment_by_id("u", "c"))
    assert len(store.requests) - before == 8


@pytest.mark.parametrize("name", READS)
def test_a_read_without_a_response_is_tried_again(db: Session, store: FaultyStore, name: str) -> None:
    store.unavailable(2, happens=True)
    db.run(READS[name])
    assert store.pending == 0


UNSAFE = [name for name in WRITES if name != "update that reads first"]


@pytest.mark.parametrize("happens", [True, False])
@pytest.mark.parametrize("name", UNSAFE)
def test_a_write_without_a_response_is_not_sent_again(
    db: Session,
    store: FaultyStore,
    name: str,
    happens: bool,  # noqa: FBT001
) -> None:
    store.unavailable(happens=happens)
    before = len(store.requests)
    with pytest.raises(StoreUnavailable):
        db.run(WRITES[name])
    assert len(store.requests) - before == 1


def test_a_transaction_with_a_token_is_sent_again_and_runs_once(db: Session, store: FaultyStore) -> None:
    store.unavailable(2, happens=True)
    db.transact(insert(TASK), update(comment_by_id("u", "c"), f(Comment.text).set("once")), token="token")
    assert store.pending == 0
    assert db.run(task_by_id("u", "t")) == TASK.model_copy(update={"version": 1})


@pytest.mark.parametrize("trouble", ["throttle", "conflict"])
def test_a_transaction_that_may_have_happened_is_not_called_refused(
    db: Session, store: FaultyStore, trouble: str
) -> None:
    """A caller that gets a refusal would retry with another token, and the transaction would be executed twice."""
    store.unavailable(happens=True)
    getattr(store, trouble)(7)
    with pytest.raises(StoreUnavailable):
        db.run(transact(insert(TASK), token="once"))
    assert db.run(task_by_id("u", "t")) == TASK.model_copy(update={"version": 1})


def test_a_cancellation_says_that_no_earlier_try_has_happened(db: Session, store: FaultyStore) -> None:
    store.unavailable()
    with pytest.raises(TransactionCancelled):
        db.run(transact(insert(COMMENT), token="once"))


def test_a_failed_condition_is_not_tried_again(db: Session, store: FaultyStore) -> None:
    before = len(store.requests)
    with pytest.raises(AlreadyExists):
        db.run(insert(COMMENT))
    with pytest.raises(ConditionFailed):
        db.run(put(COMMENT).when(f(Comment.score).gt(5)))
    with pytest.raises(TransactionCancelled):
        db.transact(insert(COMMENT))
    assert len(store.requests) - before == 3


@pytest.mark.parametrize(
    ("name", "plan"),
    [("get", "throttle"), ("put", "conflict"), ("batch get", "unprocessed"), ("batch write", "unprocessed")],
)
def test_a_session_and_its_batches_keep_to_one_policy(
    store: FaultyStore, fake_clock: FakeClock, name: str, plan: str
) -> None:
    pauses: list[float] = []
    db = session_on(store, fake_clock, sleep=pauses.append, retry=RetryPolicy(tries=3, base_seconds=0.5))
    getattr(store, plan)(99)
    before = len(store.requests)
    with pytest.raises((Throttled, TransactionConflict, Unprocessed)):
        db.run(ALL[name])
    assert len(store.requests) - before == 3
    assert len(pauses) == 2
    assert all(0 <= pause <= ceiling for pause, ceiling in zip(pauses, (1, 2), strict=True))


def test_pauses_grow_and_are_never_longer_than_five_seconds(store: FaultyStore, fake_clock: FakeClock) -> None:
    pauses: list[float] = []
    db = session_on(store, fake_clock, sleep=pauses.append)
    store.throttle(7)
    db.run(comment_by_id("u", "c"))
    ceilings = [min(5.0, 0.025 * 2**attempt) for attempt in range(1, 8)]
    assert len(pauses) == 7
    assert all(0 <= pause <= ceiling for pause, ceiling in zip(pauses, ceilings, strict=True))
    assert max(pauses) > ceilings[0]


def test_pauses_differ_between_sessions(store: FaultyStore) -> None:
    """Full jitter: clients that failed at the same time do not retry at the same time."""

    def pauses_of_a_session() -> list[float]:
        pauses: list[float] = []
        store.throttle(3)
        Session(store, sleep=pauses.append).run(comment_by_id("u", "c"))
        return pauses

    Session(store).create_tables(SAMPLES)
    assert pauses_of_a_session() != pauses_of_a_session()


def test_a_maintenance_session_waits_as_its_session_does(store: FaultyStore, fake_clock: FakeClock) -> None:
    pauses: list[float] = []
    db = session_on(store, fake_clock, sleep=pauses.append)
    store.throttle(3)
    db.maintenance("look").run(scan(Task))
    assert len(pauses) == 3


def test_an_async_session_tries_again_too(store: FaultyStore) -> None:
    async def main() -> tuple[Comment, list[float]]:
        pauses: list[float] = []

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)

        adb = AsyncSession(store, sleep=sleep)
        await adb.create_tables(SAMPLES)
        store.throttle(2)
        store.conflict(1)
        return await adb.run(put(COMMENT)), pauses

    saved, pauses = asyncio.run(main())
    assert saved == COMMENT
    assert len(pauses) == 3
