"""Awarding parts: once each, whoever notices first, and never taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from partita import Procedure, Update, f, retry_on_conflict, update
from partita.errors import ConditionFailed, PartitaError, TransactionCancelled
from partita.recipes.audit import Trace
from partita_services.commitcollect.audit import AUDIT, MilestoneCompleted, PartAwarded
from partita_services.commitcollect.milestones.progress import measure, parts_earned
from partita_services.commitcollect.model import (
    MAX_CHECKED,
    Award,
    Milestone,
    MilestoneLife,
    MilestoneStatus,
    Part,
    active_milestones,
    collectible,
    milestone_by_id,
)
from partita_services.commitcollect.writes import award_parts, expire_milestone

GRACE: Final = timedelta(days=3)
"""For so long after its last day a milestone waits for workouts that are uploaded late."""
MAX_TRIES: Final = 20


def award_earned(user_id: str, now: float, trace: Trace) -> Procedure[None]:
    """Award all parts that a user has earned and not got."""
    for milestone in (yield from active_milestones(user_id).walk(max_items=MAX_CHECKED)):
        yield from settle(milestone, now, trace)


def settle(milestone: Milestone | None, now: float, trace: Trace) -> Procedure[None]:
    """Award what one milestone has earned, and end it when its time is over."""
    if milestone is None:
        return
    known = [milestone]  # the first try needs no read

    def attempt() -> Procedure[None]:
        read = milestone_by_id(milestone.user_id, milestone.milestone_id).consistent()
        yield from _settle(known.pop() if known else (yield from read), now, trace)

    yield from retry_on_conflict(attempt, tries=MAX_TRIES, when=_another_was_first)


def _settle(milestone: Milestone | None, now: float, trace: Trace) -> Procedure[None]:
    while milestone is not None and milestone.status is MilestoneStatus.ACTIVE:
        (progress,) = yield from measure(milestone.user_id, [milestone], consistent=True)
        earned = parts_earned(progress.value, milestone.target, milestone.parts_total)
        if earned > milestone.parts_earned:
            yield from _award(milestone, earned, now, trace)
        elif is_over(milestone, now):
            yield from expire_milestone(milestone)
        else:
            return
        milestone = yield from milestone_by_id(milestone.user_id, milestone.milestone_id).consistent()


def _another_was_first(error: PartitaError) -> bool:
    """Whether the milestone has changed, ended or gone since it was read, or its parts were awarded."""
    return isinstance(error, ConditionFailed | TransactionCancelled)


def is_over(milestone: Milestone, now: float) -> bool:
    """Whether nothing can count any more."""
    # Subtracted from today: the last days that there are have no day so much later.
    return datetime.fromtimestamp(now, UTC).date() - GRACE > milestone.ends_on


def begin(milestone: Milestone, value: float, now: float) -> Milestone:
    """A new milestone as it is to be written: with the parts that earlier workouts have earned, and ended if it has."""
    earned = parts_earned(value, milestone.target, milestone.parts_total)
    changes: dict[str, Any] = {"parts_earned": earned}
    if earned == milestone.parts_total:
        changes |= {"status": MilestoneStatus.COMPLETED, "completed_at": datetime.fromtimestamp(now, UTC)}
    elif is_over(milestone, now):
        changes |= {"status": MilestoneStatus.EXPIRED}
    return milestone.model_copy(update=changes)


def audit_awards(milestone: Milestone, earlier: int, trace: Trace) -> Procedure[None]:
    """Write down which parts a milestone has earned after so many earlier ones, and that it is complete."""
    for part_index in range(earlier + 1, milestone.parts_earned + 1):
        event = PartAwarded(milestone_id=milestone.milestone_id, part_index=part_index)
        yield from AUDIT.append(event, user_id=milestone.user_id, trace=trace)
    if milestone.parts_earned == milestone.parts_total:
        done = MilestoneCompleted(milestone_id=milestone.milestone_id)
        yield from AUDIT.append(done, user_id=milestone.user_id, trace=trace)


def _award(milestone: Milestone, earned: int, now: float, trace: Trace) -> Procedure[None]:
    found = yield from collectible(milestone.model_id)
    if found is None:
        raise LookupError(f"There is no model {milestone.model_id}: run `partita seed`.")
    at = datetime.fromtimestamp(now, UTC)
    parts = found.parts[milestone.parts_earned : earned]
    yield from award_parts(_advance(milestone, earned, at), [award_of(milestone, part, at) for part in parts])
    after = milestone.model_copy(update={"parts_earned": earned})
    yield from audit_awards(after, milestone.parts_earned, trace)


def _advance(milestone: Milestone, earned: int, at: datetime) -> Update[Milestone]:
    """The milestone's own part of the transaction: with the last part it is complete."""
    earned_now = f(Milestone.parts_earned).set(earned)
    if earned < milestone.parts_total:
        return update(milestone, earned_now)
    return MilestoneLife.complete(milestone, earned_now, f(Milestone.completed_at).set(at))


def award_of(milestone: Milestone, part: Part, at: datetime) -> Award:
    """A part of the model as it is awarded."""
    return Award(
        user_id=milestone.user_id,
        milestone_id=milestone.milestone_id,
        part_index=part.part_index,
        model_id=part.model_id,
        part_name=part.name,
        part_svg=part.svg,
        awarded_at=at,
    )
