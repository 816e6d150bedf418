"""What a server shows about workers: sums that never decrease, live workers, and old figures if the store fails."""

from __future__ import annotations

import httpx
import pytest
from tests.app.test_metrics import of, parsed
from tests.reports.counting import Process

from partita import AsyncSession, Session
from partita.app import build_app
from partita.http import AppState, Identity
from partita.reports import FleetFigures, ReportReader, total_before
from partita.reports._ending import read_reports
from partita.testing import FakeClock, FaultyStore
from partita_services.events.bootstrap import SERVICE

pytestmark = pytest.mark.req("X10")


@pytest.fixture
def reader(db: Session, store: FaultyStore, fake_clock: FakeClock) -> ReportReader:
    return ReportReader(AsyncSession(store, clock=fake_clock, secret=b"fake"), db.run(total_before()))


def decided(figures: FleetFigures) -> tuple[float, int]:
    return next(((u.runs, u.over_budget) for u in figures.counted.usage if u.name == "decide"), (0, 0))


async def test_the_sum_is_since_the_server_was_started_and_never_falls(
    db: Session, store: FaultyStore, fake_clock: FakeClock
) -> None:
    worker = Process(store, fake_clock, "earlier")
    worker.works()
    worker.reporter.report()
    reader = ReportReader(AsyncSession(store, clock=fake_clock, secret=b"fake"), db.run(total_before()))
    assert decided(await reader.figures()) == (0, 0)
    worker.works(over=True)
    worker.reporter.report()
    fake_clock.advance(3)
    assert decided(await reader.figures()) == (1, 1)
    fake_clock.advance(1_000)  # as if the worker had been killed
    for _ in range(2):
        assert decided(await reader.figures()) == (1, 1)
        fake_clock.advance(3)
    assert [report.name for report in db.run(read_reports())] == ["ended"]


async def test_only_who_reports_lives(reader: ReportReader, store: FaultyStore, fake_clock: FakeClock) -> None:
    worker = Process(store, fake_clock, "worker")
    worker.works(lag=7.5)
    worker.reporter.report()
    (shown,) = (await reader.figures()).workers
    assert (shown.name, shown.services, shown.queues[0].lag_seconds) == ("worker", ("events",), 7.5)
    fake_clock.advance(45)
    assert (await reader.figures()).workers == ()


async def test_many_who_ask_at_once_cost_one_read(
    reader: ReportReader, store: FaultyStore, fake_clock: FakeClock
) -> None:
    for _ in range(50):
        await reader.figures()
    fake_clock.advance(2)
    await reader.figures()
    assert [type(request).__name__ for request in store.requests].count("QueryTable") == 3  # one by `total_before`


async def test_where_the_store_is_away_the_figures_stay(
    reader: ReportReader, store: FaultyStore, fake_clock: FakeClock
) -> None:
    worker = Process(store, fake_clock, "worker")
    worker.works()
    worker.reporter.report()
    await reader.figures()
    fake_clock.advance(3)
    store.unavailable(100)
    figures = await reader.figures()
    assert (decided(figures), figures.workers, figures.is_known) == ((1, 0), (), False)


async def test_metrics_and_console_have_what_workers_report(
    reader: ReportReader, store: FaultyStore, fake_clock: FakeClock
) -> None:
    session = AsyncSession(store, clock=fake_clock, secret=b"fake")
    await session.create_tables(SERVICE.tables)
    worker = Process(store, fake_clock, "worker")
    worker.works(over=True, lag=2.0)
    worker.reporter.report()
    app = build_app([SERVICE], AppState(session, Identity(b"k" * 32), reports=reader))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        samples = parsed((await client.get("/metrics")).content)
        live = (await client.get("/console/api/live")).json()
    labels = {"service": "events", "pattern": "decide", "process": "worker"}
    names = ("partita_operations_total", "partita_consumed_write_units_total", "partita_over_budget_total")
    assert [of(samples, name, **labels) for name in names] == [1, 5.0, 1]
    assert of(samples, "partita_workers", service="events") == 1
    assert of(samples, "partita_worker_lag_seconds", queue="events") == 2.0
    assert of(samples, "partita_messages_received_total", queue="events") == 1
    assert (live["usage"]["events"]["decide"]["runs"], live["usage"]["events"]["decide"]["over_budget"]) == (1, 1)
    assert [each["name"] for each in live["workers"]] == ["worker"]
