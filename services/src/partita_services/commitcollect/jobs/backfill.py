"""Reading earlier activities page by page: each page is a separate job, and the connection stores the progress."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from partita import Procedure, Span, f
from partita.errors import ConditionFailed, TransactionCancelled
from partita.recipes.audit import Trace
from partita.recipes.idempotency import Plan
from partita.runtime import chunks
from partita_services.commitcollect.audit import AUDIT, BackfillFinished
from partita_services.commitcollect.jobs.ingest import ActivityJob, workout_of
from partita_services.commitcollect.milestones.awarding import award_earned
from partita_services.commitcollect.model import (
    MAX_WORKOUTS,
    PER_TRANSACTION,
    Backfill,
    Connection,
    ConnectionState,
    Workout,
    connection_of,
    workouts_within,
)
from partita_services.commitcollect.strava.interface import ListActivities
from partita_services.commitcollect.strava.tokens import ConnectionLost, call_as_user
from partita_services.commitcollect.work import Application, Job, Work, send
from partita_services.commitcollect.writes import change_connection, save_workouts, take_ticket

REACH: Final = timedelta(days=30)
PER_PAGE: Final = 100
MAX_PAGES: Final = MAX_WORKOUTS // PER_PAGE


class BackfillJob(Job, frozen=True):
    """A page of earlier activities to read."""

    kind = "backfill"

    user_id: str
    sync_id: str
    page: int


def start_backfill(
    app: Application, connection: Connection, trace: Trace, lost_at: datetime | None = None
) -> Work[Backfill]:
    """Start reading earlier activities, back to the loss of the connection if that is earlier; ends a current run.

    Raises:
        ConditionFailed: the user has connected again or disconnected.
    """
    now = datetime.fromtimestamp(app.clock(), UTC)
    since = min(now - REACH, lost_at or now).date()
    if connection.backfill is not None and not connection.backfill.finished:
        since = min(since, connection.backfill.since)
    backfill = Backfill(sync_id=app.new_id(), since=since, started_at=now, updated_at=now)
    yield from change_connection(connection, f(Connection.backfill).set(backfill))
    job = BackfillJob(trace.request_id, trace.correlation_id, connection.user_id, backfill.sync_id, page=1)
    yield from send(job, connection.user_id, f"{backfill.sync_id}-page-1")
    return backfill


def backfill_page(app: Application, job: BackfillJob) -> Work[None]:
    """Read one page, and queue the job for the next. This can be repeated."""
    connection = yield from connection_of(job.user_id).consistent()
    if connection is None or connection.backfill is None or connection.backfill.sync_id != job.sync_id:
        return
    if connection.state is ConnectionState.LEAVING:
        return
    ticket = (yield from take_ticket(job.user_id)).issued
    after = int(datetime.combine(connection.backfill.since, time.min, UTC).timestamp())
    try:
        activities = yield from call_as_user(
            app, connection, lambda token: ListActivities(token, after, job.page, PER_PAGE)
        )
    except ConnectionLost:
        return
    workouts = [workout for activity in activities if (workout := workout_of(connection, activity, ticket))]
    try:
        stored = yield from _store(workouts, connection)
        backfill = yield from _advance(app, connection, job.page, ticket, len(activities), stored)
    except ConditionFailed:
        return  # the user has connected again or disconnected
    yield from award_earned(job.user_id, app.clock(), job.trace)
    if len(activities) == PER_PAGE and job.page < MAX_PAGES:
        following = BackfillJob(job.request_id, job.correlation_id, job.user_id, job.sync_id, job.page + 1)
        yield from send(following, job.user_id, f"{job.sync_id}-page-{job.page + 1}")
    else:
        yield from _finish(connection, backfill, job)


def _store(workouts: Sequence[Workout], connection: Connection) -> Procedure[int]:
    """Store workouts in transactions; if a later read of one of them is stored, write the others one by one."""
    stored = 0
    for chunk in chunks(workouts, PER_TRANSACTION):
        try:
            yield from save_workouts(chunk, connection)
            stored += len(chunk)
        except TransactionCancelled:
            for workout in chunk:
                stored += yield from _store_one(workout, connection)
    return stored


def _store_one(workout: Workout, connection: Connection) -> Procedure[int]:
    try:
        return (yield from Plan(1, *save_workouts([workout], connection).actions).run())
    except ConditionFailed as failed:
        if isinstance(failed.current, Workout):
            return 0  # a later read was stored
        raise


def _advance(
    app: Application, connection: Connection, page: int, ticket: int, found: int, stored: int
) -> Procedure[Backfill]:
    """Track that a page was read, unless it is tracked already."""
    before = connection.backfill
    assert before is not None  # noqa: S101 - the caller has checked
    if before.pages >= page:
        return before
    now = datetime.fromtimestamp(app.clock(), UTC)
    changes = {"pages": page, "found": before.found + found, "stored": before.stored + stored, "updated_at": now}
    after = before.model_copy(update={**changes, "ticket": before.ticket or ticket})
    yield from change_connection(connection, f(Connection.backfill).set(after))
    return after


def _finish(connection: Connection, backfill: Backfill, job: BackfillJob) -> Work[None]:
    """Queue a read of each stored activity that no page contained, and mark the run as finished."""
    for activity_id in (yield from _unmet(connection.user_id, backfill)):
        again = ActivityJob(job.request_id, job.correlation_id, connection.user_id, activity_id)
        yield from send(again, connection.user_id, f"{job.sync_id}-activity-{activity_id}")
    done = backfill.model_copy(update={"finished": True})
    try:
        yield from change_connection(connection, f(Connection.backfill).set(done))
    except ConditionFailed:
        return
    event = BackfillFinished(found=backfill.found)
    yield from AUDIT.append(event, user_id=connection.user_id, trace=job.trace)


def _unmet(user_id: str, backfill: Backfill) -> Procedure[list[str]]:
    # One day later than requested: windows are in local time, and Strava need not list activities at the edge.
    edge = datetime.combine(_next_day(backfill.since), time.min, UTC)
    walked = yield from workouts_within(user_id, Span.since(edge)).consistent().walk(max_items=MAX_WORKOUTS)
    return [workout.activity_id for workout in walked if workout.ticket < backfill.ticket]


def _next_day(day: date) -> date:
    return day + timedelta(days=1)
