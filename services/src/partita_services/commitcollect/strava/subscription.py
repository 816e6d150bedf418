"""The subscription to Strava's webhook: made by a worker when the first athlete has come, and remembered."""

from __future__ import annotations

from partita_services.commitcollect.model import Subscription, subscription_of
from partita_services.commitcollect.strava.interface import Subscribe
from partita_services.commitcollect.strava.tokens import call_strava
from partita_services.commitcollect.work import Application, Job, Work, send
from partita_services.commitcollect.writes import save_subscription


class SubscribeJob(Job, frozen=True):
    """Have Strava notify us of changes."""

    kind = "subscribe"


def subscribe(app: Application, job: SubscribeJob) -> Work[None]:  # noqa: ARG001 - as all jobs
    """Have one subscription. Strava calls our webhook before it responds."""
    client_id = app.settings.client_id
    subscription_id = yield from call_strava(app, Subscribe(app.settings.webhook_url))
    known = yield from subscription_of(client_id)
    if known is None or known.subscription_id != subscription_id:
        yield from save_subscription(Subscription(client_id=client_id, subscription_id=subscription_id))


def renew_subscription(app: Application, worker: str) -> Work[None]:
    """When a worker starts: the address may be another now. Before the first athlete came there is none to renew."""
    if (yield from subscription_of(app.settings.client_id)) is not None:
        yield from send(SubscribeJob(worker, worker), "application", f"subscribe-{worker}")
