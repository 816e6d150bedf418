"""The audit trail: which event happened to which user, in which request. It contains no tokens and no health data."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar, Final

from pydantic import BaseModel

from partita import Condition, Index, Key, Query, Rcu, Table, f, pattern, query
from partita.recipes.audit import AuditEvent, AuditRecord, AuditTrail

AUDIT_TABLE: Final = Table("CommitCollectAudit", indexes=[Index("GSI1"), Index("GSI2")], ttl="ttl")

_SORT: Final = "AUDIT#{occurred_at:012}#{request_id}#{sequence:03}"


class AuditEntry(AuditRecord, table=AUDIT_TABLE):
    """An event that concerns a user."""

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
    """A browser was signed in."""

    is_new_user: bool


class LoggedOut(AuditEvent):
    """A browser was signed out."""


class LoggedOutEverywhere(AuditEvent):
    """All browsers of a user were signed out."""

    browsers: int


class AthleteLinked(AuditEvent):
    """A Strava account was connected."""

    athlete_id: str
    scopes: str


class DisconnectRequested(AuditEvent):
    """A user has requested to disconnect Strava."""

    athlete_id: str


class AthleteUnlinked(AuditEvent):
    """A Strava account was disconnected, and the data that came from it was removed."""

    athlete_id: str
    workouts: int


class ReconnectNeeded(AuditEvent):
    """Strava refuses the tokens, so the user has to connect again."""

    athlete_id: str


class WorkoutIngested(AuditEvent):
    """An activity was read after a webhook event."""

    activity_id: str
    outcome: str


class BackfillFinished(AuditEvent):
    """Earlier activities were read."""

    found: int


class MilestoneEvent(AuditEvent):
    """An event of a milestone. The name of the model identifies it, because the title is text by the user."""

    milestone_id: str
    model: str


class MilestoneCreated(MilestoneEvent):
    """A user has created a milestone."""


class MilestoneEdited(MilestoneEvent):
    """A user has changed a milestone."""

    changed: str
    """The names of the changed fields."""


class MilestoneCancelled(MilestoneEvent):
    """A user has cancelled a milestone."""


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
    """A user has requested the deletion of the account."""


class AccountDeleted(AuditEvent):
    """All data of a user was deleted, except for this trail."""


@query(AuditEntry, AuditEntry.primary, view=AuditRow, newest_first=True, budget=Rcu(12.5))
def events_of_user(user_id: str) -> None:
    """The audit trail of a user, newest first."""


@query(AuditEntry, AuditEntry.by_correlation, view=AuditRow, newest_first=True, budget=Rcu(12.5))
def events_of_story(correlation_id: str) -> None:
    """The records with one correlation id, newest first."""


@query(AuditEntry, AuditEntry.by_event, view=AuditRow, newest_first=True, budget=Rcu(12.5))
def events_of_month(event_type: str, month: str) -> None:
    """The records of one type in one month, newest first."""


@pattern(budget=Rcu(125), via=(events_of_story, events_of_month))
def events_seen_by(user_id: str, events: Query[AuditRow]) -> Query[AuditRow]:
    """The records among these that belong to a user; at most ten pages of 100 are inspected."""
    own: Condition = f(AuditEntry.user_id).eq(user_id)
    return events.where(own)
