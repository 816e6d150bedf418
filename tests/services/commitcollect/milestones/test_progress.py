"""Progress: workouts in the window by the athlete's local dates, at most 3,000 of them, with truncation reported."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.services.commitcollect.world import TODAY, TRACE, World, new_world

from partita import Session, batch_write, put
from partita.store import QueryTable, ScanTable
from partita.testing import FaultyStore, assert_budget
from partita_services.commitcollect.handlers import show_milestone
from partita_services.commitcollect.milestones.awarding import settle
from partita_services.commitcollect.milestones.progress import measure
from partita_services.commitcollect.model import MAX_WORKOUTS, Metric, Progress, Workout, latest_workouts


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        world.log_in()
        yield world


def workout(world: World, number: int, local: datetime, distance: float = 1000.0) -> Workout:
    return Workout(
        user_id=world.user_id,
        activity_id=str(number),
        ticket=1,
        name="A run",
        sport_type="Run",
        started_at=local,
        started_local=local,
        distance=distance,
        moving_time=300,
        elevation_gain=12.5,
    )


def store(world: World, count: int, first: datetime, apart: timedelta = timedelta(minutes=10)) -> None:
    workouts = [workout(world, number, first + number * apart) for number in range(count)]
    Session(world.db.store, clock=world.clock).run(batch_write([put(one) for one in workouts]))


def progress_of(world: World, **changes: Any) -> Progress:
    milestone = world.commit(**changes)
    (progress,) = world.db.run(measure(world.user_id, [milestone]))
    return progress


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    ("metric", "expected"),
    [(Metric.DISTANCE, 3000.0), (Metric.MOVING_TIME, 900), (Metric.ELEVATION, 37.5), (Metric.COUNT, 3)],
)
def test_each_metric_adds_up_its_own(world: World, metric: Metric, expected: float) -> None:
    store(world, 3, datetime(2026, 1, 1, 6, tzinfo=UTC))
    assert progress_of(world, metric=metric).value == expected


@pytest.mark.req("C11")
def test_both_ends_of_the_window_count_and_nothing_beyond(world: World) -> None:
    edges = ("2025-12-31T23:59:59", "2026-01-01T00:00:00", "2026-01-02T23:59:59.999999", "2026-01-03T00:00:00")
    for number, instant in enumerate(edges):
        world.db.run(put(workout(world, number, datetime.fromisoformat(instant).replace(tzinfo=UTC))))
    progress = progress_of(world, starts_on=TODAY, ends_on=TODAY + timedelta(days=1))
    assert (progress.counted, progress.inspected) == (2, 2)


@pytest.mark.req("C11")
def test_a_sum_has_three_places(world: World) -> None:
    world.db.run(put(workout(world, 1, datetime(2026, 1, 1, 6, tzinfo=UTC), distance=0.1234)))
    assert progress_of(world, metric=Metric.DISTANCE).value == 0.123


@pytest.mark.req("C11")
def test_a_sum_does_not_depend_on_the_order(world: World) -> None:
    for number, distance in enumerate((0.1, 0.2, 0.3, 9_999.4)):
        world.db.run(put(workout(world, number, datetime(2026, 1, 1, number, tzinfo=UTC), distance=distance)))
    assert progress_of(world, target=10_000).value == 10_000.0


@pytest.mark.req("C11", "C24")
def test_beyond_three_thousand_the_response_says_that_it_is_truncated_and_stays_within_its_budget() -> None:
    with new_world() as world:
        world.log_in()
        first = datetime(2025, 12, 10, tzinfo=UTC)
        store(world, MAX_WORKOUTS - 1, first)
        milestone = world.commit(target=10_000_000)
        faulty = FaultyStore(world.db.store)
        world.db.store = faulty
        whole = world.db.run(show_milestone(world.user_id, milestone.milestone_id, world.clock(), TRACE)).progress
        assert (whole.truncated, whole.inspected, whole.value) == (False, 2_999, 2_999_000.0)
        world.db.run(put(workout(world, MAX_WORKOUTS, first - timedelta(minutes=10))))
        exact = world.db.run(show_milestone(world.user_id, milestone.milestone_id, world.clock(), TRACE)).progress
        assert (exact.truncated, exact.inspected, exact.value) == (False, MAX_WORKOUTS, 3_000_000.0)
        world.db.run(put(workout(world, MAX_WORKOUTS + 1, first - timedelta(minutes=10))))
        cut = world.db.run(show_milestone(world.user_id, milestone.milestone_id, world.clock(), TRACE)).progress
        assert (cut.truncated, cut.inspected, cut.value) == (True, MAX_WORKOUTS, 3_000_000.0)
        world.db.run(settle(milestone, world.clock(), TRACE))  # its consistent read stays within the budget, too
        queries = [
            request for request in faulty.requests if isinstance(request, QueryTable) and request.index == "LSI1"
        ]
        assert all(query.projection is not None for query in queries)
        assert not any(isinstance(request, ScanTable) for request in faulty.requests)


@pytest.mark.req("C11")
def test_a_window_after_what_was_cut_off_is_whole() -> None:
    with new_world() as world:
        world.log_in()
        store(world, MAX_WORKOUTS + 10, datetime(2025, 12, 10, tzinfo=UTC))
        old, new = world.commit(), world.commit(starts_on=TODAY - timedelta(days=5))
        both = world.db.run(measure(world.user_id, [old, new]))
        assert [(progress.truncated, progress.inspected) for progress in both] == [(True, 3000), (False, 562)]


@pytest.mark.req("C11")
def test_workouts_are_read_in_the_order_of_time_and_within_their_budget(world: World) -> None:
    store(world, 120, datetime(2025, 12, 30, tzinfo=UTC), timedelta(hours=1))
    page = assert_budget(world.db, latest_workouts(world.user_id).page(100))
    starts = [one.started_local for one in page if one.started_local]
    assert starts == sorted(starts, reverse=True)
