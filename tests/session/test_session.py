"""Sessions run operations and procedures, sync or async, with the same result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.model.sample import SAMPLES, Comment, Status, Task, comment_by_id, task_by_id, tasks_of, tasks_with_status

from partita import AsyncSession, EmbeddedStore, Operation, Procedure, Session, f, insert, put, transact, update
from partita.errors import AlreadyExists, ItemMissing, OperationError, PartitaError, VersionConflict
from partita.testing import Crash, FakeClock, FaultyStore

Run = Callable[[Operation[Any] | Procedure[Any]], Any]


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest, partita_store: EmbeddedStore, fake_clock: FakeClock) -> Iterator[Run]:
    """A function that runs work in a sync or async session."""
    Session(partita_store).create_tables(SAMPLES)
    if request.param == "sync":
        yield Session(partita_store, clock=fake_clock).run
    else:
        adb = AsyncSession(partita_store, clock=fake_clock)
        with asyncio.Runner() as loop:
            yield lambda work: loop.run(adb.run(work))


# --- procedures ---


def move(user_id: str, task_id: str, status: Status) -> Procedure[Task]:
    """Read a task, or create it if it does not exist, and change its status."""
    task = yield from task_by_id(user_id, task_id)
    if task is None:
        task = yield from insert(Task(user_id=user_id, task_id=task_id))
    return (yield from update(task, f(Task.status).set(status)))


def insert_or_read(task: Task) -> Procedure[Task]:
    try:
        return (yield from insert(task))
    except AlreadyExists as error:
        return error.current  # type: ignore[no-any-return]


def move_two(status: Status) -> Procedure[tuple[Task, Task]]:
    first = yield from move("u", "1", status)
    second = yield from move("u", "2", status)
    return first, second


def count_down(start: int) -> Procedure[list[int]]:
    """Return without running an operation."""
    return list(range(start, 0, -1))
    yield insert(Task(user_id="u", task_id="never"))


def fail_with(error: Exception) -> Procedure[None]:
    yield put(Comment(user_id="u", comment_id="c"))
    raise error


def test_a_procedure_gets_the_result_of_each_operation(run: Run) -> None:
    moved = run(move("u", "t", Status.DONE))
    assert moved == Task(user_id="u", task_id="t", status=Status.DONE, version=2)
    assert run(task_by_id("u", "t")) == moved


def test_a_procedure_gets_the_error_of_an_operation(run: Run) -> None:
    stored = run(insert(Task(user_id="u", task_id="t", title="first")))
    assert run(insert_or_read(Task(user_id="u", task_id="t", title="second"))) == stored


def test_an_error_that_a_procedure_does_not_handle_comes_out(run: Run) -> None:
    def failing() -> Procedure[None]:
        yield from update(task_by_id("u", "none"), f(Task.title).set("x"))

    with pytest.raises(ItemMissing):
        run(failing())


def test_a_procedure_may_run_others(run: Run) -> None:
    first, second = run(move_two(Status.DOING))
    assert [first.task_id, second.task_id] == ["1", "2"]


def test_a_procedure_without_operations_gives_its_result(run: Run) -> None:
    assert run(count_down(3)) == [3, 2, 1]


def test_an_error_of_the_procedure_itself_comes_out_as_it_is(run: Run) -> None:
    with pytest.raises(KeyError, match="mine"):
        run(fail_with(KeyError("mine")))
    assert run(comment_by_id("u", "c")) == Comment(user_id="u", comment_id="c")


def test_a_procedure_that_ran_already_is_refused(run: Run) -> None:
    procedure = move("u", "t", Status.DONE)
    run(procedure)
    with pytest.raises(OperationError, match="has already run"):
        run(procedure)


def test_a_procedure_that_yields_no_operation_is_refused(run: Run) -> None:
    def nested() -> Procedure[None]:
        yield move("u", "t", Status.DONE)  # type: ignore[misc]  # a forgotten "from"

    with pytest.raises(OperationError, match="yield from"):
        run(nested())


def test_a_procedure_is_tested_without_a_store() -> None:
    operations = move("u", "t", Status.DONE)
    asked = next(operations)
    assert asked == task_by_id("u", "t")
    task = Task(user_id="u", task_id="t", version=4)
    assert operations.send(task) == update(task, f(Task.status).set(Status.DONE))
    with pytest.raises(StopIteration) as stopped:
        operations.send(task)
    assert stopped.value.value == task


def test_operations_of_every_kind_run_in_either_session(run: Run) -> None:
    run(transact(insert(Task(user_id="u", task_id="1")), insert(Task(user_id="u", task_id="2"))))
    assert [task.task_id for task in run(tasks_of("u").page(1))] == ["1"]
    assert run(tasks_with_status("u", Status.OPEN).count()) == 2


def test_an_operation_is_a_value_that_can_be_run_again(run: Run) -> None:
    write = put(Comment(user_id="u", comment_id="c"))
    assert run(write) == run(write)


# --- crashes ---


@pytest.mark.parametrize(("planned", "stored"), [("crash_before", False), ("crash_after", True)])
def test_a_crash_passes_through_every_handler(
    partita_store: EmbeddedStore,
    planned: str,
    stored: bool,  # noqa: FBT001
) -> None:
    store = FaultyStore(partita_store)
    db = Session(store)
    db.create_tables(SAMPLES)

    def careful() -> Procedure[None]:
        try:
            yield from insert(Task(user_id="u", task_id="t"))
        except PartitaError:
            pytest.fail("a crash is not an error that a program could handle")

    getattr(store, planned)(1)
    with pytest.raises(Crash):
        db.run(careful())
    assert (db.run(task_by_id("u", "t")) is not None) == stored


# --- concurrency ---


def add_point(task_id: str) -> Procedure[int]:
    """Add a point; retry until no other writer was faster."""
    while True:
        task = yield from task_by_id("u", task_id).consistent()
        assert task is not None
        try:
            changed = yield from update(task, f(Task.points).set((task.points or 0) + 1))
        except VersionConflict:
            continue
        return changed.version


def test_no_update_of_many_threads_is_lost(db: Session) -> None:
    db.run(insert(Task(user_id="u", task_id="t")))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: [db.run(add_point("t")) for _ in range(10)], range(4)))
    task = db.run(task_by_id("u", "t"))
    assert task is not None
    assert task.points == 40


def test_no_update_of_many_tasks_is_lost(partita_store: EmbeddedStore) -> None:
    async def main() -> Task | None:
        adb = AsyncSession(partita_store)
        await adb.create_tables(SAMPLES)
        await adb.transact(insert(Task(user_id="u", task_id="t")))

        async def several() -> None:
            for _ in range(10):
                await adb.run(add_point("t"))

        await asyncio.gather(*(several() for _ in range(4)))
        return await adb.run(task_by_id("u", "t"))

    task = asyncio.run(main())
    assert task is not None
    assert task.points == 40
