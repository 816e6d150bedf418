"""The worker: jobs that cannot run yet are retried, unreadable messages become dead letters, and none is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace
from tests.services.commitcollect.strava_model import SUBSCRIPTION
from tests.services.commitcollect.world import SETTINGS, World, event, queued_world

from partita.queue import Acknowledge, GetStats, ReadDead, Send, encode_body
from partita.service import WorkerContext
from partita.store import PutItem
from partita.testing import FaultyStore
from partita_services.commitcollect.bootstrap import POLICY
from partita_services.commitcollect.jobs.worker import MAX_PAUSE, run, work_once
from partita_services.commitcollect.strava.interface import Subscribe
from partita_services.commitcollect.strava.model import Subscription, save_subscription, subscription_of


@pytest.fixture
def world() -> Iterator[World]:
    with queued_world() as world:
        world.log_in()
        world.work()
        yield world


def queue_event(world: World, number: int) -> None:
    job = event(number, "create", world.clock())
    world.tools.queue.execute(Send(encode_body(job), "1001", f"delivery-{number}"))


def waiting(world: World) -> int:
    stats = world.tools.queue.execute(GetStats())
    return stats.waiting + stats.in_flight


@pytest.mark.req("C04")
def test_the_subscription_is_made_by_the_worker(world: World) -> None:
    found = world.db.run(subscription_of(SETTINGS.client_id))
    made_at = datetime.fromtimestamp(world.clock(), UTC)
    assert found == Subscription(client_id=SETTINGS.client_id, subscription_id=SUBSCRIPTION, made_at=made_at)


@pytest.mark.req("C04")
def test_a_worker_that_starts_renews_a_subscription_that_there_is(world: World) -> None:
    world.db.run(save_subscription(Subscription(client_id=SETTINGS.client_id, subscription_id=1)))
    stop = threading.Event()
    world.strava.requests.clear()
    session, real = world.db, world.strava.execute

    def execute_and_stop(request: object) -> object:
        stop.set()
        return real(request)  # type: ignore[arg-type]

    world.strava.execute = execute_and_stop  # type: ignore[method-assign,assignment]
    run(WorkerContext(session, world.tools, "worker-1", stop))
    assert world.strava.requests == [Subscribe(SETTINGS.webhook_url)]
    found = world.db.run(subscription_of(SETTINGS.client_id))
    assert found is not None
    assert found.subscription_id == SUBSCRIPTION


@pytest.mark.req("C04", "C06")
def test_what_strava_does_not_respond_to_comes_again_after_a_growing_while(world: World) -> None:
    world.strava.train(1)
    queue_event(world, 1)
    world.strava.failures = 2
    assert [work_once(world.db, world.tools), work_once(world.db, world.tools)] == [1, 0]
    world.clock.advance(2.5)
    assert [work_once(world.db, world.tools), work_once(world.db, world.tools)] == [1, 0]
    assert world.workouts == {}
    world.clock.advance(2.5)
    assert work_once(world.db, world.tools) == 0
    world.clock.advance(2)
    assert work_once(world.db, world.tools) == 1
    assert (list(world.workouts), waiting(world)) == (["1"], 0)


@pytest.mark.req("C06")
def test_a_day_without_requests_left_loses_nothing(world: World) -> None:
    world.strava.train(1)
    world.strava.open_at = datetime.fromtimestamp(world.clock() + 24 * 3600, UTC)
    queue_event(world, 1)
    tries = 0
    for _ in range(24 * 4 + 2):
        tries += work_once(world.db, world.tools)
        world.clock.advance(900)
    assert (list(world.workouts), waiting(world), world.tools.queue.execute(ReadDead())) == (["1"], 0, ())
    assert tries == 3


@pytest.mark.req("C04")
def test_what_cannot_be_read_ends_as_a_dead_letter_and_holds_up_nobody_else(world: World) -> None:
    world.tools.queue.execute(Send('{"v": 9, "kind": "from the future"}', "somebody", "d1"))
    world.strava.train(1)
    queue_event(world, 1)
    for _ in range(POLICY.max_receives + 1):
        work_once(world.db, world.tools)
        world.clock.advance(MAX_PAUSE + 1)
    assert list(world.workouts) == ["1"]
    (letter,) = world.tools.queue.execute(ReadDead())
    assert (letter.group, waiting(world)) == ("somebody", 0)


@pytest.mark.req("C04")
def test_a_fault_in_one_job_does_not_stop_the_others(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.strava.train(1, moving_time="unheard of")
    world.strava.train(2)
    for number in (1, 2):
        job = event(number, "create", world.clock())
        world.tools.queue.execute(Send(encode_body(job), f"group-{number}", f"delivery-{number}"))
    assert [work_once(world.db, world.tools) for _ in range(3)] == [1, 1, 0]
    assert (list(world.workouts), waiting(world)) == (["2"], 1)
    assert "failed and will be tried again" in caplog.text


@pytest.mark.req("C22")
def test_audit_records_that_a_worker_lost_are_told(world: World, caplog: pytest.LogCaptureFixture) -> None:
    store = FaultyStore(world.db.store)
    world.db.store = store
    world.strava.train(1)
    queue_event(world, 1)
    stop = threading.Event()
    real = world.tools.queue.execute

    class Stopping:
        name = "commitcollect"

        def execute(self, request: Any) -> Any:
            if isinstance(request, Acknowledge):
                stop.set()
            return real(request)

    store.unavailable(on=PutItem)  # the first put of the job is its audit record
    run(WorkerContext(world.db, replace(world.tools, queue=Stopping()), "worker-1", stop))
    assert list(world.workouts) == ["1"]
    assert "1 audit records could not be written" in caplog.text
