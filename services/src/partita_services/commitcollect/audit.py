"""The audit trail: what happened to whom, in which request. No tokens, and nothing about anybody's body."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar, Final

from pydantic import BaseModel

from partita import Condition, Index, Key, Query, Rcu, Table, f, pattern, query
from partita.recipes.audit import AuditEvent, AuditRecord, AuditTrail

AUDIT_TABLE: Final = Table("CommitCollectAudit", indexes=[Index("GSI1"), Index("GSI2")], ttl="ttl")

_SORT: Final = "AUDIT#{occurred_at:012}#{request_id}#{sequence:03}"


class AuditEntry(AuditRecord, table=AUDIT_TABLE):
    """Something that happened to a user."""

    primary: ClassVar = Key("USER#{user_id}", _SORT)
    by_correlation: ClassVar = Key("CORR#{correlation_id}", _SORT, index="GSI1")
    by_event: ClassVar = Key("EVENT#{event_type}#{month}", _SORT, index="GSI2")


class AuditRow(BaseModel):
    """A record in a list."""

    event_type: str
    occurred_at: int
    request_id: str
    sequence: int
    correlation_id: str
    details: dict[str, Any]


AUDIT: Final = AuditTrail(AuditEntry, retention=timedelta(days=90))


class LoggedIn(AuditEvent):
    """A browser was logged in."""

    is_new_user: bool


class LoggedOut(AuditEvent):
    """A browser was logged out."""


class LoggedOutEverywhere(AuditEvent):
    """All browsers of a user were logged out."""

    browsers: int


class AthleteLinked(AuditEvent):
    """A Strava account was connected."""

    athlete_id: str
    scopes: str


class DisconnectRequested(AuditEvent):
    """A user wants no connection to Strava any more."""

    athlete_id: str


class AthleteUnlinked(AuditEvent):
    """A Strava account was disconnected, and what came from it was removed."""

    athlete_id: str
    workouts: int


class ReconnectNeeded(AuditEvent):
    """Strava does not let us in any more."""

    athlete_id: str


class WorkoutIngested(AuditEvent):
    """An activity was read after a webhook event."""

    activity_id: str
    outcome: str


class BackfillFinished(AuditEvent):
    """Earlier activities were read."""

    found: int


class MilestoneEvent(AuditEvent):
    """Something of a milestone. Its title is the user's own words, so the model's name says which one it is."""

    milestone_id: str
    model: str


class MilestoneCreated(MilestoneEvent):
    """A user has committed to something."""


class MilestoneEdited(MilestoneEvent):
    """A user has changed a milestone."""

    changed: str
    """The names of what is different now."""


class MilestoneCancelled(MilestoneEvent):
    """A user has given a milestone up."""


class MilestoneExpired(MilestoneEvent):
    """A milestone was not reached in time."""


class PartAwarded(MilestoneEvent):
    """A part was earned."""

    part: str


class MilestoneCompleted(MilestoneEvent):
    """The last part was earned."""


class ModelLoaded(AuditEvent):
    """An operator has loaded a model."""

    model: str
    outcome: str


class ModelRetired(AuditEvent):
    """An operator has retired a model."""

    model: str


class DeletionRequested(AuditEvent):
    """A user wants to be forgotten."""


class AccountDeleted(AuditEvent):
    """Everything of a user is gone, except for this trail."""


@query(AuditEntry, AuditEntry.primary, view=AuditRow, newest_first=True, budget=Rcu(12.5))
def events_of_user(user_id: str) -> None:
    """What happened to a user, newest first."""


@query(AuditEntry, AuditEntry.by_correlation, view=AuditRow, newest_first=True, budget=Rcu(12.5))
def events_of_story(correlation_id: str) -> None:
    """All that belongs to one story, newest first."""


@query(AuditEntry, AuditEntry.by_event, view=AuditRow, newest_first=True, budget=Rcu(12.5))
def events_of_month(event_type: str, month: str) -> None:
    """What happened of one kind in one month, newest first."""


@pattern(budget=Rcu(125), via=(events_of_story, events_of_month))
def events_seen_by(user_id: str, events: Query[AuditRow]) -> Query[AuditRow]:
    """Those events that are the user's own; at most ten pages of 100 are inspected."""
    own: Condition = f(AuditEntry.user_id).eq(user_id)
    return events.where(own)
