"""The subscription to Strava's webhook: a worker creates it after the first sign-in, and stores it.

Strava does not report anything that happened before the subscription. If an athlete withdrew the authorization between
the sign-in and the subscription, the user would be asked to connect again, and the workouts would stay. So once the
subscription exists, the worker checks with Strava about users who signed in before it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from partita_services.commitcollect.jobs.ingest import withdraw
from partita_services.commitcollect.model import connection_of
from partita_services.commitcollect.strava.interface import Subscribe
from partita_services.commitcollect.strava.model import Subscription, save_subscription, subscription_of
from partita_services.commitcollect.strava.tokens import call_strava
from partita_services.commitcollect.work import Application, Job, Work, send

CLOCKS_DIFFER: Final = timedelta(minutes=1)
"""The maximum difference between the clocks of servers and workers."""


class SubscribeJob(Job, frozen=True):
    """The job that subscribes to events of Strava."""

    kind = "subscribe"

    user_id: str = ""
    """The user who has signed in; empty if a worker has started."""


def subscribe(app: Application, job: SubscribeJob) -> Work[None]:
    """Ensure that there is one subscription. Strava calls the webhook before it responds."""
    client_id = app.settings.client_id
    subscription_id = yield from call_strava(app, Subscribe(app.settings.webhook_url))
    known = yield from subscription_of(client_id)
    if known is None or known.subscription_id != subscription_id:
        now = datetime.fromtimestamp(app.clock(), UTC)
        known = Subscription(client_id=client_id, subscription_id=subscription_id, made_at=now)
        yield from save_subscription(known)
    if job.user_id and (yield from _is_earlier(job.user_id, known)):
        yield from withdraw(app, job.user_id, job.trace)


def renew_subscription(app: Application, worker: str) -> Work[None]:
    """Queue the renewal of an existing subscription when a worker starts, because the address may have changed."""
    if (yield from subscription_of(app.settings.client_id)) is not None:
        yield from send(SubscribeJob(worker, worker), "application", f"subscribe-{worker}")


def _is_earlier(user_id: str, subscription: Subscription) -> Work[bool]:
    """Whether a user has connected before the subscription, so that a withdrawal may have been missed."""
    connection = yield from connection_of(user_id).consistent()
    if connection is None or subscription.made_at is None:
        return False
    return connection.connected_at <= subscription.made_at + CLOCKS_DIFFER
