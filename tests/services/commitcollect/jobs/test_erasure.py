"""Deleting an account: interrupted after any request and run again, it leaves only the audit trail."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.services.commitcollect.player import Player
from tests.services.commitcollect.strava_model import ATHLETE
from tests.services.commitcollect.world import TRACE, Checkpoint, World, event, new_world, queued_world

from partita import insert
from partita.errors import ItemMissing
from partita.queue import GetStats, Send
from partita.store import ScanTable
from partita_services.commitcollect.audit import AUDIT_TABLE
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.jobs.backfill import BackfillJob, backfill_page
from partita_services.commitcollect.jobs.erasure import EraseJob, erase, request_deletion
from partita_services.commitcollect.jobs.ingest import ActivityJob, IngestOutcome, ingest, process_event, read_again
from partita_services.commitcollect.model import IDEMPOTENCY_TABLE, TABLE, Workout, owner_of, profile_of
from partita_services.commitcollect.signin.login import LoginRefused
from partita_services.commitcollect.signin.sessions import SESSIONS, SESSIONS_TABLE
from partita_services.commitcollect.strava.interface import Deauthorize, ReadActivity
from partita_services.commitcollect.work import Work

pytestmark = pytest.mark.req("C23")


def full_world(world: World) -> None:
    """Sign in, and create data of every kind for the user, some of it expired."""
    world.log_in()
    world.log_in()
    world.commit(target=1_000)
    world.commit(target=90_000)
    world.clock.advance(60)
    for number in range(4):
        world.strava.train(number, distance=500.0)
        world.do(process_event(world.app, event(number, "create", world.clock() - 30)))
    for number in range(10, 36):
        world.db.run(insert(Workout(user_id=world.user_id, activity_id=str(number), ticket=1)))
    del world.strava.activities[3]
    world.do(process_event(world.app, event(3, "delete", world.clock())))
    expired = int(world.clock()) - 60
    world.db.run(insert(Workout(user_id=world.user_id, activity_id="99", ticket=1, ttl=expired)))


def left(world: World) -> dict[str, list[str]]:
    """Return by table the keys of all items of users, including expired ones, except for the audit trail."""
    nobodys = ("MODEL#", "CATALOGUE", "PICTURE#", "APPLICATION#")
    tables = (TABLE, SESSIONS_TABLE, IDEMPOTENCY_TABLE)
    found = {table.name: world.db.store.execute(ScanTable(table.name)).items for table in tables}
    return {
        name: keys
        for name, items in found.items()
        if (keys := [str(item.get("PK", item)) for item in items if not str(item.get("PK")).startswith(nobodys)])
    }


def deletion(world: World) -> Work[Any]:
    """Delete the account: the part of the request, and then the job of the worker."""
    yield from request_deletion(world.user_id, TRACE)
    yield from erase(world.app, EraseJob("r2", "c2", world.user_id))


def test_nothing_is_left_but_the_trail() -> None:
    with new_world() as world:
        full_world(world)
        world.do(deletion(world))
        assert left(world) == {}
        assert world.strava.tokens == {}
        trail = world.db.store.execute(ScanTable(AUDIT_TABLE.name)).items
        assert [entry["event_type"] for entry in trail[-2:]] == ["deletion_requested", "account_deleted"]
        assert "access-" not in repr(trail)


def test_cut_off_after_every_single_request_it_is_finished_when_it_is_run_again() -> None:
    cut, requests = 0, 1
    with new_world() as world:
        full_world(world)
        before = Checkpoint(world)
        while cut < requests:
            before.go_back()
            player = Player(deletion(world), world.db, world.tools)
            for _ in range(cut):
                if not player.done:
                    player.move()
            if not player.done:
                requests = cut + 2
                player.crash(after=cut % 2 == 1)
            world.clock.advance(31)
            world.do(deletion(world))
            assert left(world) == {}
            cut += 1
    assert cut > 25


def test_after_a_request_that_dies_when_the_job_is_queued_the_job_ends_the_sessions() -> None:
    with new_world() as world:
        full_world(world)
        request = Player(request_deletion(world.user_id, TRACE), world.db, world.tools)
        while not isinstance(request.next, Send):
            request.move()
        request.crash(after=True)
        world.do(erase(world.app, EraseJob("r2", "c2", world.user_id)))
        assert left(world) == {}


def test_what_is_under_way_writes_nothing_any_more() -> None:
    """A read that a worker began before the deletion is finished after it, and a request creates a milestone then."""
    with new_world() as world:
        full_world(world)
        reading = Player(ingest(world.app, world.user_id, "2", TRACE), world.db, world.tools)
        while not isinstance(reading.next, ReadActivity):
            reading.move()
        reading.move()
        world.do(deletion(world))
        assert reading.finish() is IngestOutcome.OUTDATED
        with pytest.raises(ItemMissing):
            world.commit()
        assert left(world) == {}


JOBS: dict[str, Callable[[World], Work[Any]]] = {
    "an event": lambda world: process_event(world.app, event(2, "update", world.clock() - 30)),
    "an activity": lambda world: read_again(world.app, ActivityJob("r", "c", world.user_id, "2")),
    "a page": lambda world: backfill_page(world.app, BackfillJob("r", "c", world.user_id, _sync_id(world), 1)),
}


def _sync_id(world: World) -> str:
    assert world.connection.backfill is not None
    return world.connection.backfill.sync_id


def busy_world(world: World) -> None:
    """Create the data of `full_world`, with activities left to read and parts left to award."""
    full_world(world)
    world.strava.train(2, distance=40_000.0)
    world.strava.train(5, distance=400.0)


@pytest.mark.parametrize("job", JOBS)
def test_a_job_that_is_under_way_may_be_at_any_request_when_the_account_is_deleted(job: str) -> None:
    """The deletion does not wait for other jobs: it finds what they have written, and later they write nothing."""
    with new_world() as world:
        busy_world(world)
        before = Checkpoint(world)
        cut, is_over = -1, False
        while not is_over:
            cut += 1
            before.go_back()
            player = Player(JOBS[job](world), world.db, world.tools)
            for _ in range(cut):
                if not player.done:
                    player.move()
            is_over = player.done
            world.do(deletion(world))
            player.finish()
            assert left(world) == {}
        assert cut > 8


@pytest.mark.parametrize("job", JOBS)
def test_a_deletion_may_be_at_any_request_when_another_job_of_the_user_is_done(job: str) -> None:
    with new_world() as world:
        busy_world(world)
        before = Checkpoint(world)
        cut, is_over = -1, False
        while not is_over:
            cut += 1
            before.go_back()
            work, player = JOBS[job](world), Player(deletion(world), world.db, world.tools)
            for _ in range(cut):
                if not player.done:
                    player.move()
            is_over = player.done
            Player(work, world.db, world.tools).finish()
            player.finish()
            assert left(world) == {}
        assert cut > 25


def test_it_waits_for_no_job_that_waits_for_strava() -> None:
    with queued_world() as world:
        full_world(world)
        world.strava.open_at = datetime.fromtimestamp(world.clock() + 24 * 3600, UTC)
        world.work()  # the backfill cannot begin before tomorrow
        world.do(request_deletion(world.user_id, TRACE))
        world.work()
        assert left(world) == {}
        world.clock.advance(24 * 3600 + 1)
        world.work()
        assert (left(world), world.tools.queue.execute(GetStats()).waiting) == ({}, 0)


def test_an_athlete_who_is_back_as_a_new_user_stays_that_when_the_deletion_is_finished() -> None:
    with new_world() as world:
        full_world(world)
        player = Player(deletion(world), world.db, world.tools)
        while world.db.run(owner_of(str(ATHLETE))) is not None:
            player.move()
        player.crash()
        before = world.user_id
        world.log_in()
        world.do(erase(world.app, EraseJob("r2", "c2", before)))
        owner = world.db.run(owner_of(str(ATHLETE)))
        assert owner is not None
        assert owner.user_id == world.user_id != before
        assert world.db.run(profile_of(before)) is None


def test_a_closing_account_lets_nobody_in() -> None:
    with new_world() as world:
        session_id = world.log_in()
        world.do(request_deletion(world.user_id, TRACE))
        assert world.db.run(SESSIONS.resolve(session_id)) is None
        with pytest.raises(LoginRefused, match="account_closing"):
            world.log_in()
        world.work()
        assert left(world) == {}
        before = world.user_id
        world.log_in()
        assert world.user_id != before


@pytest.mark.parametrize("trouble", ["unavailable", "revoked", "limited"])
def test_it_does_not_depend_on_strava(trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_world() as world:
        full_world(world)
        world.do(request_deletion(world.user_id, TRACE))
        if trouble == "revoked":
            world.strava.revoke()
        elif trouble == "limited":
            world.strava.open_at = datetime.fromtimestamp(world.clock() + 24 * 3600, UTC)
            monkeypatch.setattr(Deauthorize, "is_read", True)
        else:
            world.strava.failures = 100
        world.do(erase(world.app, EraseJob("r2", "c2", world.user_id)))
        assert left(world) == {}


def test_an_account_that_nobody_wants_to_delete_stays() -> None:
    with new_world() as world:
        full_world(world)
        before = left(world)
        world.do(erase(world.app, EraseJob("r2", "c2", world.user_id)))
        assert left(world) == before
        assert not [request for request in world.strava.requests if isinstance(request, Deauthorize)]
        assert ATHLETE in world.strava.tokens


def test_the_service_has_no_other_tables() -> None:
    assert set(SERVICE.tables) == {TABLE, SESSIONS_TABLE, IDEMPOTENCY_TABLE, AUDIT_TABLE}
