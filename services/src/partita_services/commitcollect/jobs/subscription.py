"""The subscription to Strava's webhook: made by a worker when the first athlete has come, and remembered.

Strava notifies us of nothing that was before it. An athlete who withdraws between the login and the subscription would
be asked to connect again, and their workouts would stay. So Strava is asked about those who logged in before it.
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
"""By so much at most do the clocks of servers and workers."""


class SubscribeJob(Job, frozen=True):
    """Have Strava notify us of changes."""

    kind = "subscribe"

    user_id: str = ""
    """Who has logged in; empty where a worker started."""


def subscribe(app: Application, job: SubscribeJob) -> Work[None]:
    """Have one subscription. Strava calls our webhook before it responds."""
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
    """When a worker starts: the address may be another now. Before the first athlete came there is none to renew."""
    if (yield from subscription_of(app.settings.client_id)) is not None:
        yield from send(SubscribeJob(worker, worker), "application", f"subscribe-{worker}")


def _is_earlier(user_id: str, subscription: Subscription) -> Work[bool]:
    """Whether a user has connected before the subscription, so that a withdrawal may have gone unheard."""
    connection = yield from connection_of(user_id).consistent()
    if connection is None or subscription.made_at is None:
        return False
    return connection.connected_at <= subscription.made_at + CLOCKS_DIFFER
