"""Reminders: one message a day with the due tasks, at the user's hour, however many workers run and when."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from partita import Session
from partita.queue import GetStats, QueuePolicy
from partita.queue.embedded import EmbeddedQueue
from partita.recipes.outbox import FileSender, OutboxMessage
from partita.service import Installation, WorkerContext
from partita.store._requests import ScanTable, TransactWriteItems
from partita.testing import Crash, FakeClock, FaultyStore
from partita_services.todo.handlers import Profile, write_user
from partita_services.todo.model import TABLE, Priority, Status, Task, create_task, user_by_id
from partita_services.todo.personal import PERSONAL
from partita_services.todo.reminders import next_reminder, remind, remind_all, slot_of
from partita_services.todo.worker import POLICY, QUEUE, open_tools, run, work_once

pytestmark = pytest.mark.req("T33")

HOUR, DAY = 3_600, 86_400


def seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


@pytest.fixture
def db(store: FaultyStore, fake_clock: FakeClock) -> Session:
    fake_clock.advance(seconds("2026-03-02T06:00") - fake_clock())
    db = Session(store, clock=fake_clock, strict_budgets=True)
    db.create_tables([TABLE])
    return db


@pytest.fixture
def queue(tmp_path: Path, fake_clock: FakeClock) -> Iterator[EmbeddedQueue]:
    with closing(EmbeddedQueue(tmp_path / "queue.db", QUEUE, policy=POLICY, clock=fake_clock)) as queue:
        yield queue


class Inbox(list[OutboxMessage]):
    def __call__(self, message: OutboxMessage) -> None:
        self.append(message)


def profile(db: Session, user: str = "ann", remind_at: str | None = "08:00", time_zone: str | None = None) -> None:
    given = Profile(email=f"{user}@example.com", name=user, remind_at=remind_at, time_zone=time_zone)
    db.run(write_user(user, given, int(db.context.clock())))


def add(db: Session, title: str, due: str, user: str = "ann", **fields: Any) -> None:
    task = Task(user_id=user, title=title, due_date=date.fromisoformat(due), created_at=1, updated_at=1, **fields)
    db.run(create_task(task))


def slots(db: Session) -> list[str]:
    return [item["SK"] for item in db.store.execute(ScanTable(TABLE.name)).items if item["PK"].startswith("REMINDERS")]


class TestTime:
    @pytest.mark.parametrize(
        ("now", "zone", "expected"),
        [
            ("2026-03-02T06:00", None, "2026-03-02T08:00"),
            ("2026-03-02T08:00", None, "2026-03-03T08:00"),
            ("2026-03-02T06:00", "Europe/Berlin", "2026-03-02T07:00"),
            ("2026-03-28T12:00", "Europe/Berlin", "2026-03-29T06:00"),
            ("2026-03-02T06:00", "Pacific/Auckland", "2026-03-02T19:00"),
        ],
    )
    def test_it_is_the_next_time_at_the_users_hour(self, now: str, zone: str | None, expected: str) -> None:
        assert next_reminder("08:00", zone, seconds(now)) == seconds(expected)

    def test_an_hour_that_the_clock_leaves_out_or_repeats_comes_too(self) -> None:
        for now in ("2026-03-28T12:00", "2026-10-24T12:00"):
            assert seconds(now) < next_reminder("02:30", "Europe/Berlin", seconds(now)) <= seconds(now) + DAY


class TestMessages:
    def test_what_is_due_and_overdue_is_told_at_the_hour(
        self, db: Session, queue: EmbeddedQueue, fake_clock: FakeClock
    ) -> None:
        profile(db)
        add(db, "today", "2026-03-02", priority=Priority.HIGH)
        add(db, "late", "2026-02-27")
        add(db, "done", "2026-03-02", status=Status.COMPLETED)
        add(db, "tomorrow", "2026-03-03")
        add(db, "of another", "2026-03-02", user="bob")
        inbox = Inbox()
        assert work_once(db, queue, inbox) == 0
        fake_clock.advance(2 * HOUR)
        assert work_once(db, queue, inbox) == 1
        content = inbox[0].content
        assert (content["kind"], content["email"], content["day"]) == ("tasks_due", "ann@example.com", "2026-03-02")
        assert [(task["title"], task.get("priority")) for task in content["due"]] == [("today", "high")]
        assert ([task["title"] for task in content["overdue"]], content["more"]) == (["late"], False)

    def test_a_day_has_one_message(self, db: Session, queue: EmbeddedQueue, fake_clock: FakeClock) -> None:
        profile(db)
        add(db, "today", "2026-03-02")
        inbox = Inbox()
        for _ in range(55):
            work_once(db, queue, inbox)
            fake_clock.advance(HOUR)
        assert [message.content["day"] for message in inbox] == ["2026-03-02", "2026-03-03", "2026-03-04"]

    def test_who_has_nothing_to_do_hears_nothing(
        self, db: Session, queue: EmbeddedQueue, fake_clock: FakeClock
    ) -> None:
        profile(db)
        fake_clock.advance(3 * HOUR)
        assert work_once(db, queue, Inbox()) == 0
        user = db.run(user_by_id("ann"))
        assert user is not None
        assert user.next_reminder == seconds("2026-03-03T08:00")

    def test_today_is_the_users(self, db: Session, queue: EmbeddedQueue, fake_clock: FakeClock) -> None:
        profile(db, time_zone="Pacific/Auckland", remind_at="00:30")
        add(db, "there", "2026-03-03")
        fake_clock.advance(6 * HOUR)
        inbox = Inbox()
        work_once(db, queue, inbox)
        assert [message.content["day"] for message in inbox] == ["2026-03-03"]

    def test_a_worker_that_was_away_sends_one_for_today(
        self, db: Session, queue: EmbeddedQueue, fake_clock: FakeClock
    ) -> None:
        profile(db)
        add(db, "today", "2026-03-02")
        fake_clock.advance(10 * DAY)
        inbox = Inbox()
        assert (work_once(db, queue, inbox), inbox[0].content["day"]) == (1, "2026-03-12")


class TestCrashes:
    def test_two_workers_write_one_message(self, db: Session, store: FaultyStore, fake_clock: FakeClock) -> None:
        profile(db)
        add(db, "today", "2026-03-02")
        fake_clock.advance(3 * HOUR)
        store.crash_before(1, on=TransactWriteItems)
        with pytest.raises(Crash):
            remind_all(db, fake_clock())
        store.crash_after(1, on=TransactWriteItems)
        with pytest.raises(Crash):
            remind_all(db, fake_clock())
        assert remind_all(db, fake_clock()) == 0
        waiting = [i for i in db.store.execute(ScanTable(TABLE.name)).items if i["PK"].startswith("OUTBOX")]
        assert (len(waiting), len(slots(db))) == (1, 1)


class TestSettings:
    def test_each_user_has_one_slot(self, db: Session) -> None:
        for hour in ("08:00", "09:30", "09:30", None, "07:00"):
            profile(db, remind_at=hour)
        assert slots(db) == [f"AT#{seconds('2026-03-02T07:00'):012}#ann"]

    def test_a_slot_that_was_read_before_the_hour_changed_is_left(self, db: Session, fake_clock: FakeClock) -> None:
        profile(db)
        add(db, "today", "2026-03-02")
        fake_clock.advance(3 * HOUR)
        read = slot_of("ann", seconds("2026-03-02T08:00"))
        profile(db, remind_at="10:00")
        assert db.run(remind(read, fake_clock())) is False
        assert slots(db) == [f"AT#{seconds('2026-03-02T10:00'):012}#ann"]

    def test_who_takes_it_back_has_none(self, db: Session, queue: EmbeddedQueue, fake_clock: FakeClock) -> None:
        profile(db)
        profile(db, remind_at=None)
        add(db, "today", "2026-03-02")
        fake_clock.advance(3 * HOUR)
        assert (slots(db), work_once(db, queue, Inbox())) == ([], 0)

    def test_who_is_erased_has_none(self, db: Session) -> None:
        profile(db)
        db.run(PERSONAL.erase("ann"))
        assert slots(db) == []

    @pytest.mark.parametrize("address", ["", "queue", "file"])
    def test_a_worker_sends_where_a_sender_is_named(
        self, db: Session, tmp_path: Path, fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch, address: str
    ) -> None:
        class Once(threading.Event):
            def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002 - signature of `Event.wait`
                self.set()
                return True

        def opened(name: str, policy: QueuePolicy) -> EmbeddedQueue:
            return EmbeddedQueue(tmp_path / f"{name}.db", name, policy=policy, clock=fake_clock)

        profile(db)
        add(db, "today", "2026-03-02")
        fake_clock.advance(3 * HOUR)
        monkeypatch.setenv("PARTITA_TODO_REMINDERS", f"file:{tmp_path / 'out'}" if address == "file" else address)
        with open_tools(Installation(tmp_path, lambda _: b"", opened)) as tools:
            run(WorkerContext(db, tools, "worker", Once()))
        assert (tmp_path / f"{QUEUE}.db").exists() == (address != "")
        assert len(list((tmp_path / "out").glob("*.json"))) == (address == "file")

    def test_another_program_may_read_the_queue(self, db: Session, queue: EmbeddedQueue, fake_clock: FakeClock) -> None:
        profile(db)
        add(db, "today", "2026-03-02")
        fake_clock.advance(3 * HOUR)
        assert work_once(db, queue, None) == 1
        assert queue.execute(GetStats()).waiting == 1

    def test_files_are_written(self, db: Session, queue: EmbeddedQueue, fake_clock: FakeClock, tmp_path: Path) -> None:
        profile(db)
        add(db, "today", "2026-03-02")
        fake_clock.advance(3 * HOUR)
        assert work_once(db, queue, FileSender(tmp_path / "out")) == 1
        (file,) = (tmp_path / "out").iterdir()
        assert json.loads(file.read_text())["content"]["due"][0]["title"] == "today"
