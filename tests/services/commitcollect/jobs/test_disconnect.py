"""Disconnecting: the grant is revoked, the data from Strava is removed, and earned parts stay."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.services.commitcollect.player import Player
from tests.services.commitcollect.strava_model import ATHLETE
from tests.services.commitcollect.world import TODAY, TRACE, World, event, new_world

from partita.testing import Crash
from partita_services.commitcollect.audit import events_of_user
from partita_services.commitcollect.handlers import NotConnected, synchronise
from partita_services.commitcollect.jobs.backfill import BackfillJob, backfill_page
from partita_services.commitcollect.jobs.disconnect import DisconnectJob, disconnect, request_disconnect
from partita_services.commitcollect.jobs.ingest import IngestOutcome, process_event
from partita_services.commitcollect.model import (
    ConnectionState,
    Metric,
    MilestoneStatus,
    connection_of,
    milestones_of,
    owner_of,
)
from partita_services.commitcollect.strava.interface import Deauthorize
from partita_services.commitcollect.work import Work

pytestmark = pytest.mark.req("C05")


def trained(world: World) -> World:
    """Sign in, record two workouts, and complete a milestone with one of them; return the world."""
    world.log_in()
    world.work()
    world.commit(metric=Metric.COUNT, target=1, starts_on=TODAY)
    for number in (1, 2):
        world.strava.train(number)
        world.do(process_event(world.app, event(number, "create", world.clock())))
    return world


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        yield trained(world)


def job_of(world: World) -> DisconnectJob:
    return DisconnectJob("r", "c", world.user_id, world.connection.link_id)


def test_the_grant_is_given_up_and_workouts_are_removed(world: World) -> None:
    awards = world.awards
    assert world.do(request_disconnect(world.user_id, TRACE))
    assert world.connection.state is ConnectionState.LEAVING
    world.work()
    assert [request for request in world.strava.requests if isinstance(request, Deauthorize)] != []
    assert (world.db.run(connection_of(world.user_id)), world.workouts) == (None, {})
    assert world.awards == awards
    (milestone,) = world.db.run(milestones_of(world.user_id))
    assert milestone.status is MilestoneStatus.COMPLETED
    assert world.db.run(owner_of(str(ATHLETE))) is not None  # so the user can sign in again
    trail = {entry.event_type: entry.details for entry in world.db.run(events_of_user(world.user_id))}
    assert trail["disconnect_requested"] == {"athlete_id": str(ATHLETE)}
    assert trail["athlete_unlinked"] == {"athlete_id": str(ATHLETE), "workouts": 2}


def test_nothing_is_read_for_a_connection_that_is_to_end(world: World) -> None:
    backfill = world.connection.backfill
    assert backfill is not None
    world.do(request_disconnect(world.user_id, TRACE))
    world.strava.requests.clear()
    world.strava.train(3)
    assert world.do(process_event(world.app, event(3, "create", world.clock()))) is IngestOutcome.NOT_CONNECTED
    world.do(backfill_page(world.app, BackfillJob("r", "c", world.user_id, backfill.sync_id, 1)))
    with pytest.raises(NotConnected):
        world.do(synchronise(world.app, world.user_id, TRACE))
    assert world.strava.requests == []


def test_who_connects_again_first_stays_connected(world: World) -> None:
    world.do(request_disconnect(world.user_id, TRACE))
    world.log_in()
    world.work()
    assert world.connection.state is ConnectionState.CONNECTED
    assert sorted(world.workouts) == ["1", "2"]


def test_it_may_be_asked_for_twice_and_there_is_one_record_of_it(world: World) -> None:
    assert [world.do(request_disconnect(world.user_id, TRACE)) for _ in range(2)] == [True, True]
    world.work()
    assert not world.do(request_disconnect(world.user_id, TRACE))
    kinds = [entry.event_type for entry in world.db.run(events_of_user(world.user_id))]
    assert (kinds.count("disconnect_requested"), kinds.count("athlete_unlinked")) == (1, 1)


@pytest.mark.parametrize("trouble", ["unavailable", "revoked"])
def test_it_does_not_depend_on_strava(world: World, trouble: str) -> None:
    job = job_of(world)
    if trouble == "revoked":
        world.strava.revoke()
    else:
        world.strava.failures = 100
    world.do(disconnect(world.app, job))
    assert (world.db.run(connection_of(world.user_id)), world.workouts) == (None, {})


def test_cut_off_after_every_single_request_it_is_finished_when_it_is_run_again() -> None:
    def whole(world: World) -> Work[None]:
        yield from request_disconnect(world.user_id, TRACE)
        yield from disconnect(world.app, job_of(world))

    for cut in range(1, 30):
        with new_world() as world:
            trained(world)
            job = job_of(world)
            player = Player(whole(world), world.db, world.tools)
            for _ in range(cut):
                if player.done:
                    break
                player.move()
            finished = player.done
            if not finished:
                player.crash()
            world.do(disconnect(world.app, job))
            assert (world.db.run(connection_of(world.user_id)), world.workouts) == (None, {}), cut
        if finished:
            return
    raise Crash


async def test_a_browser_disconnects(browser: httpx.AsyncClient, connected: World) -> None:
    response = await browser.delete("/api/me/connection")
    assert (response.status_code, response.json()) == (202, {"status": "disconnecting"})
    assert (await browser.get("/api/me")).json()["connection"]["state"] == "leaving"
    connected.work()
    assert (await browser.get("/api/me")).json()["connection"] is None
    again = await browser.delete("/api/me/connection")
    assert (again.status_code, again.json()["code"]) == (409, "not_connected")
