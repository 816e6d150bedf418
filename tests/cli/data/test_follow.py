"""Change streams are read in the background: to the end, despite errors, and only while the command runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import apsw
import pytest
from fastapi import APIRouter

from partita import EmbeddedStore, Entity, Key, Registry, Session, Table, TableNames, insert
from partita._sqlite import CommitNotice
from partita.change import ItemChange, SqliteProjection
from partita.cli._data_folder import DataFolder
from partita.cli.data import _follow
from partita.cli.data._follow import IDLE_SECONDS, POLL_SECONDS, Pace, following, projecting
from partita.errors import RebuildRequired, StoreMoved, StoreUnavailable
from partita.service import Projection, Service
from partita.store import named_store
from partita.testing import FakeClock

TABLE = Table("notes", stream="NEW_AND_OLD_IMAGES", registry=Registry())


class Note(Entity, table=TABLE):
    primary: ClassVar = Key("NOTE#{note_id}", "NOTE")
    note_id: str


def count(connection: apsw.Connection, change: ItemChange) -> None:
    connection.execute("INSERT INTO notes VALUES (?)", (change.new.note_id,))


SERVICE = Service(
    name="notes",
    title="Notes",
    summary="",
    tables=(TABLE,),
    router=APIRouter,
    projection=Projection(TABLE, lambda path: SqliteProjection(path, tables="CREATE TABLE notes (id)", apply=count)),
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with EmbeddedStore(tmp_path / "partita.db", durable=False) as store:
        session = Session(store)
        session.create_tables([TABLE])
        yield session


def test_each_stage_has_a_projection_of_its_own(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "partita.db", durable=False) as store:
        for prefix in ("dev-", "test-"):
            names = TableNames(prefix=prefix)
            Session(store, table_names=names).create_tables([TABLE])
            with projecting([SERVICE], named_store(store, names), DataFolder(tmp_path, prefix=prefix)):
                pass
    assert sorted(path.name for path in tmp_path.glob("*-projection.db")) == [
        "dev-notes-projection.db",
        "test-notes-projection.db",
    ]


class FakeConsumer:
    """A consumer whose runs raise the given errors, one after another; the run after them waits to be stopped."""

    def __init__(self, *ends: Exception) -> None:
        self.ends = list(ends)
        self.rebuilt = 0
        self.waiting = threading.Event()

    def run(self, stop: threading.Event, idle: Callable[[], object]) -> None:  # noqa: ARG002 - as a consumer has
        if self.ends:
            raise self.ends.pop(0)
        self.waiting.set()
        stop.wait()

    def rebuild(self) -> int:
        self.rebuilt += 1
        return 0


def test_a_projection_is_kept_up_while_the_block_runs(db: Session, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    db.run(insert(Note(note_id="before")))
    with projecting([SERVICE], db.store, folder) as projected:
        db.run(insert(Note(note_id="during")))
        notes = projected["notes"]
        caught_up = threading.Event()
        while notes.sink.read("SELECT count(*) FROM notes") != [(2,)]:
            caught_up.wait(0.01)
        assert notes.consumer.lag().records == 0
    db.run(insert(Note(note_id="after")))
    with projecting([SERVICE], db.store, folder) as projected:
        while projected["notes"].consumer.lag().records or not projected["notes"].sink.positions():
            caught_up.wait(0.01)
        found = projected["notes"].sink.read("SELECT id FROM notes ORDER BY id")
        assert found == [("after",), ("before",), ("during",)]


def test_a_service_without_a_projection_has_none(db: Session, tmp_path: Path) -> None:
    bare = Service("bare", "Bare", "", (TABLE,), APIRouter)
    with projecting([bare], db.store, DataFolder(tmp_path)) as projected:
        assert projected == {}


def test_missed_changes_are_made_up_for() -> None:
    consumer = FakeConsumer(RebuildRequired("trimmed"))
    with following({"lake of notes": consumer}):
        assert consumer.waiting.wait(60)
    assert consumer.rebuilt == 1


def test_trouble_is_logged_once_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_follow, "RETRY_SECONDS", 0)
    consumer = FakeConsumer(*[StoreUnavailable("no answer")] * 3, StoreMoved("gone"), StoreMoved("gone"))
    with following({"lake of notes": consumer}):
        assert consumer.waiting.wait(60)
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [StoreUnavailable, StoreMoved]
    assert (len(caplog.records), consumer.rebuilt) == (2, 0)


def test_nothing_ends_the_loop_and_what_is_in_trouble_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_follow, "RETRY_SECONDS", 0)
    troubles: dict[str, str] = {}
    seen: list[dict[str, str]] = []

    class FullLake(FakeConsumer):
        def run(self, stop: threading.Event, idle: Callable[[], object]) -> None:
            seen.append(dict(troubles))
            if not self.ends:
                idle()
                seen.append(dict(troubles))
            super().run(stop, idle)

    consumer = FullLake(OSError("No space left on device"), StoreUnavailable("no response"))
    with following({"lake of notes": consumer}, troubles, poll_seconds=0):
        assert consumer.waiting.wait(60)
    assert seen == [{}, {"lake of notes": "OSError"}, {"lake of notes": "store_unavailable"}, {}]


def test_a_damaged_projection_is_built_again(db: Session, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    db.run(insert(Note(note_id="kept")))
    (tmp_path / "notes-projection.db").write_bytes(b"junk" * 1_000)
    with projecting([SERVICE], db.store, DataFolder(tmp_path)) as projected:
        caught_up = threading.Event()
        while projected["notes"].sink.read("SELECT id FROM notes") != [("kept",)]:
            caught_up.wait(0.01)
    assert [record.message.partition(":")[0] for record in caplog.records if record.name == "partita.change"] == [
        "A projection is damaged and will be rebuilt"
    ]


class FakeNotice(CommitNotice):
    """A commit notice in simulated time: it reports this number of commits immediately, and then none."""

    def __init__(self, clock: FakeClock, commits: int) -> None:
        self.clock = clock
        self.commits = commits

    def wait(self, seconds: float) -> bool:
        self.commits -= 1
        if self.commits < 0:
            self.clock.advance(seconds)
        return self.commits >= 0


class SimulatedEnd(threading.Event):
    """An event whose `wait` advances the simulated clock."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self.clock = clock

    def wait(self, timeout: float | None = None) -> bool:
        self.clock.advance(timeout or 0.0)
        return self.is_set()


def reads_within(seconds: float, clock: FakeClock, commits: int) -> int:
    """Return how often a stream is read within this time."""
    pace = Pace(POLL_SECONDS, FakeNotice(clock, commits), clock=clock)
    pace.is_over = SimulatedEnd(clock)
    reads, until = 0, clock() + seconds
    while clock() < until:
        pace.wait()
        reads += 1
    return reads


def test_a_stream_that_nobody_writes_to_is_read_now_and_then(fake_clock: FakeClock) -> None:
    assert reads_within(3_600, fake_clock, commits=0) <= 3_600 / IDLE_SECONDS + 1


def test_one_that_is_written_to_all_the_time_is_read_no_more_often_than_ever(fake_clock: FakeClock) -> None:
    assert reads_within(60, fake_clock, commits=1_000_000) <= 60 / POLL_SECONDS + 2


def test_the_first_commit_is_read_at_once(fake_clock: FakeClock) -> None:
    pace = Pace(POLL_SECONDS, FakeNotice(fake_clock, commits=1), clock=fake_clock)
    pace.is_over = SimulatedEnd(fake_clock)
    before = fake_clock()
    pace.wait()
    assert fake_clock() == before


def test_commits_of_another_handle_are_read_without_a_poll(
    db: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_follow, "IDLE_SECONDS", 3_600.0)
    with projecting([SERVICE], db.store, DataFolder(tmp_path)) as projected, EmbeddedStore(db.store.path) as other:  # type: ignore[attr-defined]
        caught_up = threading.Event()
        for number in range(3):
            Session(other).run(insert(Note(note_id=str(number))))
            while projected["notes"].sink.read("SELECT count(*) FROM notes") != [(number + 1,)]:
                caught_up.wait(0.01)
