"""Awarding parts: each part is awarded once, by the first process that notices, and is never removed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from partita import Procedure, Update, f, retry_on_conflict, update
from partita.errors import ConditionFailed, PartitaError, TransactionCancelled
from partita.recipes.audit import Trace
from partita_services.commitcollect.audit import (
    AUDIT,
    MilestoneCompleted,
    MilestoneEvent,
    MilestoneExpired,
    PartAwarded,
)
from partita_services.commitcollect.collectibles.model import Part, collectible
from partita_services.commitcollect.milestones.notices import notices_of
from partita_services.commitcollect.milestones.progress import measure, parts_earned
from partita_services.commitcollect.model import (
    MAX_CHECKED,
    AnyMilestone,
    Award,
    Milestone,
    MilestoneLife,
    MilestoneStatus,
    Progress,
    active_milestones,
    milestone_by_id,
)
from partita_services.commitcollect.writes import award_parts, expire_milestone

GRACE: Final = timedelta(days=3)
"""How long a milestone waits for late uploads after its last day."""
MAX_TRIES: Final = 20


def award_earned(user_id: str, now: float, trace: Trace) -> Procedure[None]:
    """Award all parts that a user has earned and that are not awarded yet."""
    for milestone in (yield from active_milestones(user_id).walk(max_items=MAX_CHECKED)):
        yield from settle(milestone, now, trace)


def settle(milestone: Milestone | None, now: float, trace: Trace) -> Procedure[None]:
    """Award the parts that a milestone has earned, and end it if its time is over."""
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
            yield from _award(milestone, earned, progress, now, trace)
        elif is_over(milestone, now):
            yield from expire_milestone(milestone, progress)
            yield from audit(milestone, MilestoneExpired, trace)
        else:
            return
        milestone = yield from milestone_by_id(milestone.user_id, milestone.milestone_id).consistent()


def _another_was_first(error: PartitaError) -> bool:
    """Whether the milestone was changed, ended or deleted since it was read, or its parts were awarded."""
    return isinstance(error, ConditionFailed | TransactionCancelled)


def is_over(milestone: AnyMilestone, now: float) -> bool:
    """Whether the time of a milestone is over, so that nothing can count any more."""
    # Subtracted from today, because adding to the last possible days would overflow.
    return datetime.fromtimestamp(now, UTC).date() - GRACE > milestone.ends_on


def begin(milestone: Milestone, progress: Progress, now: float) -> Milestone:
    """Return a new milestone to write: with the parts that earlier workouts have earned, and ended if that is so."""
    earned = parts_earned(progress.value, milestone.target, milestone.parts_total)
    changes: dict[str, Any] = {"parts_earned": earned}
    if earned == milestone.parts_total:
        at = datetime.fromtimestamp(now, UTC)
        changes |= {"status": MilestoneStatus.COMPLETED, "completed_at": at, "reached": progress}
    elif is_over(milestone, now):
        changes |= {"status": MilestoneStatus.EXPIRED, "reached": progress}
    return milestone.model_copy(update=changes)


def audit(milestone: Milestone, kind: type[MilestoneEvent], trace: Trace, **details: str) -> Procedure[None]:
    """Append an event of a milestone to the audit trail."""
    # Milestones that were stored before they had the name of the model have only its id.
    event = kind(milestone_id=milestone.milestone_id, model=milestone.model_name or milestone.model_id, **details)
    yield from AUDIT.append(event, user_id=milestone.user_id, trace=trace)


def audit_awards(milestone: Milestone, awards: Sequence[Award], trace: Trace) -> Procedure[None]:
    """Append the awarded parts to the audit trail, and the completion of the milestone with the last part."""
    for award in awards:
        yield from audit(milestone, PartAwarded, trace, part=award.part_name)
    if awards and awards[-1].part_index == milestone.parts_total:
        yield from audit(milestone, MilestoneCompleted, trace)


def _award(milestone: Milestone, earned: int, progress: Progress, now: float, trace: Trace) -> Procedure[None]:
    found = yield from collectible(milestone.model_id)
    if found is None:
        raise LookupError(f"There is no model {milestone.model_id}: run `partita commitcollect models load`.")
    at = datetime.fromtimestamp(now, UTC)
    awards = [award_of(milestone, part, at) for part in found.parts[milestone.parts_earned : earned]]
    notices = notices_of(milestone, awards, now)
    yield from award_parts(_advance(milestone, earned, progress, at), awards, notices)
    yield from audit_awards(milestone, awards, trace)


def _advance(milestone: Milestone, earned: int, progress: Progress, at: datetime) -> Update[Milestone]:
    """The update of the milestone in the transaction; the last part completes it."""
    earned_now = f(Milestone.parts_earned).set(earned)
    if earned < milestone.parts_total:
        return update(milestone, earned_now)
    reached = f(Milestone.reached).set(progress)
    return MilestoneLife.complete(milestone, earned_now, f(Milestone.completed_at).set(at), reached)


def award_of(milestone: Milestone, part: Part, at: datetime) -> Award:
    """Return the award of a part of the model."""
    return Award(
        user_id=milestone.user_id,
        milestone_id=milestone.milestone_id,
        part_index=part.part_index,
        model_id=part.model_id,
        part_name=part.name,
        part_svg=part.svg,
        awarded_at=at,
    )
