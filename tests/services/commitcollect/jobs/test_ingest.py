"""Webhook events are hints: in any order, repeated, and despite crashes, the workouts become those at Strava."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.services.commitcollect.player import Player
from tests.services.commitcollect.strava_model import ATHLETE
from tests.services.commitcollect.world import TRACE, World, event, new_world, revocation

from partita import insert
from partita_services.commitcollect.jobs.ingest import EventJob, IngestOutcome, event_key, ingest, process_event
from partita_services.commitcollect.model import ConnectionState, WhyNot, Workout, connection_of, owner_of, profile_of
from partita_services.commitcollect.strava.interface import Owner, ReadActivity


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        world.log_in()
        yield world


def visible(world: World) -> dict[str, tuple[str, float, WhyNot | None]]:
    """Return the fields of the activities that Strava shows now, as they should be stored."""
    return {
        str(number): (
            activity.name,
            activity.distance,
            WhyNot.MANUAL if activity.manual else WhyNot.FLAGGED if activity.flagged else None,
        )
        for number, activity in world.strava.activities.items()
        if not activity.is_private
    }


def stored(world: World) -> dict[str, tuple[str, float, WhyNot | None]]:
    return {key: (workout.name, workout.distance, workout.why_not) for key, workout in world.workouts.items()}


def process(world: World, job: EventJob) -> IngestOutcome:
    outcome: IngestOutcome = world.do(process_event(world.app, job))
    return outcome


@pytest.mark.req("C05")
def test_create_update_delete_and_privacy_are_followed(world: World) -> None:
    world.strava.train(1)
    assert process(world, event(1, "create", world.clock())) is IngestOutcome.STORED
    world.strava.train(1, name="Renamed", flagged=True)
    assert process(world, event(1, "update", world.clock(), updates={"title": "Renamed"})) is IngestOutcome.STORED
    assert stored(world) == {"1": ("Renamed", 1000.0, WhyNot.FLAGGED)}
    world.strava.train(1, visibility="only_me")
    assert process(world, event(1, "update", world.clock(), updates={"private": "true"})) is IngestOutcome.GONE
    assert stored(world) == {}
    world.strava.train(1)
    assert process(world, event(1, "update", world.clock(), updates={"private": "false"})) is IngestOutcome.STORED
    del world.strava.activities[1]
    assert process(world, event(1, "delete", world.clock())) is IngestOutcome.GONE
    assert stored(world) == {}


@pytest.mark.req("C04")
def test_a_repeated_event_is_not_read_again(world: World) -> None:
    world.strava.train(1)
    job = event(1, "create", world.clock() - 60)
    assert [process(world, job) for _ in range(3)] == [
        IngestOutcome.STORED,
        IngestOutcome.REPEATED,
        IngestOutcome.REPEATED,
    ]
    assert len([request for request in world.strava.requests if isinstance(request, ReadActivity)]) == 1


@pytest.mark.req("C04")
def test_an_event_of_this_very_second_may_hide_another_and_is_read_again(world: World) -> None:
    world.strava.train(1)
    job = event(1, "update", world.clock(), updates={"private": "true"})
    assert process(world, job) is IngestOutcome.STORED
    world.strava.train(1, private=True)  # changed in the same second, with an identical event
    assert process(world, job) is IngestOutcome.GONE


@pytest.mark.req("C04")
def test_events_are_told_apart_by_all_that_they_say() -> None:
    first = event(1, "update", 100, updates={"title": "a", "private": "true"})
    others = [
        event(2, "update", 100, updates={"title": "a", "private": "true"}),
        event(1, "create", 100, updates={"title": "a", "private": "true"}),
        event(1, "update", 101, updates={"title": "a", "private": "true"}),
        event(1, "update", 100, updates={"title": "b", "private": "true"}),
    ]
    assert event_key(event(1, "update", 100, updates={"private": "true", "title": "a"}).event) == event_key(first.event)
    assert len({event_key(job.event) for job in (first, *others)}) == 5


@pytest.mark.req("C04")
def test_events_of_strangers_are_ignored(world: World) -> None:
    job = EventJob("r", "c", "activity", 1, "create", 999, 4711, int(world.clock()), {})
    assert process(world, job) is IngestOutcome.IGNORED
    assert len(world.strava.requests) == 1


@pytest.mark.req("C04")
def test_another_athletes_activity_is_not_taken(world: World) -> None:
    world.strava.train(1, athlete=Owner(ATHLETE + 1))
    assert process(world, event(1, "create", world.clock())) is IngestOutcome.GONE
    assert stored(world) == {}


@pytest.mark.req("C04")
def test_a_read_that_is_overtaken_stores_nothing(world: World) -> None:
    world.strava.train(1, name="Old")
    slow = Player(ingest(world.app, world.user_id, "1", TRACE), world.db, world.tools)
    while not isinstance(slow.next, ReadActivity):
        slow.move()
    slow.move()
    world.strava.train(1, name="New")
    assert world.do(ingest(world.app, world.user_id, "1", TRACE)) is IngestOutcome.STORED
    assert slow.finish() is IngestOutcome.OUTDATED
    assert stored(world) == {"1": ("New", 1000.0, None)}


@pytest.mark.req("C05")
def test_a_read_that_began_before_a_deletion_does_not_bring_it_back(world: World) -> None:
    world.strava.train(1)
    slow = Player(ingest(world.app, world.user_id, "1", TRACE), world.db, world.tools)
    while not isinstance(slow.next, ReadActivity):
        slow.move()
    slow.move()
    del world.strava.activities[1]
    assert process(world, event(1, "delete", world.clock())) is IngestOutcome.GONE
    assert slow.finish() is IngestOutcome.OUTDATED
    assert stored(world) == {}


@pytest.mark.req("C05")
def test_who_withdraws_takes_connection_and_workouts_along_and_nothing_that_was_earned(world: World) -> None:
    world.commit(target=1_000)
    world.strava.train(1)
    process(world, event(1, "create", world.clock()))
    world.strava.revoke()
    assert process(world, revocation(world.clock())) is IngestOutcome.WITHDRAWN
    assert world.db.run(connection_of(world.user_id)) is None
    assert (stored(world), len(world.awards)) == ({}, 12)
    user_id = world.user_id
    world.log_in()
    assert world.user_id == user_id
    assert world.connection.state is ConnectionState.CONNECTED


@pytest.mark.req("C05")
def test_a_forged_withdrawal_changes_nothing(world: World) -> None:
    world.strava.train(1)
    process(world, event(1, "create", world.clock()))
    before = world.connection
    assert process(world, revocation(world.clock())) is IngestOutcome.IGNORED
    assert world.connection == before
    assert list(stored(world)) == ["1"]


@pytest.mark.req("C05")
def test_a_withdrawal_that_was_cut_off_anywhere_is_finished_when_it_comes_again() -> None:
    cut, requests = 0, 1
    while cut < requests:
        with new_world() as world:
            world.log_in()
            for number in range(30):
                world.db.run(insert(Workout(user_id=world.user_id, activity_id=str(number), ticket=1)))
            world.strava.revoke()
            player = Player(process_event(world.app, revocation(world.clock())), world.db, world.tools)
            taken = 0
            while not player.done and taken < cut:
                player.move()
                taken += 1
            if not player.done:
                requests = cut + 2
                player.crash()
            world.clock.advance(31)
            process(world, revocation(world.clock()))
            assert world.db.run(connection_of(world.user_id)) is None
            assert stored(world) == {}
            assert world.db.run(owner_of(str(ATHLETE))) is not None
            assert world.db.run(profile_of(world.user_id)) is not None
        cut += 1
    assert cut > 10


CHANGES = ("train", "edit", "delete", "hide", "show", "flag")


class Post:
    """Events in delivery: in any order, repeated, by workers that crash; one complete delivery finishes an event."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.pending: list[EventJob] = []
        self.deliveries: list[tuple[EventJob, Player]] = []

    def deliver(self, job: EventJob) -> Player:
        player = Player(process_event(self.world.app, job), self.world.db, self.world.tools)
        self.deliveries.append((job, player))
        return player

    def settle(self) -> None:
        for job, player in [delivery for delivery in self.deliveries if delivery[1].done]:
            self.deliveries.remove((job, player))
            if isinstance(player.result, IngestOutcome) and job in self.pending:
                self.pending.remove(job)

    def act(self, rng: Random) -> None:
        """Let a worker start with an event and stop at random, or let a delivery that was started before continue."""
        what = rng.choice(["read", "finish", "crash", "go on"])
        if what == "go on" and self.deliveries:
            rng.choice(self.deliveries)[1].finish()
        if what == "go on" or not self.pending:
            return
        player = self.deliver(rng.choice(self.pending))
        if what == "finish":
            player.finish()
            return
        while not player.done and not isinstance(player.next, ReadActivity):
            player.move()
        for _ in range(rng.randint(1, 4) if what == "crash" else 1):
            if not player.done:
                player.move()  # the first move reads from Strava, and nothing is stored yet
        if what == "crash" and not player.done:
            player.crash(after=rng.random() < 0.5)

    def finish(self, rng: Random) -> None:
        while self.deliveries or self.pending:
            chosen = rng.choice(self.deliveries)[1] if self.deliveries else self.deliver(self.pending[0])
            chosen.finish()
            self.world.clock.advance(2)
            self.settle()


@pytest.mark.req("C04", "C05")
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_whatever_happens_in_whatever_order_what_is_stored_is_what_strava_says_now(seed: int) -> None:
    rng = Random(seed)
    with new_world() as world:
        world.log_in()
        post = Post(world)
        for edit in range(rng.randint(2, 8)):
            post.pending.append(_change(world, rng, edit))
            world.clock.advance(rng.choice([0, 0, 1, 30]))
            for _ in range(rng.randint(0, 3)):
                post.act(rng)
                post.settle()
        revoked = rng.random() < 0.2
        if revoked:
            world.strava.revoke()
            post.pending.append(revocation(world.clock()))
        post.finish(rng)
        assert stored(world) == ({} if revoked else visible(world))
        assert (world.db.run(connection_of(world.user_id)) is None) == revoked


def _change(world: World, rng: Random, edit: int) -> EventJob:
    """Make a random change at Strava, and return its event."""
    activities = world.strava.activities
    number = rng.randint(1, 2)
    if number not in activities:
        world.strava.train(number, name=f"v{edit}")
        return event(number, "create", world.clock())
    what = rng.choice(CHANGES)
    if what == "delete":
        del activities[number]
        return event(number, "delete", world.clock())
    changes = {"hide": {"private": True}, "flag": {"flagged": True}}.get(what, {})
    world.strava.train(number, name=f"v{edit}", distance=1000.0 + edit, **changes)
    updates = {"private": str(what == "hide").lower()} if what in ("hide", "show") else {"title": f"v{edit}"}
    return event(number, "update", world.clock(), updates=updates)


@pytest.mark.req("C11")
def test_manual_and_flagged_activities_do_not_count(world: World) -> None:
    milestone = world.commit(target=2_000)
    for number, changes in enumerate(({}, {"manual": True}, {"flagged": True})):
        world.strava.train(number, **changes)
        process(world, event(number, "create", world.clock()))
    assert world.milestone(milestone.milestone_id).parts_earned == 6
    assert sorted(str(workout.why_not) for workout in world.workouts.values()) == ["None", "flagged", "manual"]


@pytest.mark.req("C24")
def test_what_an_event_costs(world: World) -> None:
    """The figures must be those in docs/services/commitcollect.md."""
    milestone = world.commit()
    world.strava.train(1)
    job = event(1, "create", world.clock() - 60)
    with world.db.meter.watch() as first:
        process(world, job)
    with world.db.meter.watch() as again:
        process(world, job)
    costs = [(run.name, run.read, run.write) for run in first]
    assert costs == [
        ("owner_of", 1, 0),
        ("request_by_key", 1, 0),
        ("connection_of", 1, 0),
        ("count_look", 0, 0),  # it fails: the first read in this quarter of an hour
        ("open_quarter", 0, 1),
        ("limit_of", 0.5, 0),
        ("request_by_key", 1, 0),
        ("save_workouts", 0, 8),
        ("AuditEntry.append", 0, 3),
        ("active_milestones", 1, 0),
        ("workouts_within", 1, 0),
        ("collectible", 0.5, 0),
        ("award_parts", 0, 7),
        ("AuditEntry.append", 0, 3),
        ("milestone_by_id", 1, 0),
        ("workouts_within", 1, 0),
    ]
    assert [(run.name, run.read, run.write) for run in again] == [
        ("owner_of", 1, 0),
        ("request_by_key", 1, 0),
        ("active_milestones", 1, 0),
        ("workouts_within", 1, 0),
    ]
    assert world.milestone(milestone.milestone_id).parts_earned == 1
