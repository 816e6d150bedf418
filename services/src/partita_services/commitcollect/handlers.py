"""The operations of the CommitCollect API, as procedures and units of work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final, Literal, NamedTuple, Required

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from typing_extensions import TypedDict

from partita import Change, Page, Procedure, Query, f
from partita.errors import ConditionFailed, IllegalTransition, ItemMissing, PartitaError, VersionConflict
from partita.recipes.audit import Trace
from partita.recipes.idempotency import Plan
from partita.recipes.texts import VisibleText
from partita_services.commitcollect.audit import (
    AuditRow,
    MilestoneCancelled,
    MilestoneCreated,
    MilestoneEdited,
    MilestoneExpired,
    events_of_month,
    events_of_story,
    events_of_user,
    events_seen_by,
)
from partita_services.commitcollect.collectibles.definition import ModelId
from partita_services.commitcollect.collectibles.model import Collectible, collectible
from partita_services.commitcollect.jobs.backfill import start_backfill
from partita_services.commitcollect.milestones.awarding import audit, audit_awards, award_of, begin, is_over, settle
from partita_services.commitcollect.milestones.notices import notices_of
from partita_services.commitcollect.milestones.progress import measure
from partita_services.commitcollect.model import (
    MAX_ACTIVE,
    AnyMilestone,
    Award,
    AwardRow,
    Backfill,
    Connection,
    ConnectionState,
    Metric,
    Milestone,
    MilestoneStatus,
    Profile,
    Progress,
    SportType,
    Title,
    active_milestones,
    awards_for,
    awards_of,
    connection_of,
    milestone_by_id,
    milestones_of,
    profile_of,
)
from partita_services.commitcollect.strava.model import limit_of
from partita_services.commitcollect.work import Application, Work
from partita_services.commitcollect.writes import cancel_milestone, change_milestone, create_milestone

MAX_DAYS: Final = 366
LAST_DAY: Final = date(9998, 12, 31)
"""The latest end of a milestone: later days would leave no room for date arithmetic."""
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _written_as_a_day(value: object) -> object:
    # Pydantic would also accept a number, as a timestamp.
    if isinstance(value, date) or (isinstance(value, str) and _DAY.fullmatch(value)):
        return value
    raise ValueError("a day must be written as YYYY-MM-DD")


def _a_number(value: object) -> object:
    # Pydantic would also accept `true` and "5".
    if isinstance(value, bool | str):
        raise ValueError("must be a whole number")  # noqa: TRY004 - Pydantic expects ValueError
    return value


Day = Annotated[date, BeforeValidator(_written_as_a_day)]
WHOLE: Final = BeforeValidator(_a_number)
Target = Annotated[
    int,
    Field(ge=1, le=1_000_000_000, description="in metres, seconds or workouts", examples=[100_000]),
    WHOLE,
]
NewTitle = Annotated[Title, VisibleText()]
"""A title as a user writes it; one that was stored earlier may have other characters."""
SportTypes = Annotated[
    tuple[SportType, ...], Field(max_length=20, description="empty: all sports", examples=[["Run", "TrailRun"]])
]


class MilestoneDraft(BaseModel):
    """A milestone to create."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: NewTitle
    model_id: ModelId = Field(examples=["lighthouse"])
    metric: Metric
    target: Target
    sport_types: SportTypes = ()
    starts_on: Day = Field(examples=["2026-05-01"])
    ends_on: Day = Field(examples=["2026-05-31"], description="inclusive; at most a year after the first day")

    @field_validator("ends_on")
    @classmethod
    def _makes_a_window(cls, ends_on: date, info: ValidationInfo) -> date:
        if "starts_on" in info.data:  # otherwise the first day is invalid, which is reported
            _check_window(info.data["starts_on"], ends_on)
        return ends_on


class MilestoneEdit(TypedDict, total=False):
    """The fields of a milestone to change, and its version. Omitted fields stay."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # read by Pydantic, not a field

    version: Required[Annotated[int, Field(ge=1, description="the version that you have read", examples=[1]), WHOLE]]
    title: NewTitle
    target: Target
    sport_types: SportTypes
    ends_on: Annotated[Day, Field(examples=["2026-06-07"])]
    status: Literal["CANCELLED"]


class Standing(NamedTuple):
    """A milestone and its progress."""

    milestone: AnyMilestone
    progress: Progress


class Creation(NamedTuple):
    """A new milestone, its progress, and the parts that it has earned already."""

    milestone: Milestone
    progress: Progress
    awards: Sequence[Award]


class Account(NamedTuple):
    """A user, the connection to Strava, and until when Strava's rate limit applies."""

    profile: Profile
    connection: Connection | None
    waiting_until: datetime | None


class NotConnected(Exception):
    """The user has no working connection to Strava."""


class TooMany(Exception):
    """The user has the maximum number of active milestones."""


class ModelUnavailable(ValueError):
    """The model does not exist, or it is retired."""


class WindowInvalid(ValueError):
    """The last day is before the first, or too late."""


def show_account(user_id: str, client_id: str, now: float) -> Procedure[Account]:
    """Return the user and the connection to Strava.

    Raises:
        ItemMissing: the user does not exist any more.
    """
    profile = yield from profile_of(user_id)
    if profile is None:
        raise ItemMissing("There is no such account any more.")
    connection = yield from connection_of(user_id)
    limit = yield from limit_of(client_id)
    is_waiting = limit is not None and limit.open_at.timestamp() > now
    return Account(profile, connection, limit.open_at if limit and is_waiting else None)


def synchronise(app: Application, user_id: str, trace: Trace) -> Work[Backfill]:
    """Start reading the last weeks again.

    Raises:
        NotConnected: the user has no working connection to Strava.
    """
    connection = yield from connection_of(user_id).consistent()
    if connection is None or connection.state is not ConnectionState.CONNECTED:
        raise NotConnected("There is no working connection to Strava.")
    return (yield from start_backfill(app, connection, trace))


def add_milestone(user_id: str, draft: MilestoneDraft, now: float) -> Procedure[Plan[Creation]]:
    """Plan to create a milestone, with the parts that earlier workouts have earned.

    Raises:
        ItemMissing: the user does not exist any more.
        ModelUnavailable: the model does not exist, or it is retired.
        TooMany: the user has the maximum number of active milestones.
    """
    profile = yield from profile_of(user_id).consistent()
    if profile is None or profile.closing:
        raise ItemMissing("There is no such account any more.")
    if len((yield from active_milestones(user_id))) >= MAX_ACTIVE:
        raise TooMany(f"You have {MAX_ACTIVE} active milestones. Cancel one first.")
    found = yield from _collectible(draft.model_id)
    at = datetime.fromtimestamp(now, UTC)
    drafted = _drafted(user_id, draft, found, at)
    (progress,) = yield from measure(user_id, [drafted], consistent=True)
    milestone = begin(drafted, progress, now)
    awards = [award_of(milestone, part, at) for part in found.parts[: milestone.parts_earned]]
    created = Creation(milestone.model_copy(update={"version": 1}), progress, awards)
    return Plan(created, create_milestone(milestone, awards, profile, notices_of(milestone, awards, now)))


def is_outdated(error: PartitaError) -> bool:
    """Whether the user has created another milestone since `add_milestone` counted them, so it must plan again."""
    return isinstance(error, ConditionFailed) and isinstance(error.current, Profile)


def audit_creation(created: Creation, trace: Trace) -> Procedure[None]:
    """Record in the audit trail that a milestone was created, its parts, and its expiry if its time was over."""
    yield from audit(created.milestone, MilestoneCreated, trace)
    yield from audit_awards(created.milestone, created.awards, trace)
    if created.milestone.status is MilestoneStatus.EXPIRED:
        yield from audit(created.milestone, MilestoneExpired, trace)


def after_creation(user_id: str, milestone_id: str, now: float, trace: Trace) -> Procedure[None]:
    """Award parts for workouts that were stored while the milestone was written. This can be repeated."""
    milestone = yield from milestone_by_id(user_id, milestone_id).consistent()
    yield from settle(milestone, now, trace)


def show_milestone(user_id: str, milestone_id: str, now: float, trace: Trace) -> Procedure[Standing]:
    """Return a milestone and its progress. If its time is over and it is still active, this ends it.

    Raises:
        ItemMissing: the user has no such milestone.
    """
    milestone = yield from _milestone(user_id, milestone_id)
    if _is_overdue(milestone, now):
        yield from settle(milestone, now, trace)
        milestone = yield from _milestone(user_id, milestone_id)
    (progress,) = yield from measure(user_id, [milestone])
    return Standing(milestone, progress)


def list_milestones(user_id: str, limit: int, cursor: str | None, now: float, trace: Trace) -> Procedure[Page[Any]]:
    """Return a page of milestones with their progress, active ones first. This ends those whose time is over."""
    page = yield from milestones_of(user_id).page(limit, after=cursor)
    milestones: list[AnyMilestone] = []
    for row in page:
        overdue = _is_overdue(row, now)
        milestones += (
            [(yield from show_milestone(user_id, row.milestone_id, now, trace)).milestone] if overdue else [row]
        )
    progress = yield from measure(user_id, milestones)
    return Page(tuple(map(Standing, milestones, progress)), page.next_cursor)


def edit_milestone(
    user_id: str, milestone_id: str, edit: MilestoneEdit, now: float, trace: Trace
) -> Procedure[Standing]:
    """Change the given version of a milestone, and award the parts that it has earned by the change.

    Raises:
        ItemMissing: the user has no such milestone.
        VersionConflict: the milestone has another version.
        IllegalTransition: the milestone has ended.
        WindowInvalid: the last day would be before the first, or too late.
    """
    milestone = yield from _milestone(user_id, milestone_id)
    if milestone.version != edit["version"]:
        raise VersionConflict("The milestone has changed since you read it.", current=milestone)
    if milestone.status is not MilestoneStatus.ACTIVE or _is_overdue(milestone, now):
        raise IllegalTransition("The milestone has ended.", current=milestone)
    if "ends_on" in edit:
        _check_window(milestone.starts_on, edit["ends_on"])
    changed = yield from _write(milestone, edit, trace)
    yield from settle(changed, now, trace)
    return (yield from show_milestone(user_id, milestone_id, now, trace))


def list_awards(user_id: str, milestone_id: str | None) -> Query[AwardRow]:
    """The parts that a user has earned, of all milestones or of one."""
    return awards_of(user_id) if milestone_id is None else awards_for(user_id, milestone_id)


def list_events(
    user_id: str, correlation_id: str | None = None, event_type: str | None = None, month: str | None = None
) -> Query[AuditRow]:
    """The audit trail of a user: all records, those of one correlation id, or those of one type in one month."""
    if correlation_id is not None:
        return events_seen_by(user_id, events_of_story(correlation_id))
    if event_type is not None and month is not None:
        return events_seen_by(user_id, events_of_month(event_type, month))
    return events_of_user(user_id)


def _is_overdue(milestone: AnyMilestone, now: float) -> bool:
    """Whether the time of a milestone is over although it is still stored as active."""
    return milestone.status is MilestoneStatus.ACTIVE and is_over(milestone, now)


def _drafted(user_id: str, draft: MilestoneDraft, found: Collectible, at: datetime) -> Milestone:
    name, total = found.model.name, len(found.parts)
    return Milestone(user_id=user_id, model_name=name, parts_total=total, created_at=at, **draft.model_dump())


def _milestone(user_id: str, milestone_id: str) -> Procedure[Milestone]:
    milestone = yield from milestone_by_id(user_id, milestone_id).consistent()
    if milestone is None:
        raise ItemMissing("There is no such milestone.")
    return milestone


def _collectible(model_id: str) -> Procedure[Collectible]:
    found = yield from collectible(model_id)
    if found is None:
        raise ModelUnavailable(f"There is no model {model_id}.")
    if found.model.retired_at is not None:
        raise ModelUnavailable(f"The model {model_id} is retired.")
    return found


def _write(milestone: Milestone, edit: MilestoneEdit, trace: Trace) -> Procedure[Milestone]:
    changes = _changes(edit)
    changed = milestone
    if "status" in edit:
        (reached,) = yield from measure(milestone.user_id, [milestone], consistent=True)
        changed = yield from cancel_milestone(milestone, reached, *changes)
    elif changes:
        changed = yield from change_milestone(milestone, *changes)
    different = [name for name in _FIELDS if name in edit and edit[name] != getattr(milestone, name)]  # type: ignore[literal-required]
    if different:
        yield from audit(milestone, MilestoneEdited, trace, changed=", ".join(different))
    if "status" in edit:
        yield from audit(milestone, MilestoneCancelled, trace)
    return changed


def _changes(edit: MilestoneEdit) -> list[Change]:
    return [field.set(edit[name]) for name, field in _FIELDS.items() if name in edit]  # type: ignore[literal-required,attr-defined]


_FIELDS: Final = {
    "title": f(Milestone.title),
    "target": f(Milestone.target),
    "sport_types": f(Milestone.sport_types),
    "ends_on": f(Milestone.ends_on),
}
"""The fields of a milestone that a user can change."""


def _check_window(starts_on: date, ends_on: date) -> None:
    if not 0 <= (ends_on - starts_on).days < MAX_DAYS:
        raise WindowInvalid("The last day must not be before the first, nor more than a year after it.")
    if ends_on > LAST_DAY:
        raise WindowInvalid(f"The last day must be {LAST_DAY} or before.")
