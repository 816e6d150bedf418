"""The data model of CommitCollect: what a user owns is in the user's partition, and everything is found by key.

Budgets are for items of up to 1 KB, and pages of 100; `writes.py` has the writes.
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
"""How many workouts are inspected for one response; beyond that it says that it is truncated."""
MAX_ACTIVE: Final = 100
"""How many milestones of a user may be active at once."""
MAX_CHECKED: Final = 1_000
"""How many active milestones are checked for parts: more than may be created now, because users may have older ones."""
PER_TRANSACTION: Final = 24
"""How many workouts are stored at once, next to the check of their connection."""

Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), Field(examples=["100 km in May"])
]
SportType = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{1,40}$"), Field(examples=["Run"])]


class Metric(StrEnum):
    """What of a workout counts towards a milestone: metres, seconds, metres of ascent, or the workout itself."""

    DISTANCE = "distance"
    MOVING_TIME = "moving_time"
    ELEVATION = "elevation"
    COUNT = "count"


class MilestoneStatus(StrEnum):
    """Where a milestone stands."""

    ACTIVE = "ACTIVE"
    COMPLETED = "COMPLETED"
    EXPIRED = "EXPIRED"
    CANCELLED = "CANCELLED"


class ConnectionState(StrEnum):
    """Whether Strava still lets us in, or the user has to connect again, or wants to be disconnected."""

    CONNECTED = "connected"
    RECONNECT = "reconnect"
    LEAVING = "leaving"


class WhyNot(StrEnum):
    """Why a workout does not count."""

    MANUAL = "manual"
    FLAGGED = "flagged"


class Backfill(BaseModel):
    """How far reading earlier activities has come."""

    sync_id: str
    """Distinguishes one run from the next."""
    since: date
    ticket: int = 0
    """What was stored under a lower one was not met by this run."""
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
    """Who logs in as this user."""
    name: str
    created_at: datetime
    closing: bool = False
    """Whether the account is being deleted; then nothing new is written for it."""
    commitments: int = 0
    """How many milestones were created so far. Who creates one counts the active ones, and writes it only if this has
    not moved since: so two at once never exceed the limit."""


class Connection(Entity, table=TABLE):
    """A user's Strava account, with its tokens, which only this installation can read."""

    primary: ClassVar = Key("USER#{user_id}", "STRAVA#CONNECTION")
    in_lake: ClassVar = False

    user_id: str
    athlete_id: str
    athlete_name: str
    link_id: str
    """Another one each time the user connects: what began under an earlier link is not written any more."""
    scopes: tuple[str, ...]
    sealed: bytes
    """Access and refresh token, encrypted."""
    expires_at: int
    generation: int = 1
    """One more with every new pair of tokens."""
    refreshing_until: int | None = None
    """For so long, in milliseconds since the epoch, one worker alone may refresh the tokens."""
    state: ConnectionState = ConnectionState.CONNECTED
    connected_at: datetime
    lost_at: datetime | None = None
    """Since when Strava does not let us in."""
    backfill: Backfill | None = None


class Workout(Entity, table=TABLE):
    """A Strava activity as it was last read. One that is gone has no start, is on no index, and expires."""

    primary: ClassVar = Key("USER#{user_id}", "WORKOUT#STRAVA#{activity_id}")
    by_start: ClassVar = Key("USER#{user_id}", "WORKOUT#{started_local}#{activity_id}", index="LSI1")

    user_id: str
    activity_id: str
    ticket: int
    """Of the read that it comes from."""
    name: str = ""
    sport_type: str = ""
    started_at: datetime | None = None
    started_local: datetime | None = None
    """The clock on the wall where the athlete was: a day is the athlete's day."""
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
    """What progress needs of a workout."""

    activity_id: str
    ticket: int
    sport_type: str
    started_local: datetime
    distance: float
    moving_time: int
    elevation_gain: float
    why_not: WhyNot | None = None


class Progress(BaseModel):
    """How far a milestone has come."""

    value: float = Field(description="in the unit of the metric", examples=[61_250.5])
    fraction: float = Field(description="of the target, from 0 to 1", examples=[0.6125])
    counted: int = Field(description="workouts that count", examples=[9])
    inspected: int = Field(description="workouts of the window that were looked at", examples=[12])
    truncated: bool = Field(
        description=f"there are more workouts than the {MAX_WORKOUTS:,} that are looked at: the value is at least this",
        examples=[False],
    )
    not_counted: dict[str, int] = Field(
        description="workouts of the window that do not count: manual, flagged, other_sport", examples=[{"manual": 3}]
    )


class Milestone(Entity, table=TABLE):
    """What a user has committed to, and the model that it earns."""

    primary: ClassVar = Key("USER#{user_id}", "MILESTONE#{milestone_id}")
    by_status: ClassVar = Key("USER#{user_id}", "MILESTONE#{status}#{milestone_id}", index="LSI1")

    user_id: str
    milestone_id: str = Field(default_factory=new_ulid)
    title: Title
    model_id: str
    model_name: str = ""
    """As the model was called when the user chose it."""
    metric: Metric
    target: int
    sport_types: tuple[SportType, ...] = ()
    """Empty: all of them."""
    starts_on: date
    ends_on: date
    status: MilestoneStatus = MilestoneStatus.ACTIVE
    parts_total: int
    parts_earned: int = 0
    created_at: datetime
    completed_at: datetime | None = None
    reached: Progress | None = None
    """How far it had come when it ended: that stays, whatever becomes of the workouts."""
    version: Version = 0


class MilestoneRow(BaseModel):
    """A milestone in a list: all but its keys."""

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
    """How a milestone ends; it never comes back."""

    state = f(Milestone.status)
    start = MilestoneStatus.ACTIVE
    forward_only = True

    complete = Transition(MilestoneStatus.ACTIVE, to=MilestoneStatus.COMPLETED)
    expire = Transition(MilestoneStatus.ACTIVE, to=MilestoneStatus.EXPIRED)
    cancel = Transition(MilestoneStatus.ACTIVE, to=MilestoneStatus.CANCELLED)


class Award(Entity, table=TABLE):
    """A part that was earned, as the model described it then. It is never taken back."""

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
    """Whose account an athlete is: of one user at a time."""

    primary: ClassVar = Key("STRAVA#ATHLETE#{athlete_id}", "OWNER")

    athlete_id: str
    user_id: str


class Request(IdempotencyRecord, table=IDEMPOTENCY_TABLE):
    """A request or a webhook event that was dealt with."""

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
    """Whose account an athlete is."""


@query(Workout, Workout.primary, budget=Rcu(4))
def workouts_of(user_id: str) -> None:
    """A user's workouts, gone ones too: to remove them, by their keys alone."""


@query(Workout, Workout.by_start, view=WorkoutRow, newest_first=True, budget=Rcu(12.5))
def latest_workouts(user_id: str) -> None:
    """A user's workouts, newest first."""


@query(Workout, Workout.by_start, view=CountedWorkout, newest_first=True, budget=Rcu(250))
def workouts_within(user_id: str, started_local: Span[datetime]) -> None:
    """What progress needs of a user's workouts in a window: up to 3,000 of 300 bytes, read consistently."""


@get(Milestone, budget=Rcu(1))
def milestone_by_id(user_id: str, milestone_id: str) -> None:
    """One milestone."""


@query(Milestone, Milestone.by_status, view=MilestoneRow, budget=Rcu(12.5))
def milestones_of(user_id: str) -> None:
    """A user's milestones, the active ones first."""


@query(Milestone, Milestone.by_status, budget=Rcu(25))
def milestones_with_status(user_id: str, status: MilestoneStatus) -> None:
    """A user's milestones in one status, to change them."""


@query(Award, Award.primary, view=AwardRow, budget=Rcu(25))
def awards_of(user_id: str) -> None:
    """All parts that a user has earned, milestone by milestone."""


@query(Award, Award.primary, view=AwardRow, budget=Rcu(5))
def awards_for(user_id: str, milestone_id: str) -> None:
    """The parts that a milestone has earned, in order."""


@query(Request, Request.by_scope, budget=Rcu(4))
def requests_of(scope: str) -> None:
    """The requests and events of a user that are remembered: to remove them, by their keys alone."""


@pattern(budget=Rcu(25), via=milestones_with_status)
def active_milestones(user_id: str) -> Query[Milestone]:
    """A user's active milestones, read consistently."""
    return milestones_with_status(user_id, MilestoneStatus.ACTIVE).consistent().page(MAX_ACTIVE)
