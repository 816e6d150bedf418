"""The audit trail: which records are written, and how long they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.services.commitcollect.world import TODAY, TRACE, World, event, new_world

from partita_services.commitcollect.audit import AUDIT, LoggedOut, events_of_month, events_of_story, events_of_user
from partita_services.commitcollect.handlers import (
    MilestoneDraft,
    MilestoneEdit,
    add_milestone,
    audit_creation,
    edit_milestone,
    list_milestones,
    show_milestone,
)
from partita_services.commitcollect.jobs.ingest import process_event
from partita_services.commitcollect.model import Metric
from partita_services.commitcollect.strava.model import RateLimit, limit_of, save_limit

pytestmark = pytest.mark.req("C22")

DAY = 86_400


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        world.log_in()
        yield world


def test_a_record_is_kept_for_ninety_days_to_the_second(world: World) -> None:
    written = world.db.run(AUDIT.append(LoggedOut(), user_id=world.user_id, trace=TRACE))
    assert written is not None
    assert written.ttl - written.occurred_at == 90 * DAY
    world.clock.advance(90 * DAY - 1)
    assert len(list(world.db.run(events_of_user(world.user_id)))) == 3
    world.clock.advance(1)
    assert list(world.db.run(events_of_user(world.user_id))) == []


def trail(world: World) -> list[tuple[str, dict[str, Any]]]:
    """Return the type and details of each record about milestones, without their ids, in a fixed order."""
    entries = world.db.run(events_of_user(world.user_id).page(100))
    own = [entry for entry in entries if entry.event_type.startswith(("milestone_", "part_"))]
    shown = [(entry.event_type, {k: v for k, v in entry.details.items() if k != "milestone_id"}) for entry in own]
    return sorted(shown, key=str)


def test_cancelling_and_editing_are_in_the_trail_with_the_name_of_the_model(world: World) -> None:
    milestone = world.commit(model_id="lighthouse")
    edits: list[MilestoneEdit] = [
        {"version": 1},
        {"version": 1, "title": "Further", "target": 99_000},
        {"version": 2, "title": "Further", "target": 99_000},
        {"version": 3, "title": "Enough", "target": 99_000, "status": "CANCELLED"},
    ]
    for edit in edits:
        world.db.run(edit_milestone(world.user_id, milestone.milestone_id, edit, world.clock(), TRACE))
    assert trail(world) == [
        ("milestone_cancelled", {"model": "Lighthouse"}),
        ("milestone_edited", {"model": "Lighthouse", "changed": "title"}),
        ("milestone_edited", {"model": "Lighthouse", "changed": "title, target"}),
    ]


def test_parts_are_named(world: World) -> None:
    world.commit(model_id="sailing-boat", metric=Metric.COUNT, target=4, starts_on=TODAY)
    for number in (1, 2, 3, 4):
        world.strava.train(number)
        world.do(process_event(world.app, event(number, "create", world.clock())))
    names = ["Boom", "Cabin", "Deck", "Hull", "Jib", "Mainsail", "Mast", "Pennant"]
    assert trail(world) == [
        ("milestone_completed", {"model": "Sailing boat"}),
        *(("part_awarded", {"model": "Sailing boat", "part": name}) for name in names),
    ]


@pytest.mark.parametrize("noticed_by", ["an event", "the list", "a look at it"])
def test_expiring_is_in_the_trail_once_whoever_notices(world: World, noticed_by: str) -> None:
    milestone = world.commit(starts_on=TODAY, ends_on=TODAY)
    world.clock.advance(5 * DAY)
    for _ in range(2):
        if noticed_by == "an event":
            world.do(process_event(world.app, event(1, "update", world.clock())))
        elif noticed_by == "the list":
            (listed,) = world.db.run(list_milestones(world.user_id, 10, None, world.clock(), TRACE))
            assert listed.milestone.status == "EXPIRED"
        else:
            world.db.run(show_milestone(world.user_id, milestone.milestone_id, world.clock(), TRACE))
    assert world.milestone(milestone.milestone_id).status == "EXPIRED"
    assert trail(world) == [("milestone_expired", {"model": "Steam locomotive"})]


def test_a_milestone_that_begins_when_its_time_is_over_has_expired(world: World) -> None:
    long_ago = TODAY - timedelta(days=60)
    draft = MilestoneDraft(
        title="Late", model_id="lighthouse", metric=Metric.COUNT, target=1, starts_on=long_ago, ends_on=long_ago
    )
    plan = world.db.run(add_milestone(world.user_id, draft, world.clock()))
    world.db.run(audit_creation(world.db.run(plan.run()), TRACE))
    assert trail(world) == [
        ("milestone_created", {"model": "Lighthouse"}),
        ("milestone_expired", {"model": "Lighthouse"}),
    ]


def test_that_strava_lets_us_in_no_more_is_in_the_trail(world: World) -> None:
    world.strava.revoke()
    world.do(process_event(world.app, event(1, "create", world.clock())))
    assert "reconnect_needed" in {entry.event_type for entry in world.db.run(events_of_user(world.user_id))}


def test_the_newest_record_of_a_story_and_of_a_month_comes_first(world: World) -> None:
    for _ in range(3):
        world.clock.advance(1)
        world.db.run(AUDIT.append(LoggedOut(), user_id=world.user_id, trace=TRACE))
    for listed in (events_of_story(TRACE.correlation_id), events_of_month("logged_out", "202601")):
        times = [entry.occurred_at for entry in world.db.run(listed)]
        assert times == sorted(times, reverse=True)
        assert len(set(times)) >= 3


def test_a_later_limit_of_strava_takes_the_place_of_an_earlier_one(world: World) -> None:
    for seconds in (60, 120):
        open_at = datetime.fromtimestamp(world.clock() + seconds, UTC)
        world.db.run(save_limit(RateLimit(client_id="4711", open_at=open_at)))
    assert world.db.run(limit_of("4711")) == RateLimit(client_id="4711", open_at=open_at)
