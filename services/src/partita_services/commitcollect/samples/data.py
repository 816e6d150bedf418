"""Sample data: the models, and a hiker with some weeks of workouts, who is an athlete of the simulator."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from partita import Entity, Put, Ulids, WalkResult, insert
from partita_services.commitcollect.collectibles.definition import bundled
from partita_services.commitcollect.collectibles.model import CatalogueEntry, Part
from partita_services.commitcollect.milestones.progress import parts_earned, progress_of
from partita_services.commitcollect.model import (
    AthleteOwner,
    Award,
    Connection,
    ConnectionState,
    CountedWorkout,
    Metric,
    Milestone,
    MilestoneStatus,
    Profile,
    WhyNot,
    Workout,
)
from partita_services.commitcollect.strava.model import Tickets

SAMPLE_USER: Final = "demo"
SAMPLE_ATHLETE: Final = "1003"
"""The simulator's athlete whose sign-in shows the sample data."""
_FIRST_DAY: Final = 95
_LAST_DAY: Final = 36
"""The days of the workouts, in days ago: earlier than a backfill reads, so it does not change them."""
_ZONE: Final = timedelta(hours=10)


class _Sketch(NamedTuple):
    title: str
    model_id: str
    metric: Metric
    target: int
    starts: int
    """Days from today."""
    ends: int
    status: MilestoneStatus
    sport_types: tuple[str, ...] = ()


_MILESTONES: Final = (
    _Sketch("Hike 80 km", "sailing-boat", Metric.DISTANCE, 80_000, -95, -50, MilestoneStatus.COMPLETED, ("Hike",)),
    _Sketch("Climb 6,000 m", "lighthouse", Metric.ELEVATION, 6_000, -80, -36, MilestoneStatus.EXPIRED),
    _Sketch("120 hours outside", "steam-locomotive", Metric.MOVING_TIME, 432_000, -75, 30, MilestoneStatus.ACTIVE),
)
_NAMES: Final = {
    "Hike": ("Lookout hike", "Rainforest walk", "Around the reservoir", "Up before the clouds"),
    "Walk": ("Evening walk", "To the market and back"),
    "Ride": ("The long way to work", "Bay ride"),
}


def seed(now: float) -> Sequence[Put[Any]]:
    """Return the operations that write the sample data; their keys are always the same."""
    today = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    since = today - timedelta(days=_FIRST_DAY)
    workouts = _workouts(today)
    milestones = [_milestone(number, sketch, today, workouts) for number, sketch in enumerate(_MILESTONES)]
    user = [
        Profile(user_id=SAMPLE_USER, athlete_id=SAMPLE_ATHLETE, name="Sam Hiker", created_at=since),
        AthleteOwner(athlete_id=SAMPLE_ATHLETE, user_id=SAMPLE_USER),
        Tickets(user_id=SAMPLE_USER, issued=1),
        _connection(since),
    ]
    awards = [award for milestone in milestones for award in _awards(milestone)]
    return [insert(item) for item in (*_models(), *user, *workouts, *milestones, *awards)]


def _models() -> list[Entity]:
    """The bundled models, as `models load` writes them."""
    items: list[Entity] = []
    for each in bundled():
        items += [CatalogueEntry(model_id=each.model_id), each.model, *each.stored_parts, each.stored_picture]
    return items


def _parts(model_id: str) -> list[Part]:
    return next(each.stored_parts for each in bundled() if each.model_id == model_id)


def _connection(since: datetime) -> Connection:
    """A lost connection, because there are no tokens for it before the athlete signs in."""
    return Connection(
        user_id=SAMPLE_USER,
        athlete_id=SAMPLE_ATHLETE,
        athlete_name="Sam Hiker",
        link_id="sample",
        scopes=("activity:read", "read"),
        sealed=b"nothing",
        expires_at=0,
        state=ConnectionState.RECONNECT,
        connected_at=since,
    )


def _workouts(today: datetime) -> list[Workout]:
    rng = random.Random(1003)  # noqa: S311 - reproducible
    days = sorted(rng.sample(range(_LAST_DAY, _FIRST_DAY), 34), reverse=True)
    return [_workout(number, today - timedelta(days=days_ago), rng) for number, days_ago in enumerate(days)]


def _workout(number: int, day: datetime, rng: random.Random) -> Workout:
    sport = rng.choice(("Hike", "Hike", "Walk", "Ride"))
    kilometres = rng.uniform(*{"Hike": (6, 15), "Walk": (2, 6), "Ride": (15, 40)}[sport])
    pace = {"Hike": 800, "Walk": 680, "Ride": 150}[sport]
    climb = {"Hike": 42, "Walk": 4, "Ride": 9}[sport]
    local = day + timedelta(hours=6, minutes=rng.randrange(180))
    return Workout(
        user_id=SAMPLE_USER,
        activity_id=str(9_000_000 + number),
        ticket=1,
        name=rng.choice(_NAMES[sport]),
        sport_type=sport,
        started_at=local - _ZONE,
        started_local=local,
        distance=round(kilometres * 1000, 1),
        moving_time=int(kilometres * pace),
        elevation_gain=round(kilometres * climb * rng.uniform(0.4, 1), 1),
        why_not={7: WhyNot.MANUAL, 19: WhyNot.FLAGGED}.get(number),
    )


def _milestone(number: int, sketch: _Sketch, today: datetime, workouts: Sequence[Workout]) -> Milestone:
    new_id = Ulids(lambda: 1_767_600_000 + number, random.Random(number))  # noqa: S311 - reproducible
    total = len(_parts(sketch.model_id))
    created_at = today + timedelta(days=sketch.starts, hours=20)
    milestone = Milestone(
        user_id=SAMPLE_USER,
        milestone_id=new_id(),
        title=sketch.title,
        model_id=sketch.model_id,
        model_name=next(each.name for each in bundled() if each.model_id == sketch.model_id),
        metric=sketch.metric,
        target=sketch.target,
        sport_types=sketch.sport_types,
        starts_on=(today + timedelta(days=sketch.starts)).date(),
        ends_on=(today + timedelta(days=sketch.ends)).date(),
        status=sketch.status,
        parts_total=total,
        created_at=created_at,
        completed_at=created_at + timedelta(days=40) if sketch.status is MilestoneStatus.COMPLETED else None,
    )
    progress = progress_of(milestone, _walked(workouts))
    earned = parts_earned(progress.value, sketch.target, total)
    reached = None if sketch.status is MilestoneStatus.ACTIVE else progress
    return milestone.model_copy(update={"parts_earned": earned, "reached": reached})


def _walked(workouts: Sequence[Workout]) -> WalkResult[CountedWorkout]:
    counted = (CountedWorkout.model_validate(workout.model_dump()) for workout in reversed(workouts))
    return WalkResult(tuple(counted), truncated=False)


def _awards(milestone: Milestone) -> list[Award]:
    earned = _parts(milestone.model_id)[: milestone.parts_earned]
    return [
        Award(
            user_id=SAMPLE_USER,
            milestone_id=milestone.milestone_id,
            part_index=part.part_index,
            model_id=part.model_id,
            part_name=part.name,
            part_svg=part.svg,
            awarded_at=milestone.created_at + timedelta(days=3 * part.part_index),
        )
        for part in earned
    ]
