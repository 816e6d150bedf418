"""The latency of each access pattern of To-Do for users with 10^2 to 10^6 tasks: p50 and p99, printed as a table.

    python -m bench.todo                    # 100, 1,000 and 10,000 tasks
    python -m bench.todo --to 1000000       # up to a million, which take 4 minutes of processor time to write

Tasks are in all four indexes, and have about half a KB. Pages have 20 items, as in the API. The store is a file on
disk, and every write is durable before it returns. Compare columns with each other, not with those of other machines.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

from partita import EmbeddedStore, Operation, Session, Span, f
from partita.change import Consumer
from partita.model import schema_of
from partita.store import BatchWriteItem, PutItem
from partita_services.todo import model
from partita_services.todo.model import TABLE, Priority, Status, Task
from partita_services.todo.projection import TaskProjection

TODAY: Final = date(2026, 7, 1)
PAGE: Final = 20
CALLS: Final = 200
BATCH: Final = 25
_MILLISECONDS: Final = 1_000

Call = Callable[[int], object]


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=int, default=10_000, help="maximum number of tasks of a user (10,000)")
    parser.add_argument("--calls", type=int, default=CALLS, help=f"number of calls of each pattern ({CALLS})")
    given = parser.parse_args(arguments)
    sizes = [10**power for power in range(2, 7) if 10**power <= given.to]
    with tempfile.TemporaryDirectory(prefix="partita-bench-") as folder:
        columns = {size: measured(Path(folder), size, given.calls) for size in _told(sizes)}
    print(table(columns))
    return 0


def _told(sizes: Sequence[int]) -> Iterator[int]:
    """Yield the sizes, and report each before it is measured, because the last may take long."""
    for size in sizes:
        print(f"filling and measuring {size:,} tasks", file=sys.stderr, flush=True)
        yield size


def measured(folder: Path, size: int, calls: int) -> dict[str, tuple[float, float]]:
    """The p50 and p99 of each pattern in milliseconds, for a user with `size` tasks."""
    with (
        EmbeddedStore(folder / f"{size}.db", sweep_every=None) as store,
        closing(TaskProjection(folder / f"{size}-projection.db")) as sink,
    ):
        db = Session(store)
        db.create_tables([TABLE])
        for number in range(0, size, BATCH):
            store.execute(_batch(range(number, min(number + BATCH, size))))
        Consumer(store, TABLE, sink).catch_up()
        return {name: _timed(call, calls) for name, call in patterns(db, sink, size)}


def patterns(db: Session, sink: TaskProjection, size: int) -> Iterator[tuple[str, Call]]:
    """Yield the name of each access pattern, and a function that calls it."""
    db.run(model.save_user(model.USERS.insert(_user())))
    chosen = random.Random(1).choices(range(size), k=10_000)

    def read(make: Callable[[int], Operation[Any]]) -> Call:
        return lambda number: db.run(make(chosen[number % len(chosen)]))

    yield "user_by_id", read(lambda _: model.user_by_id("u"))
    yield "task_by_id", read(lambda n: model.task_by_id("u", f"{n:08}"))
    yield from _lists(read)
    yield "tasks_by_ids (20)", read(lambda n: model.tasks_by_ids("u", [f"{(n + k) % size:08}" for k in range(PAGE)]))
    yield "counts", lambda _: sink.counts("u")
    yield "search (20)", lambda number: sink.search("u", f"word{chosen[number] % 97}", PAGE)
    yield from _writes(db, size)


def _lists(read: Callable[[Callable[[int], Operation[Any]]], Call]) -> Iterator[tuple[str, Call]]:
    lists: dict[str, Callable[[int], Any]] = {
        "tasks_of_user": lambda _: model.tasks_of_user("u"),
        "tasks_by_status": lambda _: model.tasks_by_status("u"),
        "tasks_with_status": lambda _: model.tasks_with_status("u", Status.PENDING),
        "completed_tasks": lambda _: model.completed_tasks("u"),
        "tasks_by_due_date": lambda _: model.tasks_by_due_date("u"),
        "tasks_due_on": lambda _: model.tasks_due_on("u", TODAY),
        "tasks_due_within": lambda _: model.tasks_due_within("u", Span.between(TODAY, TODAY + timedelta(days=1))),
        "overdue_tasks": lambda _: model.overdue_tasks("u", TODAY),
        "tasks_by_priority": lambda _: model.tasks_by_priority("u"),
        "tasks_with_priority": lambda _: model.tasks_with_priority("u", Priority.HIGH),
        "tasks_by_category": lambda _: model.tasks_by_category("u"),
        "tasks_in_category": lambda _: model.tasks_in_category("u", "category 1"),
        "tasks_matching": lambda _: model.tasks_matching(
            model.tasks_with_status("u", Status.PENDING), f(Task.priority).eq(Priority.LOW)
        ),
    }
    for name, make in lists.items():
        yield f"{name} ({PAGE})", read(lambda number, make=make: make(number).page(PAGE))  # type: ignore[misc]


def _writes(db: Session, size: int) -> Iterator[tuple[str, Call]]:
    """Yield the writes; they create, update and delete tasks of their own, after all others."""
    made: dict[int, Task] = {}

    def create(number: int) -> None:
        made[number] = db.run(model.create_task(_task(size + number)))

    def update(number: int) -> None:
        status = Status.COMPLETED if made[number].status is not Status.COMPLETED else Status.PENDING
        made[number] = db.run(model.update_task(made[number].model_copy(update={"status": status})))

    yield "create_task", create
    yield "update_task (status)", update
    yield "delete_task", lambda number: db.run(model.delete_task(made[number]))


def _timed(call: Call, calls: int) -> tuple[float, float]:
    times = []
    for number in range(calls):
        start = time.perf_counter()
        call(number)
        times.append((time.perf_counter() - start) * _MILLISECONDS)
    cuts = quantiles(times, n=100)
    return cuts[49], cuts[98]


def _batch(numbers: range) -> BatchWriteItem:
    item = schema_of(Task).item
    return BatchWriteItem(tuple(PutItem(TABLE.name, item(_task(number, version=1))) for number in numbers))


def _task(number: int, version: int = 0) -> Task:
    return Task(
        user_id="u",
        task_id=f"{number:08}",
        title=f"Task {number} word{number % 97}",
        description="x" * 300,
        status=list(Status)[number % 4],
        priority=list(Priority)[number // 4 % 4],
        category=f"category {number % 5}",
        due_date=TODAY + timedelta(days=number % 9 - 4),
        created_at=1,
        updated_at=1,
        version=version,
    )


def _user() -> model.User:
    return model.User(user_id="u", email="u@example.com", name="U", created_at=1, updated_at=1)


def table(columns: dict[int, dict[str, tuple[float, float]]]) -> str:
    """The figures as text."""
    sizes = "".join(f"{f'{size:,} tasks':>18}" for size in columns)
    lines = [f"{'milliseconds, p50 and p99':<28}{sizes}"]
    names = next(iter(columns.values()), {})
    for name in names:
        figures = "".join(f"{p50:>9.2f}{p99:>9.2f}" for p50, p99 in (column[name] for column in columns.values()))
        lines.append(f"{name:<28}{figures}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
