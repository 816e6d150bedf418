"""Awards: each part is awarded once, despite concurrent workers, repeated events and crashes, and never removed."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recipes.interleaving import every_schedule
from tests.services.commitcollect.player import Player
from tests.services.commitcollect.world import TODAY, TRACE, World, event, new_world, queued_world, revocation

from partita import EmbeddedStore, Session, delete, f, insert, put, update
from partita.errors import ConditionFailed, TransactionCancelled
from partita.queue import Send, encode_body
from partita.store import PutItem, Request, ScanTable, TransactWriteItems
from partita.testing import Crash, FakeClock, assert_budget
from partita_services.commitcollect.audit import events_of_user
from partita_services.commitcollect.collectibles.model import model_by_id
from partita_services.commitcollect.handlers import (
    MilestoneDraft,
    MilestoneEdit,
    add_milestone,
    edit_milestone,
    list_milestones,
    show_milestone,
)
from partita_services.commitcollect.jobs.ingest import process_event
from partita_services.commitcollect.jobs.worker import VISIBLE_AFTER, work_once
from partita_services.commitcollect.milestones.awarding import award_earned, settle
from partita_services.commitcollect.milestones.progress import measure, parts_earned
from partita_services.commitcollect.model import (
    MAX_ACTIVE,
    TABLE,
    Award,
    Metric,
    Milestone,
    MilestoneStatus,
    Profile,
    active_milestones,
    milestones_of,
)
from partita_services.commitcollect.writes import award_parts, cancel_milestone

R = TypeVar("R")

DRAFT = MilestoneDraft(
    title="Run 12 km",
    model_id="steam-locomotive",
    metric=Metric.DISTANCE,
    target=12_000,
    starts_on=TODAY,
    ends_on=TODAY,
)


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        world.log_in()
        yield world


def indexes(world: World) -> list[int]:
    return [award.part_index for award in world.awards]


def train(world: World, numbers: range, **changes: Any) -> None:
    for number in numbers:
        world.strava.train(number, **changes)
        world.do(process_event(world.app, event(number, "create", world.clock())))


@pytest.mark.req("C12")
@pytest.mark.parametrize(
    ("value", "expected"), [(0, 0), (999.999, 0), (1000, 1), (5999, 5), (11_999.9, 11), (12_000, 12), (99_000, 12)]
)
def test_part_i_of_n_is_earned_at_its_share_of_the_target(value: float, expected: int) -> None:
    assert parts_earned(value, 12_000, 12) == expected


@pytest.mark.req("C12")
@pytest.mark.parametrize(("value", "expected"), [(67.599, 0), (67.6, 1), (135.2, 2), (540.799, 7), (540.8, 8)])
def test_a_share_with_decimal_places_is_exact(value: float, expected: int) -> None:
    assert parts_earned(value, 1014, 15) == expected


@pytest.mark.req("C12")
def test_parts_come_with_workouts_and_the_last_one_completes(world: World) -> None:
    milestone = world.commit()
    train(world, range(1, 4))
    assert indexes(world) == [1, 2, 3]
    assert world.milestone(milestone.milestone_id).status is MilestoneStatus.ACTIVE
    train(world, range(4, 14))
    done = world.milestone(milestone.milestone_id)
    assert (done.status, done.parts_earned, indexes(world)) == (MilestoneStatus.COMPLETED, 12, list(range(1, 13)))
    assert done.completed_at is not None
    names = [award.part_name for award in world.awards]
    assert names[:3] == ["Track", "Frame", "Leading wheels"]


@pytest.mark.req("C12", "C22")
def test_every_award_is_audited_once(world: World) -> None:
    world.commit()
    train(world, range(1, 13))
    seen = Counter(entry.event_type for entry in world.db.run(events_of_user(world.user_id)))
    assert (seen["part_awarded"], seen["milestone_completed"], seen["workout_ingested"]) == (12, 1, 12)


@pytest.mark.req("C12")
def test_an_award_stays_when_its_activity_is_deleted_and_is_not_earned_twice(world: World) -> None:
    milestone = world.commit()
    train(world, range(1, 4))
    del world.strava.activities[3]
    world.do(process_event(world.app, event(3, "delete", world.clock())))
    assert len(world.workouts) == 2
    assert indexes(world) == [1, 2, 3]
    train(world, range(4, 5))
    assert indexes(world) == [1, 2, 3]
    assert world.milestone(milestone.milestone_id).parts_earned == 3


@pytest.mark.req("C12", "C05")
@pytest.mark.parametrize("ending", ["completed", "cancelled", "expired"])
def test_what_a_milestone_had_reached_stays_when_all_workouts_are_gone(world: World, ending: str) -> None:
    target = 3_000 if ending == "completed" else 12_000
    milestone = world.commit(target=target, starts_on=TODAY, ends_on=TODAY)
    train(world, range(1, 4))
    if ending == "cancelled":
        edit: MilestoneEdit = {"version": world.milestone(milestone.milestone_id).version, "status": "CANCELLED"}
        world.db.run(edit_milestone(world.user_id, milestone.milestone_id, edit, world.clock(), TRACE))
    world.clock.advance(5 * 86_400)
    before = world.db.run(show_milestone(world.user_id, milestone.milestone_id, world.clock(), TRACE))
    assert (before.progress.value, before.progress.counted) == (3_000.0, 3)
    assert before.milestone.status == ending.upper()
    world.strava.revoke()
    world.do(process_event(world.app, revocation(world.clock())))
    assert world.workouts == {}
    with world.db.meter.watch() as seen:
        after = world.db.run(show_milestone(world.user_id, milestone.milestone_id, world.clock(), TRACE))
        (listed,) = world.db.run(list_milestones(world.user_id, 10, None, world.clock(), TRACE))
    assert (after, listed.progress) == (before, before.progress)
    assert "workouts_within" not in {run.name for run in seen}  # no workouts are read for an ended one


@pytest.mark.req("C12", "C05")
def test_one_that_was_completed_before_that_was_stored_is_complete_too(world: World) -> None:
    milestone = world.commit(target=3_000)
    train(world, range(1, 4))
    done = world.milestone(milestone.milestone_id)
    world.db.run(put(done.model_copy(update={"reached": None, "version": 0, "milestone_id": "old"})))
    for number in (1, 2):
        del world.strava.activities[number]
        world.do(process_event(world.app, event(number, "delete", world.clock())))
    shown = world.db.run(show_milestone(world.user_id, "old", world.clock(), TRACE)).progress
    assert (shown.value, shown.fraction, shown.counted) == (3_000.0, 1.0, 1)


@pytest.mark.req("C10")
def test_a_milestone_expires_only_when_late_workouts_had_their_time(world: World) -> None:
    milestone = world.commit(starts_on=TODAY, ends_on=TODAY)
    world.clock.advance(3 * 86_400 + 43_199)  # the last second of the three days of grace
    world.db.run(award_earned(world.user_id, world.clock(), TRACE))
    assert world.milestone(milestone.milestone_id).status is MilestoneStatus.ACTIVE
    world.clock.advance(43_201)
    world.db.run(award_earned(world.user_id, world.clock(), TRACE))
    expired = world.milestone(milestone.milestone_id)
    assert (expired.status, expired.parts_earned, expired.version) == (MilestoneStatus.EXPIRED, 0, 2)


@pytest.mark.req("C12")
def test_in_every_order_of_two_workers_with_a_crash_each_part_is_awarded_once() -> None:
    for choose in every_schedule():
        with new_world() as world:
            world.log_in()
            milestone = world.commit(target=6_000)
            world.strava.train(1, distance=6_000.0)
            world.do(_store_only(world))
            works = [settle(milestone, world.clock(), TRACE) for _ in range(2)]
            play(world, works, choose, crashes=1)
            world.db.run(settle(world.milestone(milestone.milestone_id), world.clock(), TRACE))
            done = world.milestone(milestone.milestone_id)
            assert (indexes(world), done.status) == (list(range(1, 13)), MilestoneStatus.COMPLETED)
            assert done.version == 2


@pytest.mark.req("C12")
@pytest.mark.parametrize("distance", [1_000.0, 12_000.0], ids=["one part", "all parts"])
def test_a_milestone_that_was_cancelled_meanwhile_is_awarded_nothing(world: World, distance: float) -> None:
    """A worker has read the milestone while it was active; the transaction that awards checks the version."""
    read = world.commit()
    world.strava.train(1, distance=distance)
    world.do(_store_only(world))
    (reached,) = world.db.run(measure(world.user_id, [read]))
    world.db.run(cancel_milestone(read, reached))
    world.db.run(settle(read, world.clock(), TRACE))
    after = world.milestone(read.milestone_id)
    assert (after.status, after.parts_earned, after.version) == (MilestoneStatus.CANCELLED, 0, 2)
    assert indexes(world) == []


@pytest.mark.req("C12")
def test_a_part_that_is_there_is_never_written_over(world: World) -> None:
    """Not even if the condition on the milestone holds."""
    milestone = world.commit()
    train(world, range(1, 2))
    (first,) = world.awards
    now = world.milestone(milestone.milestone_id)
    later = Award(user_id=world.user_id, **{**first.model_dump(), "awarded_at": first.awarded_at + timedelta(days=1)})
    with pytest.raises(TransactionCancelled):
        world.db.run(award_parts(update(now, f(Milestone.parts_earned).set(2)), [later]))
    assert world.awards == (first,)
    assert world.milestone(milestone.milestone_id) == now


def _store_only(world: World) -> Any:
    from partita_services.commitcollect.jobs.ingest import ingest

    return ingest(world.app, world.user_id, "1", TRACE)


def play(world: World, works: list[Any], choose: Any, crashes: int) -> None:
    """Interleave works at their transactions; all requests between these only read, or write the audit trail."""
    players = [Player(work, world.db, world.tools) for work in works]
    while waiting := [player for player in players if not player.done]:
        for player in waiting:
            while not player.done and not isinstance(player.next, TransactWriteItems):
                player.move()
        waiting = [player for player in waiting if not player.done]
        if not waiting:
            break
        options: list[Any] = [player.move for player in waiting]
        if crashes:
            options += [player.crash for player in waiting]
            options += [lambda player=player: player.crash(after=True) for player in waiting]
        chosen = choose(len(options)) if len(options) > 1 else 0
        crashes -= chosen >= len(waiting)
        options[chosen]()


class DyingStore:
    """A store whose callers crash at random, before or after a request; it counts the awards that were written."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self.awarded: Counter[str] = Counter()
        self.deaths = 0
        self.rng = random.Random(7)
        self.risk = 0.0

    def execute(self, request: Request[R]) -> R:
        with self._lock:
            fate = self.rng.random()
        if fate < self.risk:
            self._die()
        response = self._store.execute(request)
        if isinstance(request, TransactWriteItems):
            keys = [str(action.item.get("SK")) for action in request.actions if isinstance(action, PutItem)]
            with self._lock:
                self.awarded.update(key for key in keys if "#AWARD#" in key)
        if fate > 1 - self.risk:
            self._die()
        return response

    async def execute_async(self, request: Request[R]) -> R:
        return self.execute(request)

    def close(self) -> None:
        self._store.close()

    def _die(self) -> None:
        with self._lock:
            self.deaths += 1
        raise Crash


@pytest.mark.req("C12", "C04")
def test_eight_workers_that_die_at_random_award_each_part_once_from_events_that_come_thrice_in_any_order() -> None:
    clock = FakeClock()
    with queued_world(clock) as world:
        dying = DyingStore(world.db.store)  # type: ignore[arg-type]
        world.log_in()
        world.work()
        milestone = world.commit(target=40_000)
        deliveries = [number for number in range(1, 41) for _ in range(3)]
        random.Random(3).shuffle(deliveries)
        for number in range(1, 41):
            world.strava.train(number)
        clock.advance(60)
        for position, number in enumerate(deliveries):
            job = event(number, "create", clock() - 30)
            # Each delivery has its own group, so that the queue does not keep the order of one athlete's events.
            world.tools.queue.execute(Send(encode_body(job), f"group-{position}", f"delivery-{position}"))
        dying.risk = 0.004
        versions: list[list[int]] = [[] for _ in range(8)]

        def work(number: int) -> None:
            db = Session(dying, clock=clock, secret=b"fake")
            while True:
                try:
                    taken = work_once(db, world.tools)
                except Crash:
                    continue  # another worker takes its place
                versions[number].append(world.milestone(milestone.milestone_id).version)
                if not taken:
                    return

        for _ in range(20):
            threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            clock.advance(VISIBLE_AFTER + 1)  # messages of crashed workers become visible again
            dying.risk = 0.0
        assert dying.deaths > 3
        assert dict(dying.awarded) == {
            f"MILESTONE#{milestone.milestone_id}#AWARD#{part:03}": 1 for part in range(1, 13)
        }
        done = world.milestone(milestone.milestone_id)
        assert (done.status, indexes(world)) == (MilestoneStatus.COMPLETED, list(range(1, 13)))
        assert len(world.workouts) == 40
        assert all(seen == sorted(seen) for seen in versions)


@pytest.mark.req("C12")
def test_a_model_that_is_gone_is_reported_and_nothing_is_awarded(world: World) -> None:
    milestone = world.commit()
    world.db.run(delete(model_by_id(milestone.model_id)))
    with pytest.raises(LookupError, match="There is no model steam-locomotive"):
        train(world, range(1, 2))
    assert (len(world.workouts), indexes(world)) == (1, [])


@pytest.mark.req("C12")
def test_all_active_milestones_get_their_parts_also_where_there_are_more_than_may_be_created(world: World) -> None:
    first = world.commit()
    for _ in range(MAX_ACTIVE + 4):  # an earlier version allowed this
        world.db.run(insert(first.model_copy(update={"milestone_id": world.app.new_id(), "version": 0})))
    train(world, range(1, 2))
    page = world.db.run(milestones_of(world.user_id).page(200))
    assert [milestone.parts_earned for milestone in page] == [1] * (MAX_ACTIVE + 5)


@pytest.mark.req("C10")
def test_a_milestone_that_was_planned_before_another_was_created_is_counted_again(world: World) -> None:
    plans = [world.db.run(add_milestone(world.user_id, DRAFT, world.clock())) for _ in range(2)]
    world.db.run(plans[0].run())
    with pytest.raises(ConditionFailed) as failed:
        world.db.run(plans[1].run())
    assert isinstance(failed.value.current, Profile)
    assert len(world.db.run(active_milestones(world.user_id))) == 1


@pytest.mark.req("C10")
def test_a_user_from_before_milestones_were_counted_creates_them_too(world: World) -> None:
    (profile,) = (item for item in world.db.store.execute(ScanTable(TABLE.name)).items if item.get("SK") == "PROFILE")
    del profile["commitments"]
    world.db.store.execute(PutItem(TABLE.name, profile))
    plans = [world.db.run(add_milestone(world.user_id, DRAFT, world.clock())) for _ in range(2)]
    world.db.run(plans[0].run())
    with pytest.raises(ConditionFailed):
        world.db.run(plans[1].run())
    world.commit()
    assert len(world.db.run(active_milestones(world.user_id))) == 2


@pytest.mark.req("C12")
def test_looking_for_active_milestones_stays_within_its_budget(world: World) -> None:
    for _ in range(100):
        world.commit()
    assert len(assert_budget(world.db, active_milestones(world.user_id))) == 100


@pytest.mark.req("C11")
@given(distances=st.lists(st.floats(0.1, 5_000), max_size=12), shift=st.integers(-3, 3))
@settings(max_examples=25, deadline=None)
def test_what_is_awarded_is_what_the_progress_says(distances: list[float], shift: int) -> None:
    with new_world() as world:
        world.log_in()
        milestone = world.commit(target=10_000, starts_on=TODAY, ends_on=TODAY + timedelta(days=1))
        for number, distance in enumerate(distances):
            start = world.strava.train(number).start_date + timedelta(days=shift)
            world.strava.train(number, distance=distance, start_date=start, start_date_local=start)
            world.do(process_event(world.app, event(number, "create", world.clock())))
        counts = date(2026, 1, 1) + timedelta(days=shift) in (TODAY, TODAY + timedelta(days=1))
        total = round(sum(distances), 3) if counts else 0
        earned = world.milestone(milestone.milestone_id).parts_earned
        assert earned == parts_earned(total, 10_000, 12)
        assert indexes(world) == list(range(1, earned + 1))
