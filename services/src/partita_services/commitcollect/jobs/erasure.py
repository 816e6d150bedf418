"""Deleting an account. The order allows an interruption anywhere and a new run, until only the audit trail is left.

First the account is closed, which prevents new writes. Then the connection is deleted, without which workers cannot
write, then the data that they have written, and last the items that lead to the rest: the athlete and the profile.

So the job can run at the same time as any other job of the user. It does not wait for them, because they may wait for
Strava until the next day.
"""

from __future__ import annotations

from contextlib import suppress

from partita.errors import ConditionFailed, ItemMissing
from partita.recipes.audit import Trace
from partita.recipes.removal import remove_all
from partita_services.commitcollect.audit import AUDIT, AccountDeleted, DeletionRequested
from partita_services.commitcollect.jobs.announcing import forward_notices
from partita_services.commitcollect.jobs.disconnect import leave_strava
from partita_services.commitcollect.model import (
    awards_of,
    connection_of,
    milestones_of,
    profile_of,
    requests_of,
    workouts_of,
)
from partita_services.commitcollect.signin.sessions import SESSIONS
from partita_services.commitcollect.work import Application, Job, Work, send
from partita_services.commitcollect.writes import (
    close_account,
    delete_awards,
    delete_milestones,
    delete_requests,
    delete_workouts,
    forget_connection,
    forget_owner,
    forget_profile,
    forget_tickets,
)


class EraseJob(Job, frozen=True):
    """An account to delete."""

    kind = "erase"

    user_id: str


def request_deletion(user_id: str, trace: Trace) -> Work[int]:
    """Close an account, queue its deletion, and end all sessions; return how many sessions there were.

    The sessions end last, so until then the user can repeat the request.
    """
    try:
        yield from close_account(user_id)
    except ItemMissing:
        return (yield from SESSIONS.end_all(user_id))  # it is deleted already
    yield from AUDIT.append(DeletionRequested(), user_id=user_id, trace=trace)
    job = EraseJob(trace.request_id, trace.correlation_id, user_id)
    yield from send(job, f"erase-{user_id}", f"erase-{trace.request_id}")
    return (yield from SESSIONS.end_all(user_id))


def erase(app: Application, job: EraseJob) -> Work[None]:
    """Delete all data of a user whose account is closing."""
    user_id = job.user_id
    profile = yield from profile_of(user_id).consistent()
    if profile is None or not profile.closing:
        return
    yield from SESSIONS.end_all(user_id)
    connection = yield from connection_of(user_id).consistent()
    if connection is not None:
        yield from leave_strava(app, connection)
    yield from forget_connection(user_id)
    yield from remove_all(milestones_of(user_id), delete_milestones)
    yield from remove_all(awards_of(user_id), delete_awards)
    yield from forward_notices()  # removes the notices of the user from the table, too
    yield from remove_all(workouts_of(user_id), delete_workouts)
    yield from forget_tickets(user_id)
    yield from remove_all(requests_of(user_id), delete_requests)
    yield from AUDIT.append(AccountDeleted(), user_id=user_id, trace=job.trace)
    with suppress(ConditionFailed):  # an earlier run was interrupted here, and the athlete is back as a new user
        yield from forget_owner(profile.athlete_id, user_id)
    yield from forget_profile(user_id)
