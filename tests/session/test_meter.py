"""Metering: every run is counted by access pattern, and an exceeded budget is an error in tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.model.sample import (
    SAMPLES,
    Comment,
    Status,
    Task,
    comment_by_id,
    create_task,
    finish,
    session_on,
    task_by_id,
    tasks_of,
    tasks_with_status,
)

from partita import (
    AsyncSession,
    Budget,
    Consumption,
    EmbeddedStore,
    Meter,
    Operation,
    Procedure,
    Rcu,
    Session,
    Usage,
    Wcu,
    f,
    insert,
    put,
    update,
)
from partita.errors import AlreadyExists, BudgetExceeded, InvalidCursor, Throttled
from partita.session._meter import _Usages
from partita.store import UpdateItem
from partita.testing import FakeClock, FaultyStore

TASK = Task(user_id="u", task_id="t")
BIG = TASK.model_copy(update={"title": "x" * 9_000})


@pytest.fixture
def lenient(partita_store: EmbeddedStore, fake_clock: FakeClock) -> Session:
    """A session as in production, which only counts exceeded budgets."""
    return session_on(partita_store, fake_clock)


def usage_of(db: Session, name: str) -> Usage:
    return next(usage for usage in db.meter.usage() if usage.name == name)


# --- budgets as values ---


def test_budgets_add_up_and_say_what_they_are() -> None:
    assert Rcu(1) + Wcu(6) == Budget(read=1, write=6)
    assert str(Rcu(0.5) + Wcu(6)) == "0.5 RCU + 6 WCU"
    assert str(Budget()) == "nothing"


@pytest.mark.parametrize(
    ("read", "write", "covered"), [(1, 2, True), (0, 0, True), (1.5, 0, False), (0, 2.5, False), (1, 0, True)]
)
def test_a_budget_covers_what_is_not_more(read: float, write: float, covered: bool) -> None:  # noqa: FBT001
    assert (Rcu(1) + Wcu(2)).covers(read, write) == covered


# --- counting ---


def test_runs_are_counted_by_access_pattern(db: Session) -> None:
    db.run(create_task(TASK))
    for _ in range(3):
        db.run(task_by_id("u", "t"))
    db.run(tasks_with_status("u", Status.OPEN))
    names = [usage.name for usage in db.meter.usage()]
    assert names == ["create_task", "task_by_id", "tasks_with_status"]
    usage = usage_of(db, "task_by_id")
    assert (usage.runs, usage.requests, usage.read, usage.write, usage.max_read) == (3, 3, 1.5, 0.0, 0.5)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("Task.insert", lambda: insert(TASK)),
        ("Comment.put", lambda: put(Comment(user_id="u", comment_id="c"))),
        ("tasks_of", lambda: tasks_of("u").first()),
        ("tasks_of", lambda: tasks_of("u").count()),
        ("tasks_of", lambda: tasks_of("u").walk(max_items=3)),
    ],
)
def test_what_is_not_a_pattern_has_a_meaningful_name(
    db: Session, name: str, make: Callable[[], Operation[Any]]
) -> None:
    db.run(make())
    assert [usage.name for usage in db.meter.usage()] == [name]


def test_index_writes_are_counted(db: Session) -> None:
    with db.meter.watch() as seen:
        saved = db.run(create_task(TASK))  # the table and GSI1
        moved = db.run(finish(saved))  # the table, and GSI1 twice: the key moved
        db.run(update(moved, f(Task.title).set("x")))  # the table and GSI1
    assert [(run.name, run.write) for run in seen] == [("create_task", 2.0), ("finish", 3.0), ("Task.update", 2.0)]


def test_a_watch_sees_what_its_block_consumed(db: Session) -> None:
    db.run(insert(TASK))
    with db.meter.watch() as seen:
        db.run(task_by_id("u", "t"))
    db.run(task_by_id("u", "t"))
    assert seen == [Consumption("task_by_id", ("GetItem",), 0.5, 0.0)]


def test_a_watch_sees_every_operation_of_a_procedure(db: Session) -> None:
    def both() -> Procedure[None]:
        yield from insert(TASK)
        yield from task_by_id("u", "t")

    with db.meter.watch() as seen:
        db.run(both())
    assert [run.name for run in seen] == ["Task.insert", "task_by_id"]


def test_watches_of_two_tasks_do_not_mix(partita_store: EmbeddedStore) -> None:
    async def main() -> list[list[str]]:
        adb = AsyncSession(partita_store)
        await adb.create_tables(SAMPLES)

        async def watched(comment_id: str, times: int) -> list[str]:
            with adb.meter.watch() as seen:
                for _ in range(times):
                    await adb.run(put(Comment(user_id="u", comment_id=comment_id)))
            return [run.name for run in seen]

        return list(await asyncio.gather(watched("a", 2), watched("b", 3)))

    assert asyncio.run(main()) == [["Comment.put"] * 2, ["Comment.put"] * 3]


def test_a_watch_inside_another_hides_nothing_from_the_outer(db: Session) -> None:
    with db.meter.watch() as outer:
        db.run(comment_by_id("u", "1"))
        with db.meter.watch() as inner:
            db.run(comment_by_id("u", "2"))
        db.run(comment_by_id("u", "3"))
    assert (len(inner), len(outer)) == (1, 3)


def test_the_counts_of_many_threads_add_up(db: Session) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: [db.run(comment_by_id("u", "c")) for _ in range(25)], range(4)))
    assert usage_of(db, "comment_by_id").runs == 100


def test_sessions_may_share_a_meter(partita_store: EmbeddedStore, fake_clock: FakeClock) -> None:
    meter = Meter()
    for _ in range(2):
        session_on(partita_store, fake_clock, meter=meter).run(comment_by_id("u", "c"))
    assert [usage.runs for usage in meter.usage()] == [2]


def test_services_that_share_a_meter_are_counted_apart(db: Session) -> None:
    for service in ("shop", "depot", "shop"):
        db.of_service(service).run(comment_by_id("u", "c"))
    with pytest.raises(AlreadyExists):
        db.of_service("depot").run(insert_twice())
    counted = [(usage.service, usage.name, usage.runs, usage.failures) for usage in db.meter.usage()]
    assert counted == [
        ("depot", "Task.insert", 2, 1),
        ("depot", "comment_by_id", 1, 0),
        ("shop", "comment_by_id", 2, 0),
    ]


def insert_twice() -> Procedure[None]:
    yield from insert(TASK)
    yield from insert(TASK)


def test_usage_is_a_picture_that_does_not_move(db: Session) -> None:
    db.run(comment_by_id("u", "c"))
    (before,) = db.meter.usage()
    db.run(comment_by_id("u", "c"))
    assert before.runs == 1


def test_failures_are_counted_with_what_they_consumed(db: Session) -> None:
    db.run(insert(TASK))
    with pytest.raises(AlreadyExists):
        db.run(insert(TASK))
    with pytest.raises(InvalidCursor):
        db.run(tasks_of("u").page(1, after="forged"))
    assert usage_of(db, "Task.insert").failures == 1
    assert usage_of(db, "tasks_of").failures == 1


def test_a_failure_after_several_requests_counts_those_that_got_a_response(
    partita_store: EmbeddedStore, fake_clock: FakeClock
) -> None:
    store = FaultyStore(partita_store)
    db = session_on(store, fake_clock)
    db.run(put(Comment(user_id="u", comment_id="c")))
    store.throttle(99, on=UpdateItem)
    with db.meter.watch() as seen, pytest.raises(Throttled):
        db.run(update(comment_by_id("u", "c"), f(Comment.score).add(1)))
    assert [(run.requests, run.read) for run in seen] == [(("GetItem",), 1.0)]


# --- budgets of patterns ---


def test_a_budget_that_is_kept_does_not_matter(db: Session) -> None:
    db.run(create_task(TASK))
    assert usage_of(db, "create_task").over_budget == 0


def test_a_budget_that_is_exceeded_is_an_error_in_tests(db: Session) -> None:
    with pytest.raises(BudgetExceeded, match=r"create_task consumed 0 RCU and 18 WCU; its budget is 5 WCU\."):
        db.run(create_task(BIG))


def test_a_budget_that_is_exceeded_is_only_counted_in_production(lenient: Session) -> None:
    saved = lenient.run(create_task(BIG))
    usage = usage_of(lenient, "create_task")
    assert (usage.over_budget, usage.max_write) == (1, 18.0)
    assert lenient.run(task_by_id("u", "t")) == saved


def test_a_procedure_can_not_hide_that_a_budget_was_exceeded(db: Session) -> None:
    def within() -> Procedure[None]:
        yield from create_task(BIG)

    with pytest.raises(BudgetExceeded):
        db.run(within())


@pytest.mark.req("X10")
def test_conflicts_are_counted_apart_from_other_failures(db: Session) -> None:
    db.run(insert(TASK))
    with pytest.raises(AlreadyExists):
        db.run(insert(TASK))
    with pytest.raises(InvalidCursor):
        db.run(tasks_of("u").page(1, after="tampered"))
    assert (usage_of(db, "Task.insert").conflicts, usage_of(db, "tasks_of").conflicts) == (1, 0)


@pytest.mark.req("X10")
def test_throttles_are_counted_apart_from_other_retries(partita_store: EmbeddedStore, fake_clock: FakeClock) -> None:
    store = FaultyStore(partita_store)
    db = session_on(store, fake_clock)
    store.throttle(2)
    store.conflict(1)
    db.run(insert(TASK))
    usage = usage_of(db, "Task.insert")
    assert (usage.throttles, usage.retries, usage.failures) == (2, 3, 0)
    store.throttle(100)
    with pytest.raises(Throttled):
        db.run(put(TASK))
    usage = usage_of(db, "Task.put")
    assert (usage.throttles, usage.retries, usage.failures) == (8, 7, 1)


@pytest.mark.req("X10")
def test_a_signal_handler_may_be_counted_in_the_middle_of_counting() -> None:
    meter = Meter()

    class Interrupted(_Usages):
        def __missing__(self, key: tuple[str, str]) -> Usage:
            if "handler" not in key:
                meter.record(Consumption("handler", (), 0, 1))
            return super().__missing__(key)

    meter._usage = Interrupted()
    meter.record(Consumption("run", (), 1, 0))
    assert [(usage.name, usage.runs) for usage in meter.usage()] == [("handler", 1), ("run", 1)]


@pytest.mark.req("X10")
def test_the_first_run_over_its_budget_is_logged_and_the_others_are_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    meter = Meter()
    for over in (False, True, True):
        meter.record(Consumption("decide", (), 0, 700.0, over, "events"))
    said = "events.decide consumed 700 WCU, which is more than its budget; more such runs are only counted"
    assert [record.message for record in caplog.records] == [said]
    assert [usage.over_budget for usage in meter.usage()] == [2]
