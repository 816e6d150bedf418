"""Streams yield items one by one and read a page at a time, up to a maximum."""

from __future__ import annotations

import asyncio
import gc
from itertools import islice

import pytest
from tests.model.sample import (
    SAMPLES,
    Comment,
    Status,
    Task,
    best_comments,
    session_on,
    tasks_of,
    tasks_with_status,
    titles_with_status,
)

from partita import AsyncSession, EmbeddedStore, Session, batch_write, f, insert, put
from partita.errors import OperationError, ScanRefused
from partita.operations import scan
from partita.testing import FakeClock, FaultyStore


@pytest.fixture
def store(partita_store: EmbeddedStore) -> FaultyStore:
    return FaultyStore(partita_store)


@pytest.fixture
def db(store: FaultyStore, fake_clock: FakeClock) -> Session:
    db = session_on(store, fake_clock)
    for number in range(25):
        db.run(insert(Task(user_id="u", task_id=f"{number:02}", points=number)))
    return db


def ids(tasks: object) -> list[str]:
    return [task.task_id for task in tasks]  # type: ignore[attr-defined]


def test_a_stream_gives_what_a_walk_gives(db: Session) -> None:
    stream = db.stream(tasks_of("u").page(10), max_items=1_000)
    assert list(stream) == list(db.run(tasks_of("u").walk(max_items=1_000)))
    assert not stream.truncated


def test_a_page_is_read_when_it_is_needed(db: Session, store: FaultyStore) -> None:
    before = len(store.requests)
    stream = iter(db.stream(tasks_of("u").page(10), max_items=1_000))
    assert len(store.requests) == before
    assert ids(islice(stream, 10)) == [f"{n:02}" for n in range(10)]
    assert len(store.requests) == before + 1
    next(stream)
    assert len(store.requests) == before + 2


@pytest.mark.parametrize(("max_items", "truncated"), [(1, True), (10, True), (20, True), (24, True), (25, False)])
def test_a_stream_ends_at_its_maximum_and_says_whether_more_follows(
    db: Session,
    max_items: int,
    truncated: bool,  # noqa: FBT001
) -> None:
    stream = db.stream(tasks_of("u").page(10), max_items=max_items)
    assert ids(stream) == [f"{n:02}" for n in range(max_items)]
    assert stream.truncated is truncated


def test_each_loop_reads_from_the_beginning(db: Session) -> None:
    stream = db.stream(tasks_with_status("u", Status.OPEN).page(7).reversed(), max_items=12)
    assert ids(stream) == ids(stream) == [f"{n:02}" for n in range(24, 12, -1)]


def test_a_stream_goes_on_from_a_cursor(db: Session) -> None:
    first = db.run(tasks_of("u").page(20))
    assert ids(db.stream(tasks_of("u").page(3, after=first.next_cursor), max_items=100)) == [
        f"{n:02}" for n in range(20, 25)
    ]


def test_a_filter_and_a_view_hold_in_a_stream(db: Session) -> None:
    assert ids(db.stream(tasks_of("u").where(f(Task.points).ge(20)).page(2), max_items=3)) == ["20", "21", "22"]
    assert ids(db.stream(titles_with_status("u", Status.OPEN).page(9), max_items=100)) == [f"{n:02}" for n in range(25)]


def test_a_page_of_a_stream_is_metered_like_a_page(db: Session) -> None:
    with db.meter.watch() as seen:
        list(db.stream(tasks_with_status("u", Status.OPEN).page(10), max_items=1_000))
    assert [(run.name, run.requests) for run in seen] == [("tasks_with_status", ("QueryTable",))] * 3


def test_a_stream_is_awaited_too(db: Session, partita_store: EmbeddedStore) -> None:
    async def read() -> tuple[list[str], bool]:
        stream = AsyncSession(partita_store).stream(tasks_of("u").page(10), max_items=20)
        return [task.task_id async for task in stream], stream.truncated

    assert asyncio.run(read()) == ([f"{n:02}" for n in range(20)], True)


def test_a_scan_is_streamed_in_a_maintenance_session(db: Session) -> None:
    db.run(batch_write([put(Comment(user_id="u", comment_id=str(n))) for n in range(25)]))
    assert len(list(db.maintenance("count").stream(scan(Comment).page(10), max_items=1_000))) == 25
    with pytest.raises(ScanRefused):
        list(db.stream(scan(Comment), max_items=10))


def test_no_more_than_two_pages_are_held(partita_db: Session) -> None:
    partita_db.create_tables(SAMPLES)
    partita_db.run(batch_write([put(Comment(user_id="u", comment_id=f"{n:04}", mood="sad")) for n in range(500)]))
    held = [0]
    gc.collect()
    for place, _ in enumerate(partita_db.stream(best_comments("sad").page(20), max_items=500)):
        if place % 37 == 0:
            held.append(sum(type(each) is Comment for each in gc.get_objects()))
    assert 0 < max(held) <= 2 * 20 + 1


def test_a_stream_of_nothing_is_refused(db: Session) -> None:
    with pytest.raises(OperationError, match="at least 1 item, not 0"):
        db.stream(tasks_of("u"), max_items=0)
