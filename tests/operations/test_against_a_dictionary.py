"""Random operations of two writers, compared with a dictionary: results, errors, versions, expiry and every index."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.model.sample import (
    Status,
    Step,
    Task,
    session_on,
    task_by_id,
    tasks_due,
    tasks_of,
    tasks_with_status,
    tasks_worth,
)

from partita import (
    EmbeddedStore,
    Operation,
    Span,
    batch_get,
    delete,
    f,
    insert,
    put,
    transact,
    transact_get,
    update,
    upsert,
)
from partita.errors import AlreadyExists, ItemMissing, TransactionCancelled, VersionConflict
from partita.testing import FakeClock

ids = st.sampled_from(["a", "b", "c#1", "c"])
statuses = st.sampled_from(Status)
dues = st.none() | st.dates(date(2026, 1, 1), date(2026, 1, 4))
points = st.none() | st.integers(-3, 3)


class Dictionary(RuleBasedStateMachine):
    """`items` has the expected tasks; `held` has the tasks as a writer last read them, perhaps outdated."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.store = EmbeddedStore(":memory:", clock=self.clock)
        self.db = session_on(self.store, self.clock)
        self.items: dict[str, Task] = {}
        self.held: dict[str, Task] = {}

    def teardown(self) -> None:
        self.store.close()

    def live(self, task_id: str) -> Task | None:
        task = self.items.get(task_id)
        expired = task is not None and task.expires_at is not None and task.expires_at.timestamp() <= self.clock()
        return None if expired else task

    def expect(self, operation: Operation[Any], outcome: Task | type[Exception] | None) -> None:
        """Run the operation, which must return that result or raise that error."""
        if isinstance(outcome, type):
            try:
                got = self.db.run(operation)
            except outcome:
                return
            raise AssertionError(f"{operation} gave {got}, not {outcome}")
        assert self.db.run(operation) == outcome

    def remember(self, task: Task) -> None:
        self.items[task.task_id] = self.held[task.task_id] = task

    @rule(task_id=ids, status=statuses, due=dues, points=points, lifetime=st.none() | st.integers(1, 20))
    def insert(self, task_id: str, status: Status, due: date | None, points: int | None, lifetime: int | None) -> None:
        until = None if lifetime is None else datetime.fromtimestamp(self.clock() + lifetime, UTC)
        new = Task(user_id="u", task_id=task_id, status=status, due=due, points=points, expires_at=until)
        if self.live(task_id) is not None:
            self.expect(insert(new), AlreadyExists)
        else:
            saved = new.model_copy(update={"version": 1})
            self.expect(insert(new), saved)
            self.remember(saved)

    @rule(task_id=ids)
    def read(self, task_id: str) -> None:
        task = self.live(task_id)
        self.expect(task_by_id("u", task_id), task)
        if task is not None:
            self.held[task_id] = task

    @rule(task_id=ids, status=statuses)
    def put(self, task_id: str, status: Status) -> None:
        held = self.held.get(task_id)
        if held is None:
            return
        changed = held.model_copy(update={"status": status})
        stored = self.items.get(task_id)  # put checks the stored version, even of an expired item
        if stored is None or stored.version != held.version:
            self.expect(put(changed), VersionConflict)
        else:
            saved = changed.model_copy(update={"version": held.version + 1})
            self.expect(put(changed), saved)
            self.remember(saved)

    @rule(task_id=ids, due=dues, status=statuses, whole=st.booleans())
    def update(self, task_id: str, due: date | None, status: Status, *, whole: bool) -> None:
        held, now = self.held.get(task_id), self.live(task_id)
        changes = (f(Task.due).set(due), f(Task.status).set(status))
        if whole and held is not None:
            operation = update(held, *changes)
            error = ItemMissing if now is None else VersionConflict if now.version != held.version else None
        else:
            operation = update(task_by_id("u", task_id), *changes)
            error = ItemMissing if now is None else None
        if error is not None or now is None:
            self.expect(operation, error)
        else:
            saved = now.model_copy(update={"due": due, "status": status, "version": now.version + 1})
            self.expect(operation, saved)
            self.remember(saved)

    @rule(task_id=ids, worth=st.integers(-3, 3))
    def set_points_if_missing(self, task_id: str, worth: int) -> None:
        now = self.live(task_id)
        operation = update(task_by_id("u", task_id), f(Task.points).set_if_missing(worth))
        if now is None:
            self.expect(operation, ItemMissing)
        else:
            kept = worth if now.points is None else now.points
            saved = now.model_copy(update={"points": kept, "version": now.version + 1})
            self.expect(operation, saved)
            self.remember(saved)

    @rule(task_id=ids, status=statuses, due=dues, note=st.sampled_from("xy"))
    def upsert(self, task_id: str, status: Status, due: date | None, note: str) -> None:
        """An upsert changes an existing task, or creates one from the defaults; both images are correct."""
        now = self.live(task_id)
        changes = (f(Task.status).set(status), f(Task.due).set(due), f(Task.notes).append([note]))
        before = Task(user_id="u", task_id=task_id) if now is None else now
        changed = {"status": status, "due": due, "notes": [*before.notes, note], "version": before.version + 1}
        saved = before.model_copy(update=changed)
        images = self.db.run(upsert(task_by_id("u", task_id), *changes).images())
        assert (images.old, images.new) == (now, saved)
        self.remember(saved)

    @rule(task_id=ids)
    def delete_by_key(self, task_id: str) -> None:
        self.expect(delete(task_by_id("u", task_id)), self.live(task_id))
        self.items.pop(task_id, None)

    @rule(first=ids, second=ids, status=statuses)
    def transact(self, first: str, second: str, status: Status) -> None:
        """In one transaction, change one task and insert another."""
        held, now = self.held.get(first), self.live(first)
        if first == second or held is None:
            return
        new = Task(user_id="u", task_id=second)
        operation = transact(update(held, f(Task.status).set(status)), insert(new))
        if now is None or now.version != held.version or self.live(second) is not None:
            self.expect(operation, TransactionCancelled)
        else:
            self.expect(operation, None)
            self.remember(now.model_copy(update={"status": status, "version": now.version + 1}))
            self.remember(new.model_copy(update={"version": 1}))

    @rule(task_id=ids)
    def add_a_step(self, task_id: str) -> None:
        """Put an item of another entity into the key range of the tasks."""
        self.db.run(put(Step(user_id="u", task_id=task_id, number=1)))

    @rule(seconds=st.integers(1, 10))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule()
    def sweep(self) -> None:
        self.store.sweep()
        self.items = {task_id: task for task_id, task in self.items.items() if self.live(task_id) is not None}

    @invariant()
    def every_read_agrees(self) -> None:
        seen = sorted((task for task_id in self.items if (task := self.live(task_id))), key=lambda t: t.task_id)
        everything = [self.live(task_id) for task_id in ("a", "b", "c", "c#1")]
        gets = [task_by_id("u", task_id) for task_id in ("a", "b", "c", "c#1")]
        assert list(self.db.run(batch_get(gets))) == everything
        assert list(self.db.run(transact_get(*gets))) == everything
        assert sorted(self.db.run(tasks_of("u")), key=lambda t: t.task_id) == seen
        assert self.db.run(tasks_of("u").count()) == len(seen)
        for status in Status:
            found = self.db.run(tasks_with_status("u", status).page(1000))
            assert sorted(found, key=lambda t: t.task_id) == [task for task in seen if task.status is status]
        by_due = [task for task in seen if task.due is not None]
        assert list(self.db.run(tasks_due("u", Span()))) == sorted(by_due, key=lambda t: (t.due, t.task_id))
        worth = self.db.run(tasks_worth("u", Span.between(-1, 2)))
        expected = [task for task in seen if task.points is not None and -1 <= task.points <= 2]
        assert sorted(worth, key=lambda t: t.task_id) == expected


TestAgainstADictionary = Dictionary.TestCase
TestAgainstADictionary.settings = settings(deadline=None, max_examples=60, stateful_step_count=25)
