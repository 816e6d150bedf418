"""The subscription to events: a withdrawal before it, or a refusal before its event, ends the connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import permutations

import pytest
from tests.services.commitcollect.player import Player
from tests.services.commitcollect.strava_model import ATHLETE
from tests.services.commitcollect.world import World, event, new_world, revocation

from partita_services.commitcollect.jobs.backfill import BackfillJob, backfill_page
from partita_services.commitcollect.jobs.ingest import process_event
from partita_services.commitcollect.jobs.subscription import SubscribeJob, _is_earlier, subscribe
from partita_services.commitcollect.model import ConnectionState, connection_of
from partita_services.commitcollect.strava.interface import ReadAthlete
from partita_services.commitcollect.strava.model import Subscription
from partita_services.commitcollect.work import TryLater, Work

pytestmark = pytest.mark.req("C05")


@pytest.fixture
def world() -> Iterator[World]:
    """A world with a user who is connected and has a workout; no job of the sign-in has run yet."""
    with new_world() as world:
        world.log_in()
        world.strava.train(1)
        world.do(process_event(world.app, event(1, "create", world.clock())))
        yield world


def jobs_of(world: World) -> dict[str, Callable[[], object]]:
    """Return the jobs after a withdrawal: a read that Strava refuses, its event, and the sign-in's subscription."""
    backfill = world.connection.backfill
    assert backfill is not None
    page = BackfillJob("r", "c", world.user_id, backfill.sync_id, 1)
    return {
        "refusal": lambda: world.do(backfill_page(world.app, page)),
        "event": lambda: world.do(process_event(world.app, revocation(world.clock()))),
        "subscription": lambda: world.do(subscribe(world.app, SubscribeJob("r", "c", world.user_id))),
    }


@pytest.mark.parametrize("order", list(permutations(["refusal", "event"])), ids=" then ".join)
def test_a_withdrawal_ends_the_connection_before_and_after_a_refusal(world: World, order: tuple[str, ...]) -> None:
    jobs = jobs_of(world)
    world.strava.revoke()
    for name in order:
        jobs[name]()
    assert (world.db.run(connection_of(world.user_id)), world.workouts) == (None, {})


@pytest.mark.parametrize(("first", "second"), list(permutations(["refusal", "event"])))
def test_a_withdrawal_ends_the_connection_wherever_a_refusal_meets_it(first: str, second: str) -> None:
    """One job pauses before each of its requests in turn, until the other job is done."""
    for pause in range(40):
        with new_world() as world:
            world.log_in()
            works = works_of(world)
            world.strava.revoke()
            player = Player(works[first](), world.db, world.tools)
            for _ in range(pause):
                if not player.done:
                    player.move()
            was_done = player.done
            _until_done(world, works[second])
            player.finish()
            if isinstance(player.result, TryLater):
                _until_done(world, works[first])
            assert (world.db.run(connection_of(world.user_id)), world.workouts) == (None, {}), pause
        if was_done:
            return
    pytest.fail("the job did not end")


def works_of(world: World) -> dict[str, Callable[[], Work[object]]]:
    backfill = world.connection.backfill
    assert backfill is not None
    page = BackfillJob("r", "c", world.user_id, backfill.sync_id, 1)
    return {
        "refusal": lambda: backfill_page(world.app, page),
        "event": lambda: process_event(world.app, revocation(world.clock())),
    }


def _until_done(world: World, work: Callable[[], Work[object]]) -> None:
    """Run a job as the queue does: a job that has to wait is run again later."""
    for _ in range(60):  # the claim of a paused job expires after half a minute
        try:
            world.do(work())
        except TryLater as later:
            world.clock.advance(later.seconds)
        else:
            return
    pytest.fail("the job waits for ever")


@pytest.mark.parametrize("order", list(permutations(["refusal", "subscription"])), ids=" then ".join)
def test_a_withdrawal_before_the_subscription_was_not_announced_and_ends_the_connection(
    world: World, order: tuple[str, ...]
) -> None:
    jobs = jobs_of(world)
    world.strava.revoke()  # Strava sends no event without a subscription
    for name in order:
        jobs[name]()
        world.clock.advance(5)
    assert (world.db.run(connection_of(world.user_id)), world.workouts) == (None, {})


def test_jobs_of_the_login_itself_find_out(world: World) -> None:
    world.strava.revoke()
    world.work()
    assert (world.db.run(connection_of(world.user_id)), world.workouts) == (None, {})


def test_who_is_still_there_stays(world: World) -> None:
    world.work()
    assert world.connection.state is ConnectionState.CONNECTED
    assert list(world.workouts) == ["1"]


def test_of_who_comes_later_strava_notifies_us(world: World) -> None:
    """The worker does not ask Strava about a later user, and a refusal alone does not end the connection."""
    world.work()
    world.clock.advance(61)
    world.log_in(ATHLETE + 1)
    world.strava.requests.clear()
    world.work()
    assert [request for request in world.strava.requests if isinstance(request, ReadAthlete)] == []
    jobs = jobs_of(world)
    world.strava.revoke(ATHLETE + 1)
    jobs["refusal"]()
    jobs["subscription"]()
    assert world.connection.state is ConnectionState.RECONNECT


@pytest.mark.parametrize(("seconds", "is_earlier"), [(-61, False), (-60, True), (0, True)])
def test_who_has_connected_within_a_minute_after_it_may_be_earlier(
    world: World, seconds: int, *, is_earlier: bool
) -> None:
    """Clocks differ by up to a minute."""
    made_at = world.connection.connected_at + timedelta(seconds=seconds)
    made = Subscription(client_id="4711", subscription_id=1, made_at=made_at)
    assert world.do(_is_earlier(world.user_id, made)) is is_earlier


def test_where_nobody_knows_when_it_was_made_nobody_is_earlier(world: World) -> None:
    made = Subscription(client_id="4711", subscription_id=1, made_at=None)
    assert world.do(_is_earlier(world.user_id, made)) is False
    made = Subscription(client_id="4711", subscription_id=1, made_at=world.connection.connected_at)
    assert world.do(_is_earlier("nobody", made)) is False
