"""Webhook events are hints: each makes a worker read the activity from Strava and store it, in any order of events.

A read takes a ticket first, and its result replaces only results with lower tickets. The last change at Strava is
followed by an event. The read for this event is later than the change and has a higher ticket than all earlier reads,
so its result stays.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

import msgspec

from partita.errors import ConditionFailed
from partita.recipes.audit import Trace
from partita.recipes.idempotency import Command, Plan, StoredResponse, fingerprint
from partita.recipes.removal import remove_all
from partita_services.commitcollect.audit import AUDIT, AthleteUnlinked, ReconnectNeeded, WorkoutIngested
from partita_services.commitcollect.jobs.looks import take_look
from partita_services.commitcollect.milestones.awarding import award_earned
from partita_services.commitcollect.model import (
    REQUESTS,
    Connection,
    ConnectionState,
    WhyNot,
    Workout,
    connection_of,
    owner_of,
    workouts_of,
)
from partita_services.commitcollect.strava.interface import Activity, Event, ReadActivity, ReadAthlete
from partita_services.commitcollect.strava.tokens import ConnectionLost, call_as_user
from partita_services.commitcollect.work import Application, Job, Work
from partita_services.commitcollect.writes import delete_workouts, drop_connection, save_workouts, take_ticket

SETTLED_SECONDS: Final = 5
"""An event is stored as processed only if Strava was read this long after it: another change within the same second, or
under differing clocks, could have an identical event."""
GONE_FOR: Final = timedelta(days=1)
"""How long a deleted activity is stored as deleted, so that a read that began earlier does not restore it."""


class EventJob(Job, frozen=True):
    """An event to process."""

    kind = "event"

    object_type: str
    object_id: int
    aspect_type: str
    owner_id: int
    subscription_id: int
    event_time: int
    updates: dict[str, Any]

    @property
    def event(self) -> Event:
        """The event as Strava sent it."""
        return msgspec.convert(msgspec.to_builtins(self), Event)


class ActivityJob(Job, frozen=True):
    """An activity to read again."""

    kind = "activity"

    user_id: str
    activity_id: str


class IngestOutcome(StrEnum):
    """The result of processing an event."""

    STORED = "stored"
    GONE = "gone"
    OUTDATED = "outdated"
    """A later read was stored, or the connection has changed."""
    REPEATED = "repeated"
    IGNORED = "ignored"
    NOT_CONNECTED = "not_connected"
    WITHDRAWN = "withdrawn"


def process_event(app: Application, job: EventJob) -> Work[IngestOutcome]:
    """Process an event."""
    event = job.event
    owner = yield from owner_of(str(event.owner_id)).consistent()
    if owner is None:
        return IngestOutcome.IGNORED
    if event.revokes:
        return (yield from withdraw(app, owner.user_id, job.trace))
    if event.object_type != "activity":
        return IngestOutcome.IGNORED
    command = Command(owner.user_id, event_key(event), "")
    if (yield from REQUESTS.record(command).consistent()) is not None:
        outcome = IngestOutcome.REPEATED
    else:
        is_settled = app.clock() >= event.event_time + SETTLED_SECONDS
        remember = command if is_settled else None
        outcome = yield from ingest(
            app, owner.user_id, str(event.object_id), job.trace, by_event=True, remember=remember
        )
    # Also for a repeated event: the worker that processed it first may have died before this.
    yield from award_earned(owner.user_id, app.clock(), job.trace)
    return outcome


def event_key(event: Event) -> str:
    """Return a key that identifies an event, because events have no id."""
    updates = msgspec.json.encode(event.updates, order="deterministic")
    head = (event.subscription_id, event.object_type, event.object_id, event.aspect_type, event.event_time)
    return fingerprint(*(str(part) for part in head), updates)


def ingest(
    app: Application,
    user_id: str,
    activity_id: str,
    trace: Trace,
    *,
    by_event: bool = False,
    remember: Command | None = None,
) -> Work[IngestOutcome]:
    """Read an activity from Strava and store it, together with the record of the event in `remember`.

    Raises:
        TryLater: the events of this athlete have led to the maximum number of reads.
    """
    connection = yield from connection_of(user_id).consistent()
    if connection is None or connection.state is not ConnectionState.CONNECTED:
        return IngestOutcome.NOT_CONNECTED
    ticket = (yield from take_look(app, user_id)) if by_event else (yield from take_ticket(user_id)).issued
    try:
        activity = yield from call_as_user(app, connection, lambda token: ReadActivity(token, activity_id))
    except ConnectionLost:
        yield from _audit_loss(connection, trace)
        return IngestOutcome.NOT_CONNECTED
    workout = workout_of(connection, activity, ticket) if activity else None
    outcome = IngestOutcome.STORED if workout else IngestOutcome.GONE
    found = workout or gone(user_id, activity_id, ticket, app.clock())
    plan = Plan(None, save_workouts([found], connection))
    try:
        yield from plan.run() if remember is None else REQUESTS.run(remember, plan, lambda _: StoredResponse())
    except ConditionFailed:
        outcome = IngestOutcome.OUTDATED
    event = WorkoutIngested(activity_id=activity_id, outcome=outcome)
    yield from AUDIT.append(event, user_id=user_id, trace=trace)
    return outcome


def read_again(app: Application, job: ActivityJob) -> Work[IngestOutcome]:
    """Read an activity that a backfill did not find."""
    outcome = yield from ingest(app, job.user_id, job.activity_id, job.trace)
    yield from award_earned(job.user_id, app.clock(), job.trace)
    return outcome


def withdraw(app: Application, user_id: str, trace: Trace) -> Work[IngestOutcome]:
    """Remove the connection and all data from Strava, if Strava refuses the tokens."""
    connection = yield from connection_of(user_id).consistent()
    if connection is not None:
        if connection.state is ConnectionState.CONNECTED:
            yield from take_look(app, user_id)
        try:
            yield from call_as_user(app, connection, ReadAthlete)
        except ConnectionLost:
            pass
        else:
            return IngestOutcome.IGNORED
        try:
            yield from drop_connection(connection)
        except ConditionFailed:
            return IngestOutcome.IGNORED  # the user has connected again
    removed = yield from remove_all(workouts_of(user_id), delete_workouts)
    if connection is not None:
        event = AthleteUnlinked(athlete_id=connection.athlete_id, workouts=removed)
        yield from AUDIT.append(event, user_id=user_id, trace=trace)
    return IngestOutcome.WITHDRAWN


def workout_of(connection: Connection, activity: Activity, ticket: int) -> Workout | None:
    """Return the workout to store for an activity; None if it is private or belongs to another athlete."""
    if activity.is_private or str(activity.athlete.id) != connection.athlete_id:
        return None
    return Workout(
        user_id=connection.user_id,
        activity_id=str(activity.id),
        ticket=ticket,
        name=activity.name,
        sport_type=activity.sport_type,
        started_at=activity.start_date,
        started_local=activity.start_date_local,
        distance=activity.distance,
        moving_time=activity.moving_time,
        elevation_gain=activity.total_elevation_gain,
        why_not=WhyNot.MANUAL if activity.manual else WhyNot.FLAGGED if activity.flagged else None,
    )


def gone(user_id: str, activity_id: str, ticket: int, now: float) -> Workout:
    """Return the workout to store for a deleted activity, which expires."""
    return Workout(user_id=user_id, activity_id=activity_id, ticket=ticket, ttl=int(now + GONE_FOR.total_seconds()))


def _audit_loss(connection: Connection, trace: Trace) -> Work[None]:
    event = ReconnectNeeded(athlete_id=connection.athlete_id)
    yield from AUDIT.append(event, user_id=connection.user_id, trace=trace)
