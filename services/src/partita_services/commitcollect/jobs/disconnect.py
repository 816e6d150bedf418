"""Disconnecting: Strava is not read any more, and the user keeps the earned parts.

The request marks the connection, so that nothing new uses it. A job then revokes the grant at Strava, deletes the
tokens, and removes the data that came from Strava. A user who connects again before that gets a new connection, which
stays.
"""

from __future__ import annotations

from partita import f
from partita.errors import ConditionFailed
from partita.recipes.audit import Trace
from partita.recipes.removal import remove_all
from partita_services.commitcollect.audit import AUDIT, AthleteUnlinked, DisconnectRequested
from partita_services.commitcollect.model import Connection, ConnectionState, connection_of, workouts_of
from partita_services.commitcollect.strava.interface import Deauthorize, LimitReached, StravaError
from partita_services.commitcollect.strava.tokens import ConnectionLost, call_as_user
from partita_services.commitcollect.work import Application, Job, TryLater, Work, send
from partita_services.commitcollect.writes import change_connection, delete_workouts, drop_connection


class DisconnectJob(Job, frozen=True):
    """A connection to end."""

    kind = "disconnect"

    user_id: str
    link_id: str


def request_disconnect(user_id: str, trace: Trace) -> Work[bool]:
    """Mark a user's connection and queue the job that ends it; return whether there was one. This can be repeated."""
    connection = yield from connection_of(user_id).consistent()
    if connection is None:
        return False
    try:
        yield from change_connection(connection, f(Connection.state).set(ConnectionState.LEAVING))
    except ConditionFailed:
        return False  # it has ended in the meantime, or the user has just connected again
    if connection.state is not ConnectionState.LEAVING:
        event = DisconnectRequested(athlete_id=connection.athlete_id)
        yield from AUDIT.append(event, user_id=user_id, trace=trace)
    # A separate queue group: the job needs none of Strava's limited reads, so it must not wait for jobs that do.
    job = DisconnectJob(trace.request_id, trace.correlation_id, user_id, connection.link_id)
    yield from send(job, f"disconnect-{user_id}", f"disconnect-{trace.request_id}")
    return True


def disconnect(app: Application, job: DisconnectJob) -> Work[None]:
    """End a connection, unless the user has connected again. After an interruption it can be run again."""
    connection = yield from connection_of(job.user_id).consistent()
    if connection is not None:
        if connection.link_id != job.link_id:
            return
        yield from leave_strava(app, connection)
        try:
            yield from drop_connection(connection)
        except ConditionFailed:
            return  # the user has connected again
    removed = yield from remove_all(workouts_of(job.user_id), delete_workouts)
    if connection is not None:
        event = AthleteUnlinked(athlete_id=connection.athlete_id, workouts=removed)
        yield from AUDIT.append(event, user_id=job.user_id, trace=job.trace)


def leave_strava(app: Application, connection: Connection) -> Work[None]:
    """Revoke the grant, if Strava can be reached; the caller deletes the tokens in any case."""
    try:
        yield from call_as_user(app, connection, Deauthorize)
    except (ConnectionLost, StravaError):
        return
    except TryLater as later:
        if not isinstance(later.__cause__, LimitReached):
            raise  # another worker refreshes the tokens, which takes only a moment
