"""Notices of awards: each transaction that awards parts writes one, which is kept until a sender has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from tests.services.commitcollect.world import TODAY, TRACE, World, event, new_world, queued_world

from partita.cli import DataFolder, installation_of, main
from partita.queue import BodyDecoder
from partita.queue.embedded import EmbeddedQueue
from partita.recipes.outbox import OutboxMessage, open_sender
from partita.testing import FakeClock
from partita_services.commitcollect.bootstrap import open_tools
from partita_services.commitcollect.jobs.announcing import EVERY, Announcer, forward_notices
from partita_services.commitcollect.jobs.erasure import EraseJob, erase, request_deletion
from partita_services.commitcollect.jobs.ingest import ingest, process_event
from partita_services.commitcollect.milestones.awarding import settle
from partita_services.commitcollect.milestones.notices import NOTICES, PartsAwarded
from partita_services.commitcollect.milestones.progress import measure
from partita_services.commitcollect.model import Metric
from partita_services.commitcollect.strava import settings
from partita_services.commitcollect.work import Tools, drop, sender_of
from partita_services.commitcollect.writes import cancel_milestone

pytestmark = pytest.mark.req("C14")

BODIES = BodyDecoder(PartsAwarded)


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        world.log_in()
        yield world


def train(world: World, *numbers: int, **changes: Any) -> None:
    for number in numbers:
        world.strava.train(number, **changes)
        world.do(process_event(world.app, event(number, "create", world.clock())))


def waiting(world: World) -> list[dict[str, Any]]:
    return [json.loads(notice.body) for notice in world.db.run(NOTICES.waiting(0))]


def test_awards_are_announced_with_the_names_of_model_and_parts(world: World) -> None:
    milestone = world.commit(model_id="sailing-boat", metric=Metric.COUNT, target=4, starts_on=TODAY)
    train(world, 1)
    train(world, 2, 3, 4)
    base = {"v": 1, "kind": "parts_awarded", "user_id": world.user_id, "milestone_id": milestone.milestone_id}
    parts = [("Hull", "Deck"), ("Cabin", "Mast"), ("Boom", "Mainsail"), ("Jib", "Pennant")]
    assert waiting(world) == [
        {**base, "model": "Sailing boat", "parts": list(names), "is_complete": names[-1] == "Pennant"}
        for names in parts
    ]


def test_what_a_new_milestone_has_earned_already_is_announced_too(world: World) -> None:
    train(world, 1)
    assert waiting(world) == []
    world.commit(target=6_000)
    (notice,) = waiting(world)
    assert (notice["parts"], notice["is_complete"]) == (["Track", "Frame"], False)


def test_a_part_that_was_not_awarded_is_not_announced(world: World) -> None:
    read = world.commit()
    world.strava.train(1)
    world.do(ingest(world.app, world.user_id, "1", TRACE))
    (reached,) = world.db.run(measure(world.user_id, [read]))
    world.db.run(cancel_milestone(read, reached))
    world.db.run(settle(read, world.clock(), TRACE))
    assert waiting(world) == []


def with_sender(world: World, queue: EmbeddedQueue, sent: list[PartsAwarded]) -> Tools:
    def send(message: OutboxMessage) -> None:
        assert message.group == world.user_id
        sent.append(message.read(BODIES))

    return replace(world.tools, notices=queue, send=send)


@pytest.fixture
def notices(tmp_path: Path) -> Iterator[EmbeddedQueue]:
    queue = EmbeddedQueue(tmp_path / "notices.db", "notices", clock=FakeClock(), durable=False)
    yield queue
    queue.close()


def test_a_worker_gives_them_to_the_sender_in_order(world: World, notices: EmbeddedQueue) -> None:
    sent: list[PartsAwarded] = []
    world.commit(target=3_000, ends_on=TODAY + timedelta(days=1))
    train(world, 1, 2)
    announcer = Announcer(world.db, with_sender(world, notices, sent))
    assert announcer.announce() == 2
    assert [notice.parts for notice in sent] == [
        ("Track", "Frame", "Leading wheels", "Driving wheels"),
        ("Coupling rod", "Boiler", "Smokebox", "Chimney"),
    ]
    assert waiting(world) == []


def test_a_worker_that_waits_looks_now_and_then_and_after_each_job(world: World, notices: EmbeddedQueue) -> None:
    sent: list[PartsAwarded] = []
    announcer = Announcer(world.db, with_sender(world, notices, sent))
    announcer.announce()
    world.commit(target=3_000)
    train(world, 1)
    world.clock.advance(EVERY.total_seconds() - 1)
    assert announcer.announce() == 0
    assert announcer.announce(is_due=True) == 1
    train(world, 2)
    world.clock.advance(EVERY.total_seconds())
    assert announcer.announce() == 1


def test_a_worker_whose_clock_was_set_back_announces_at_once(world: World, notices: EmbeddedQueue) -> None:
    announcer = Announcer(world.db, with_sender(world, notices, []))
    world.clock.advance(86_400)
    announcer.announce()
    world.clock.advance(-86_400)
    world.commit(target=3_000)
    train(world, 1)
    assert announcer.announce() == 1


def test_where_another_program_reads_the_queue_they_stay_in_it(world: World, notices: EmbeddedQueue) -> None:
    world.commit(target=3_000)
    train(world, 1)
    sent: list[PartsAwarded] = []
    tools = with_sender(world, notices, sent)
    assert Announcer(world.db, replace(tools, send=None)).announce() == 0
    assert (waiting(world), sent) == ([], [])
    assert Announcer(world.db, tools).announce() == 1


@pytest.mark.req("C23")
def test_a_deleted_account_leaves_none_in_the_table() -> None:
    with queued_world() as world:
        world.log_in()
        world.commit(target=3_000)
        train(world, 1)
        assert len(waiting(world)) == 1
        world.do(request_deletion(world.user_id, TRACE))
        world.do(erase(world.app, EraseJob("r", "c", world.user_id)))
        assert waiting(world) == []


def test_forwarding_again_does_no_harm(world: World) -> None:
    world.commit(target=3_000)
    train(world, 1)
    assert [world.do(forward_notices()) for _ in range(2)] == [1, 0]


def test_the_setting_names_the_sender(tmp_path: Path) -> None:
    installation = installation_of(DataFolder(tmp_path))

    def of(value: str) -> Any:
        return sender_of(settings.read(installation, {settings.SENDER: value}))

    assert (of(""), of("queue")) == (drop, None)
    assert of(f"file:{tmp_path / 'spool'}").folder == tmp_path / "spool"
    assert of("partita.recipes.outbox:open_sender") is open_sender


def test_a_sender_that_is_none_ends_the_start_with_one_line(tmp_path: Path) -> None:
    command = ["serve", "commitcollect", "--port", "0", "--data", str(tmp_path), "--no-seed"]
    result = CliRunner().invoke(main, command, env={settings.SENDER: "nowhere"})
    assert (result.exit_code, "is not the address of a sender" in result.output) == (1, True)
    assert len(result.output.splitlines()) == 1


def test_the_queue_of_notices_is_opened(tmp_path: Path) -> None:
    with open_tools(installation_of(DataFolder(tmp_path))) as tools:
        assert (tools.notices.name, tools.send) == ("commitcollect-notices", drop)
