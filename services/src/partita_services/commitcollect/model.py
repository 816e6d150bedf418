"""The data model of CommitCollect: a user's items are in the user's partition, and every item is found by its key.

Budgets are for items of up to 1 KB and pages of 100 items; `writes.py` contains the writes.
"""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Final, TypeAlias

from pydantic import BaseModel, Field, StringConstraints

from partita import (
    Entity,
    Index,
    Key,
    LocalIndex,
    Query,
    Rcu,
    Span,
    Table,
    Version,
    f,
    get,
    new_ulid,
    pattern,
    query,
)
from partita.recipes.idempotency import Idempotency, IdempotencyRecord
from partita.recipes.lifecycle import Lifecycle, Transition

TABLE: Final = Table("CommitCollect", indexes=[LocalIndex("LSI1")], ttl="ttl", stream="KEYS_ONLY")
IDEMPOTENCY_TABLE: Final = Table(
    "CommitCollectIdempotency", hash="IdempotencyKey", range=None, indexes=[Index("GSI1")], ttl="ttl"
)

MAX_WORKOUTS: Final = 3_000
"""How many workouts are inspected for one response; if there are more, the progress is marked as truncated."""
MAX_ACTIVE: Final = 100
"""How many milestones of a user may be active at once."""
MAX_CHECKED: Final = 1_000
"""How many active milestones are checked for parts: more than may be created now, because users may have older ones."""
PER_TRANSACTION: Final = 24
"""How many workouts are stored in one transaction, in addition to the check of their connection."""

Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), Field(examples=["100 km in May"])
]
SportType = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{1,40}$"), Field(examples=["Run"])]


class Metric(StrEnum):
    """The quantity that counts towards a milestone: metres, seconds, metres of ascent, or the number of workouts."""

    DISTANCE = "distance"
    MOVING_TIME = "moving_time"
    ELEVATION = "elevation"
    COUNT = "count"


class MilestoneStatus(StrEnum):
    """The status of a milestone."""

    ACTIVE = "ACTIVE"
    COMPLETED = "COMPLETED"
    EXPIRED = "EXPIRED"
    CANCELLED = "CANCELLED"


class ConnectionState(StrEnum):
    """Whether the connection works, the user has to connect again, or the user wants to disconnect."""

    CONNECTED = "connected"
    RECONNECT = "reconnect"
    LEAVING = "leaving"


class WhyNot(StrEnum):
    """Why a workout does not count."""

    MANUAL = "manual"
    FLAGGED = "flagged"


class Backfill(BaseModel):
    """The progress of reading earlier activities."""

    sync_id: str
    """The id of this run."""
    since: date
    ticket: int = 0
    """The first ticket of this run. Workouts with a lower ticket were not found by it."""
    pages: int = 0
    found: int = 0
    stored: int = 0
    started_at: datetime
    updated_at: datetime
    finished: bool = False


class Profile(Entity, table=TABLE):
    """A user."""

    primary: ClassVar = Key("USER#{user_id}", "PROFILE")

    user_id: str
    athlete_id: str
    """The Strava athlete who signs in as this user."""
    name: str
    created_at: datetime
    closing: bool = False
    """Whether the account is being deleted; if so, nothing new is written for it."""
    commitments: int = 0
    """How many milestones were created so far. A new milestone is written only if this has not changed since the active
    milestones were counted, so concurrent requests never exceed the limit."""


class Connection(Entity, table=TABLE):
    """A user's Strava account, with its tokens, which only this installation can decrypt."""

    primary: ClassVar = Key("USER#{user_id}", "STRAVA#CONNECTION")
    in_lake: ClassVar = False

    user_id: str
    athlete_id: str
    athlete_name: str
    link_id: str
    """A new id each time the user connects; writes that began under an earlier link fail."""
    scopes: tuple[str, ...]
    sealed: bytes
    """Access and refresh token, encrypted."""
    expires_at: int
    generation: int = 1
    """The number of the pair of tokens, which each refresh increases by one."""
    refreshing_until: int | None = None
    """Until when one worker alone may refresh the tokens, in milliseconds since the epoch."""
    state: ConnectionState = ConnectionState.CONNECTED
    connected_at: datetime
    lost_at: datetime | None = None
    """Since when Strava refuses the tokens."""
    backfill: Backfill | None = None


class Workout(Entity, table=TABLE):
    """A Strava activity as it was last read. A deleted activity has no start, is in no index, and expires."""

    primary: ClassVar = Key("USER#{user_id}", "WORKOUT#STRAVA#{activity_id}")
    by_start: ClassVar = Key("USER#{user_id}", "WORKOUT#{started_local}#{activity_id}", index="LSI1")

    user_id: str
    activity_id: str
    ticket: int
    """The ticket of the read that it comes from."""
    name: str = ""
    sport_type: str = ""
    started_at: datetime | None = None
    started_local: datetime | None = None
    """The local time of the athlete, which determines the day of the workout."""
    distance: float = 0
    moving_time: int = 0
    elevation_gain: float = 0
    why_not: WhyNot | None = None
    ttl: int | None = None


class WorkoutRow(BaseModel):
    """A workout in a list."""

    activity_id: str
    name: str
    sport_type: str
    started_at: datetime
    started_local: datetime
    distance: float
    moving_time: int
    elevation_gain: float
    why_not: WhyNot | None = None


class CountedWorkout(BaseModel):
    """The fields of a workout that progress is computed from."""

    activity_id: str
    ticket: int
    sport_type: str
    started_local: datetime
    distance: float
    moving_time: int
    elevation_gain: float
    why_not: WhyNot | None = None


class Progress(BaseModel):
    """The progress of a milestone."""

    value: float = Field(description="in the unit of the metric", examples=[61_250.5])
    fraction: float = Field(description="of the target, from 0 to 1", examples=[0.6125])
    counted: int = Field(description="number of workouts that count", examples=[9])
    inspected: int = Field(description="number of workouts in the window that were inspected", examples=[12])
    truncated: bool = Field(
        description=f"whether there are more than the {MAX_WORKOUTS:,} inspected workouts: the value is a lower bound",
        examples=[False],
    )
    not_counted: dict[str, int] = Field(
        description="workouts in the window that do not count: manual, flagged, other_sport", examples=[{"manual": 3}]
    )


class Milestone(Entity, table=TABLE):
    """A goal that a user has committed to, and the model that it earns."""

    primary: ClassVar = Key("USER#{user_id}", "MILESTONE#{milestone_id}")
    by_status: ClassVar = Key("USER#{user_id}", "MILESTONE#{status}#{milestone_id}", index="LSI1")

    user_id: str
    milestone_id: str = Field(default_factory=new_ulid)
    title: Title
    model_id: str
    model_name: str = ""
    """The name of the model when the user chose it."""
    metric: Metric
    target: int
    sport_types: tuple[SportType, ...] = ()
    """The sports that count; empty means all sports."""
    starts_on: date
    ends_on: date
    status: MilestoneStatus = MilestoneStatus.ACTIVE
    parts_total: int
    parts_earned: int = 0
    created_at: datetime
    completed_at: datetime | None = None
    reached: Progress | None = None
    """The progress when the milestone ended; later changes of workouts do not affect it."""
    version: Version = 0


class MilestoneRow(BaseModel):
    """A milestone in a list, without its keys."""

    milestone_id: str
    title: str
    model_id: str
    model_name: str = ""
    metric: Metric
    target: int
    sport_types: tuple[str, ...] = ()
    starts_on: date
    ends_on: date
    status: MilestoneStatus
    parts_total: int
    parts_earned: int = 0
    created_at: datetime
    completed_at: datetime | None = None
    reached: Progress | None = None
    version: int


AnyMilestone: TypeAlias = Milestone | MilestoneRow


class MilestoneLife(Lifecycle[Milestone, MilestoneStatus]):
    """The ways a milestone can end; the end is final."""

    state = f(Milestone.status)
    start = MilestoneStatus.ACTIVE
    forward_only = True

    complete = Transition(MilestoneStatus.ACTIVE, to=MilestoneStatus.COMPLETED)
    expire = Transition(MilestoneStatus.ACTIVE, to=MilestoneStatus.EXPIRED)
    cancel = Transition(MilestoneStatus.ACTIVE, to=MilestoneStatus.CANCELLED)


class Award(Entity, table=TABLE):
    """An earned part, with the names that the model had at that time. It is never removed."""

    primary: ClassVar = Key("USER#{user_id}", "MILESTONE#{milestone_id}#AWARD#{part_index:03}")

    user_id: str
    milestone_id: str
    part_index: int
    model_id: str
    part_name: str
    part_svg: str
    awarded_at: datetime


class AwardRow(BaseModel):
    """An award in a list."""

    milestone_id: str
    part_index: int
    model_id: str
    part_name: str
    part_svg: str
    awarded_at: datetime


class AthleteOwner(Entity, table=TABLE):
    """The user to whom a Strava athlete belongs: one user at a time."""

    primary: ClassVar = Key("STRAVA#ATHLETE#{athlete_id}", "OWNER")

    athlete_id: str
    user_id: str


class Request(IdempotencyRecord, table=IDEMPOTENCY_TABLE):
    """A processed request or webhook event."""

    primary: ClassVar = Key("{scope}#{key}")
    by_scope: ClassVar = Key("{scope}", "{key}", index="GSI1")


REQUESTS: Final = Idempotency(Request, budget=Rcu(2))


# --- reads ---


@get(Profile, budget=Rcu(1))
def profile_of(user_id: str) -> None:
    """A user."""


@get(Connection, budget=Rcu(1))
def connection_of(user_id: str) -> None:
    """A user's Strava account."""


@get(AthleteOwner, budget=Rcu(1))
def owner_of(athlete_id: str) -> None:
    """The user to whom an athlete belongs."""


@query(Workout, Workout.primary, budget=Rcu(4))
def workouts_of(user_id: str) -> None:
    """A user's workouts, including deleted ones; used to remove them by their keys."""


@query(Workout, Workout.by_start, view=WorkoutRow, newest_first=True, budget=Rcu(12.5))
def latest_workouts(user_id: str) -> None:
    """A user's workouts, newest first."""


@query(Workout, Workout.by_start, view=CountedWorkout, newest_first=True, budget=Rcu(250))
def workouts_within(user_id: str, started_local: Span[datetime]) -> None:
    """The fields for progress of a user's workouts in a window: up to 3,000 of 300 bytes, read consistently."""


@get(Milestone, budget=Rcu(1))
def milestone_by_id(user_id: str, milestone_id: str) -> None:
    """One milestone."""


@query(Milestone, Milestone.by_status, view=MilestoneRow, budget=Rcu(12.5))
def milestones_of(user_id: str) -> None:
    """A user's milestones, active ones first."""


@query(Milestone, Milestone.by_status, budget=Rcu(25))
def milestones_with_status(user_id: str, status: MilestoneStatus) -> None:
    """A user's milestones in one status, complete so that they can be changed."""


@query(Award, Award.primary, view=AwardRow, budget=Rcu(25))
def awards_of(user_id: str) -> None:
    """All parts that a user has earned, milestone by milestone."""


@query(Award, Award.primary, view=AwardRow, budget=Rcu(5))
def awards_for(user_id: str, milestone_id: str) -> None:
    """The parts that a milestone has earned, in order."""


@query(Request, Request.by_scope, budget=Rcu(4))
def requests_of(scope: str) -> None:
    """The stored requests and events of a user; used to remove them by their keys."""


@pattern(budget=Rcu(25), via=milestones_with_status)
def active_milestones(user_id: str) -> Query[Milestone]:
    """A user's active milestones, read consistently."""
    return milestones_with_status(user_id, MilestoneStatus.ACTIVE).consistent().page(MAX_ACTIVE)
