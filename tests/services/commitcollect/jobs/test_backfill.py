"""Reading earlier activities: page by page, repeatable at any point, and with deletions noticed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from tests.services.commitcollect.player import Player
from tests.services.commitcollect.strava_model import StravaModel
from tests.services.commitcollect.world import TRACE, World, event, new_world, queued_world

from partita_services.commitcollect.handlers import NotConnected, synchronise
from partita_services.commitcollect.jobs.backfill import BackfillJob, backfill_page
from partita_services.commitcollect.jobs.ingest import process_event
from partita_services.commitcollect.model import Backfill
from partita_services.commitcollect.strava.interface import ListActivities

pytestmark = pytest.mark.req("C07")


@pytest.fixture
def world() -> Iterator[World]:
    with queued_world() as world:
        yield world


def train_since(strava: StravaModel, days: int, count: int) -> None:
    """Record a number of activities, spread over a number of days before now."""
    for number in range(count):
        start = datetime.fromtimestamp(strava.clock(), UTC) - timedelta(days=days * (number + 1) / (count + 1))
        strava.train(number, start_date=start, start_date_local=start)


def backfill(world: World) -> Backfill:
    found = world.connection.backfill
    assert found is not None
    return found


def test_connecting_reads_the_last_thirty_days_in_pages(world: World) -> None:
    train_since(world.strava, 60, 500)
    world.log_in()
    assert (backfill(world).pages, backfill(world).finished) == (0, False)
    world.work()
    pages = [request.page for request in world.strava.requests if isinstance(request, ListActivities)]
    assert pages == [1, 2, 3]
    done = backfill(world)
    assert (done.pages, done.found, done.stored, done.finished) == (3, 254, 254, True)
    assert len(world.workouts) == 254


def test_a_page_that_is_read_again_is_counted_once(world: World) -> None:
    train_since(world.strava, 20, 150)
    world.log_in()
    job = BackfillJob("r", "c", world.user_id, backfill(world).sync_id, 1)
    world.do(backfill_page(world.app, job))
    world.do(backfill_page(world.app, job))
    assert (backfill(world).pages, backfill(world).found) == (1, 100)
    world.work()
    assert (backfill(world).found, backfill(world).finished, len(world.workouts)) == (150, True, 150)


def test_parts_are_earned_by_what_was_before(world: World) -> None:
    train_since(world.strava, 20, 7)
    world.log_in()
    world.commit()
    world.work()
    assert [award.part_index for award in world.awards] == list(range(1, 8))


def test_a_resync_notices_what_no_event_has_told(world: World) -> None:
    train_since(world.strava, 20, 5)
    world.log_in()
    world.work()
    del world.strava.activities[1]
    world.strava.train(2, private=True)
    world.strava.train(3, name="Renamed", start_date=world.strava.activities[3].start_date)
    world.do(synchronise(world.app, world.user_id, TRACE))
    world.work()
    assert {key: workout.name for key, workout in world.workouts.items()} == {
        "0": "Run 0",
        "3": "Renamed",
        "4": "Run 4",
    }


def test_a_later_read_of_one_activity_does_not_keep_the_others_from_being_stored() -> None:
    with new_world() as world:
        train_since(world.strava, 20, 30)
        world.log_in()
        job = BackfillJob("r", "c", world.user_id, backfill(world).sync_id, 1)
        player = Player(backfill_page(world.app, job), world.db, world.tools)
        while not isinstance(player.next, ListActivities):
            player.move()
        player.move()
        world.strava.train(7, name="Newer", start_date=world.strava.activities[7].start_date)
        world.do(process_event(world.app, event(7, "update", world.clock())))
        player.finish()
        assert (backfill(world).found, backfill(world).stored, len(world.workouts)) == (30, 29, 30)
        assert world.workouts["7"].name == "Newer"


def test_a_run_that_was_replaced_stops(world: World) -> None:
    train_since(world.strava, 20, 5)
    world.log_in()
    old = backfill(world).sync_id
    world.do(synchronise(world.app, world.user_id, TRACE))
    world.do(backfill_page(world.app, BackfillJob("r", "c", world.user_id, old, 1)))
    assert world.workouts == {}


def test_who_comes_back_after_a_long_loss_misses_nothing(world: World) -> None:
    world.log_in()
    world.work()
    world.strava.refuses_reads = True
    world.strava.train(1)
    world.do(process_event(world.app, event(1, "create", world.clock())))
    world.strava.refuses_reads = False
    world.clock.advance(60 * 86_400)
    with pytest.raises(NotConnected):
        world.do(synchronise(world.app, world.user_id, TRACE))
    world.log_in()
    world.work()
    assert list(world.workouts) == ["1"]


@pytest.mark.req("C06")
def test_when_the_limit_is_reached_work_waits_for_the_next_window_and_is_not_lost(world: World) -> None:
    train_since(world.strava, 20, 5)
    world.log_in()
    world.strava.open_at = datetime.fromtimestamp(world.clock() + 600, UTC)
    world.work()
    asked = len(world.strava.requests)
    assert world.workouts == {}
    world.clock.advance(599)
    world.work()
    assert (world.workouts, len(world.strava.requests)) == ({}, asked)
    world.clock.advance(2)
    world.work()
    assert len(world.workouts) == 5
