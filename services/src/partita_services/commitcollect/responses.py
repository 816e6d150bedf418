"""The bodies of the API's responses."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from partita_services.commitcollect.audit import AuditRow
from partita_services.commitcollect.collectibles.loading import LoadOutcome
from partita_services.commitcollect.collectibles.model import Collectible
from partita_services.commitcollect.handlers import Account, Creation, Standing
from partita_services.commitcollect.model import (
    AwardRow,
    Backfill,
    Connection,
    ConnectionState,
    Metric,
    MilestoneStatus,
    Progress,
    WhyNot,
    WorkoutRow,
)


class BackfillView(BaseModel):
    """The progress of reading earlier activities."""

    state: Literal["running", "done"]
    since: date
    pages: int
    found: int
    stored: int
    started_at: datetime
    updated_at: datetime
    waiting_until: datetime | None = Field(description="until when Strava's rate limit pauses reading")

    @classmethod
    def of(cls, backfill: Backfill, waiting_until: datetime | None = None) -> BackfillView:
        """Return the view of a backfill."""
        state: Literal["running", "done"] = "done" if backfill.finished else "running"
        waiting = None if backfill.finished else waiting_until
        fields = backfill.model_dump(exclude={"sync_id", "ticket", "finished"})
        return cls(state=state, waiting_until=waiting, **fields)


class ConnectionView(BaseModel):
    """A user's Strava account."""

    athlete_id: str
    athlete_name: str
    state: ConnectionState
    scopes: tuple[str, ...]
    connected_at: datetime
    backfill: BackfillView | None

    @classmethod
    def of(cls, connection: Connection, waiting_until: datetime | None) -> ConnectionView:
        """Return the view of a connection, without its tokens."""
        backfill = BackfillView.of(connection.backfill, waiting_until) if connection.backfill else None
        fields = connection.model_dump(include={"athlete_id", "athlete_name", "state", "scopes", "connected_at"})
        return cls(**fields, backfill=backfill)


class AccountView(BaseModel):
    """The user, and the connection to Strava."""

    user_id: str
    name: str
    created_at: datetime
    strava_url: str | None = Field(description="null if no Strava is set up")
    connection: ConnectionView | None

    @classmethod
    def of(cls, account: Account, strava_url: str | None) -> AccountView:
        """Return the view of an account."""
        profile, connection, waiting_until = account
        return cls(
            user_id=profile.user_id,
            name=profile.name,
            created_at=profile.created_at,
            strava_url=strava_url,
            connection=ConnectionView.of(connection, waiting_until) if connection else None,
        )


class Deletion(BaseModel):
    """The response to the deletion of an account."""

    status: Literal["deleting"] = "deleting"


class MilestoneView(BaseModel):
    """A milestone and its progress."""

    milestone_id: str = Field(examples=["01K9ZQ3V7M2Y8R4C6T1XWNB5HD"])
    title: str
    model_id: str
    model_name: str
    metric: Metric
    target: int
    sport_types: tuple[str, ...]
    starts_on: date
    ends_on: date
    status: MilestoneStatus
    version: int
    parts_total: int
    parts_earned: int
    progress: Progress
    created_at: datetime
    completed_at: datetime | None

    @classmethod
    def of(cls, standing: Standing | Creation) -> MilestoneView:
        """Return the view of a milestone."""
        fields = standing.milestone.model_dump(exclude={"user_id", "reached", "model_name"})
        name = standing.milestone.model_name or standing.milestone.model_id
        return cls(**fields, model_name=name, progress=standing.progress)


class WorkoutView(BaseModel):
    """A workout, and the reason if it does not count."""

    activity_id: str
    name: str
    sport_type: str
    started_at: datetime
    started_local: datetime
    distance: float
    moving_time: int
    elevation_gain: float
    counts: bool
    why_not: WhyNot | None

    @classmethod
    def of(cls, workout: WorkoutRow) -> WorkoutView:
        """Return the view of a workout."""
        return cls(**workout.model_dump(), counts=workout.why_not is None)


class AwardView(BaseModel):
    """An earned part."""

    milestone_id: str
    model_id: str
    part_index: int
    part_name: str
    part_svg: str
    awarded_at: datetime

    @classmethod
    def of(cls, award: AwardRow) -> AwardView:
        """Return the view of an award."""
        return cls(**award.model_dump())


class PartView(BaseModel):
    """A part of a model."""

    part_index: int
    name: str
    svg: str


class ModelView(BaseModel):
    """A model that can be collected."""

    model_id: str
    name: str
    story: str
    parts: tuple[PartView, ...]
    retired_at: datetime | None = Field(description="since when no new milestone can use the model")

    @classmethod
    def of(cls, collectible: Collectible) -> ModelView:
        """Return the view of a model with all its parts."""
        parts = tuple(PartView(**part.model_dump(exclude={"model_id"})) for part in collectible.parts)
        return cls(**collectible.model.model_dump(exclude={"parts_total"}), parts=parts)


class Loaded(BaseModel):
    """The result of loading a model."""

    outcome: LoadOutcome


class Retired(BaseModel):
    """A model that no new milestone can use."""

    model_id: str
    retired_at: datetime | None


class Disconnecting(BaseModel):
    """The response to disconnecting."""

    status: Literal["disconnecting"] = "disconnecting"


class Models(BaseModel):
    """All models."""

    items: tuple[ModelView, ...]


class EventView(BaseModel):
    """A record of the audit trail."""

    event_type: str
    occurred_at: int
    request_id: str
    sequence: int = Field(
        description="the number of the record within its request and second; the three together are unique"
    )
    correlation_id: str
    details: dict[str, Any]

    @classmethod
    def of(cls, entry: AuditRow) -> EventView:
        """Return the view of a record."""
        return cls(**entry.model_dump())
