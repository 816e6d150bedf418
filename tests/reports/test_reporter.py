"""Reports of processes: every run is counted once, whatever happens to the process that ran it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.reports.counting import Process

from partita import Session
from partita.errors import StoreUnavailable
from partita.reports import all_reports, total_before
from partita.reports._ending import end_dead_reports, read_reports
from partita.testing import FakeClock, FaultyStore

pytestmark = pytest.mark.req("X10")


def runs(db: Session) -> int:
    """Return how often all processes have decided, according to their reports."""
    return sum(usage.runs for usage in db.run(total_before()).usage if usage.name == "decide")


def items(db: Session) -> list[str]:
    return sorted(report.name for report in db.run(read_reports()))


def end_dead(db: Session, clock: FakeClock) -> None:
    db.run(end_dead_reports(datetime.fromtimestamp(clock(), UTC)))


def test_what_processes_count_adds_up(db: Session, store: FaultyStore, fake_clock: FakeClock) -> None:
    one, other = Process(store, fake_clock, "one"), Process(store, fake_clock, "other")
    for process in (one, one, other):
        process.works()
        process.reporter.report()
    total = db.run(total_before())
    (decide,) = (usage for usage in total.usage if usage.name == "decide")
    assert (decide.runs, decide.write, decide.max_write) == (3, 15.0, 5.0)
    assert [(queue.name, queue.received) for queue in total.queues] == [("events", 3)]


def test_a_process_that_ends_leaves_its_figures_and_no_item(
    db: Session, store: FaultyStore, fake_clock: FakeClock
) -> None:
    for number in range(20):
        process = Process(store, fake_clock, f"worker {number}")
        process.works(lag=9.0)
        process.reporter.report()
        process.works()
        process.reporter.end()
    assert (runs(db), items(db)) == (40, ["ended"])
    assert [queue.lag_seconds for queue in db.run(total_before()).queues] == [0.0]


def test_a_process_that_was_killed_is_ended_by_the_next(db: Session, store: FaultyStore, fake_clock: FakeClock) -> None:
    killed = Process(store, fake_clock, "killed")
    killed.works()
    killed.reporter.report()
    fake_clock.advance(119)
    Process(store, fake_clock, "early").reporter.report()
    assert items(db) == ["early", "killed"]
    fake_clock.advance(1)
    Process(store, fake_clock, "late").reporter.report()
    assert (runs(db), items(db)) == (1, ["early", "ended", "late"])


def test_one_that_was_taken_for_dead_counts_nothing_twice(
    db: Session, store: FaultyStore, fake_clock: FakeClock
) -> None:
    stalled = Process(store, fake_clock, "stalled")
    stalled.works()
    stalled.reporter.report()
    fake_clock.advance(600)
    end_dead(db, fake_clock)
    for expected in (2, 3):
        stalled.works()
        stalled.reporter.report()
        assert runs(db) == expected
    stalled.reporter.end()
    assert (runs(db), items(db)) == (3, ["ended"])


def test_several_that_end_the_same_report_count_it_once(db: Session, store: FaultyStore, fake_clock: FakeClock) -> None:
    killed = Process(store, fake_clock, "killed")
    killed.works()
    killed.reporter.report()
    fake_clock.advance(200)
    seen = db.run(read_reports())
    for _ in range(3):
        end_dead(db, fake_clock)
    assert ([report.name for report in seen], runs(db)) == (["killed"], 1)


def test_a_report_whose_response_was_lost_is_written_again(
    db: Session, store: FaultyStore, fake_clock: FakeClock
) -> None:
    process = Process(store, fake_clock, "worker")
    process.reporter.report()
    process.works()
    store.unavailable(happens=True)
    with pytest.raises(StoreUnavailable):
        process.reporter.report()
    process.works()
    process.reporter.report()
    assert runs(db) == 2


def test_who_does_nothing_writes_only_that_it_lives(db: Session, store: FaultyStore, fake_clock: FakeClock) -> None:
    process = Process(store, fake_clock, "worker")
    process.works()
    process.reporter.report()
    store.requests.clear()
    for _ in range(12):
        fake_clock.advance(5)
        process.reporter.report()
    assert [type(request).__name__ for request in store.requests] == ["UpdateItem"] * 3
    assert [report.is_live(report.reported_at) for report in db.run(all_reports())] == [True]


def test_what_reports_cost_is_counted_and_small(db: Session, store: FaultyStore, fake_clock: FakeClock) -> None:
    process = Process(store, fake_clock, "worker")
    for number in range(150):
        process.meter.record_retry("events", f"pattern_{number}_of_a_service", StoreUnavailable("away"))
    process.reporter.report()
    (cost,) = (usage for usage in process.meter.usage() if usage.name == "begin_report")
    assert (cost.service, cost.runs) == ("partita", 1)
    assert cost.write <= 3
