"""Guardrails: no scan and no unbounded read in a request path; maintenance needs a reason."""

from __future__ import annotations

import asyncio
import logging

import pytest
from msgspec.structs import replace
from tests.model.sample import SAMPLES, TABLE, Comment, Step, Task, tasks_of

from partita import AsyncSession, EmbeddedStore, Session, insert, put
from partita.errors import InvalidCursor, LimitExceeded, OperationError, ScanRefused
from partita.operations import scan, scan_items
from partita.operations._operation import Context, Operation, Requests
from partita.store import PageResponse


@pytest.mark.req("C24")
def test_a_scan_is_refused_before_it_is_sent(db: Session) -> None:
    for operation in (scan(Task), scan_items(TABLE)):
        with db.meter.watch() as seen, pytest.raises(ScanRefused, match="scans the table 'sample'") as caught:
            db.run(operation)
        assert [run.requests for run in seen] == [()]
        assert "session.maintenance(reason)" in caught.value.hint


def test_a_scan_is_refused_in_an_async_session_too(partita_store: EmbeddedStore) -> None:
    with pytest.raises(ScanRefused):
        asyncio.run(AsyncSession(partita_store).run(scan(Task)))


class Unbounded(Operation[None], frozen=True):
    """A query without a limit, which no declared operation sends."""

    def requests(self, context: Context) -> Requests[None]:  # noqa: ARG002
        response: PageResponse = yield replace(tasks_of("u").request(), limit=None)
        assert response.items == []


@pytest.mark.req("C24")
def test_a_read_without_a_limit_is_refused(db: Session) -> None:
    with pytest.raises(LimitExceeded, match="Unbounded reads without a limit"):
        db.run(Unbounded())


def test_a_maintenance_session_may_scan_and_its_reason_is_logged(db: Session, caplog: pytest.LogCaptureFixture) -> None:
    task = db.run(insert(Task(user_id="u", task_id="t")))
    db.run(put(Comment(user_id="u", comment_id="c")))
    with caplog.at_level(logging.WARNING, logger="partita"):
        page = db.maintenance("count tasks after the move").run(scan(Task))
    assert page.items == (task,)
    assert [record.getMessage() for record in caplog.records] == ["maintenance session: count tasks after the move"]


@pytest.mark.parametrize("reason", ["", "  "])
def test_maintenance_without_a_reason_is_refused(db: Session, reason: str) -> None:
    with pytest.raises(OperationError, match="Maintenance needs a reason"):
        db.maintenance(reason)


def test_maintenance_of_an_async_session(partita_store: EmbeddedStore) -> None:
    async def main() -> int:
        adb = AsyncSession(partita_store)
        await adb.create_tables(SAMPLES)
        await adb.run(put(Comment(user_id="u", comment_id="c")))
        return len(await adb.maintenance("look").run(scan(Comment)))

    assert asyncio.run(main()) == 1


def test_a_session_stays_strict_after_it_gave_a_maintenance_session(db: Session) -> None:
    db.maintenance("look").run(scan(Task))
    with pytest.raises(ScanRefused):
        db.run(scan(Task))


def test_maintenance_is_metered_with_the_session(db: Session) -> None:
    db.maintenance("look").run(scan(Task))
    assert [usage.name for usage in db.meter.usage()] == ["Task.scan"]


def test_a_scan_is_paged_and_reads_one_entity_only(db: Session) -> None:
    tasks = [db.run(insert(Task(user_id=str(n), task_id="t"))) for n in range(7)]
    for n in range(7):
        db.run(put(Step(user_id=str(n), task_id="t", number=1)))
    found: list[Task] = []
    cursor, keeper = None, db.maintenance("read all")
    while True:
        page = keeper.run(scan(Task).page(4, after=cursor))
        found += page.items
        if (cursor := page.next_cursor) is None:
            break
    assert sorted(found, key=lambda task: task.user_id) == tasks


def test_a_scans_cursor_is_signed_too(db: Session) -> None:
    with pytest.raises(InvalidCursor):
        db.maintenance("look").run(scan(Task).page(4, after="forged"))


def test_every_stored_item_is_in_a_scan_of_items(db: Session) -> None:
    for n in range(130):
        db.run(put(Comment(user_id="u", comment_id=str(n))))
    items = db.maintenance("look").run(scan_items(TABLE))
    assert sorted(item["comment_id"] for item in items) == sorted(str(n) for n in range(130))
