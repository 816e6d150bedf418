"""The progress of milestones: which workouts in their windows count, which do not, and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time
from typing import Final

from partita import Procedure, Span, WalkResult
from partita_services.commitcollect.model import (
    MAX_WORKOUTS,
    AnyMilestone,
    CountedWorkout,
    Metric,
    MilestoneStatus,
    Progress,
    workouts_within,
)

OTHER_SPORT: Final = "other_sport"
_PLACES: Final = 3
"""The decimal places of a sum."""
_PARTS_OF_A_UNIT: Final = 10**_PLACES
_NONE: Final[WalkResult[CountedWorkout]] = WalkResult((), truncated=False)


def measure(user_id: str, milestones: Sequence[AnyMilestone], *, consistent: bool = False) -> Procedure[list[Progress]]:
    """Return the progress of each of a user's milestones, with one bounded read of the workouts in all their windows.

    For a milestone that has ended, this is the progress at its end, and nothing is read for it.
    """
    running = [milestone for milestone in milestones if milestone.reached is None]
    walked = (yield from _workouts(user_id, running, consistent=consistent)) if running else _NONE
    return [milestone.reached or _complete(milestone, progress_of(milestone, walked)) for milestone in milestones]


def _workouts(
    user_id: str, milestones: Sequence[AnyMilestone], *, consistent: bool
) -> Procedure[WalkResult[CountedWorkout]]:
    window = Span.between(
        _first_instant(min(milestone.starts_on for milestone in milestones)),
        _last_instant(max(milestone.ends_on for milestone in milestones)),
    )
    workouts = workouts_within(user_id, window)
    return (yield from (workouts.consistent() if consistent else workouts).walk(max_items=MAX_WORKOUTS))


def _complete(milestone: AnyMilestone, progress: Progress) -> Progress:
    """Return the progress; a milestone completed before its progress was stored has reached at least its target."""
    if milestone.status is not MilestoneStatus.COMPLETED:
        return progress
    return progress.model_copy(update={"value": max(progress.value, milestone.target), "fraction": 1.0})


def parts_earned(value: float, target: int, parts_total: int) -> int:
    """Return how many parts a value has earned: part i of n at target * i / n."""
    # In whole thousandths, because the floats 67.6 * 15 / 1014 are less than 1.
    return min(round(value * _PARTS_OF_A_UNIT) * parts_total // (target * _PARTS_OF_A_UNIT), parts_total)


def progress_of(milestone: AnyMilestone, walked: WalkResult[CountedWorkout]) -> Progress:
    """Return the progress of a milestone from workouts that were read newest first."""
    first, last = _first_instant(milestone.starts_on), _last_instant(milestone.ends_on)
    inside = [workout for workout in walked if first <= workout.started_local <= last]
    verdicts = [(workout, why_not(workout, milestone)) for workout in inside]
    value = _total((workout for workout, why in verdicts if why is None), milestone.metric)
    return Progress(
        value=value,
        fraction=min(value / milestone.target, 1.0),
        counted=sum(why is None for _, why in verdicts),
        inspected=len(inside),
        # The newest come first, so workouts beyond the limit are older than all that were read.
        truncated=walked.truncated and first <= walked.items[-1].started_local,
        not_counted=dict(Counter(why for _, why in verdicts if why is not None)),
    )


def why_not(workout: CountedWorkout, milestone: AnyMilestone) -> str | None:
    """Return why a workout in the window does not count; None if it counts."""
    if workout.why_not is not None:
        return workout.why_not.value
    if milestone.sport_types and workout.sport_type not in milestone.sport_types:
        return OTHER_SPORT
    return None


def _total(workouts: Iterable[CountedWorkout], metric: Metric) -> float:
    # fsum does not depend on the order, so two workers never differ by a rounding error.
    return round(math.fsum(_amount(workout, metric) for workout in workouts), _PLACES)


def _amount(workout: CountedWorkout, metric: Metric) -> float:
    match metric:
        case Metric.DISTANCE:
            return workout.distance
        case Metric.MOVING_TIME:
            return workout.moving_time
        case Metric.ELEVATION:
            return workout.elevation_gain
        case Metric.COUNT:
            return 1


def _first_instant(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _last_instant(day: date) -> datetime:
    return datetime.combine(day, time.max, UTC)
