"""CommitCollect as `partita serve` runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from partita.queue import Create, QueuePolicy
from partita.service import Installation, Projection, Service, WorkerContext
from partita_services.commitcollect.audit import AUDIT_TABLE
from partita_services.commitcollect.collectibles.model import collectible
from partita_services.commitcollect.model import (
    IDEMPOTENCY_TABLE,
    TABLE,
    active_milestones,
    awards_of,
    connection_of,
    milestone_by_id,
    milestones_of,
    owner_of,
    profile_of,
    requests_of,
    workouts_of,
    workouts_within,
)
from partita_services.commitcollect.personal import PERSONAL
from partita_services.commitcollect.samples.data import seed
from partita_services.commitcollect.samples.examples import examples
from partita_services.commitcollect.signin.limits import LIMITS
from partita_services.commitcollect.signin.sessions import SESSIONS_TABLE
from partita_services.commitcollect.strava.model import limit_of, save_limit, save_subscription, subscription_of
from partita_services.commitcollect.writes import (
    award_parts,
    change_connection,
    count_look,
    delete_awards,
    delete_milestones,
    delete_requests,
    delete_workouts,
    drop_connection,
    expire_milestone,
    forget_connection,
    forget_owner,
    forget_profile,
    forget_tickets,
    open_quarter,
    save_workout,
    save_workouts,
    take_ticket,
)

if TYPE_CHECKING:
    import click
    from fastapi import APIRouter
    from starlette.types import ASGIApp

    from partita.change import SqliteProjection
    from partita_services.commitcollect.work import Tools

QUEUE: Final = "commitcollect"
POLICY: Final = QueuePolicy(max_receives=50)
"""A job that fails is tried again for half a day, and then becomes a dead letter."""
NOTICE_QUEUE: Final = "commitcollect-notices"
NOTICE_POLICY: Final = QueuePolicy(max_receives=50)

# ruff: noqa: PLC0415 - the model can be used without the dependencies for HTTP, Strava and cryptography


def _router() -> APIRouter:
    from partita_services.commitcollect.http import ROUTER

    return ROUTER


@cache
def _site() -> APIRouter:
    from fastapi import APIRouter

    from partita_services.commitcollect.jobs.webhook import ROUTER as WEBHOOK
    from partita_services.commitcollect.signin.routes import ROUTER as SIGN_IN

    site = APIRouter()
    site.include_router(SIGN_IN)
    site.include_router(WEBHOOK)
    return site


def _command() -> click.Group:
    from partita_services.commitcollect.commands import commitcollect

    return commitcollect


def _apps(installation: Installation) -> Mapping[str, ASGIApp]:
    from partita_services.commitcollect.simulator.mounting import mounted

    return mounted(installation)


def _work(context: WorkerContext[Tools]) -> None:
    from partita_services.commitcollect.jobs.worker import run

    run(context)


def _projection(path: Path) -> SqliteProjection:
    from partita_services.commitcollect.live import UserChanges

    return UserChanges(path)


@contextmanager
def open_tools(installation: Installation) -> Iterator[Tools]:
    """Open the queues, the client of Strava, and the vault for tokens."""
    from partita_services.commitcollect.strava.settings import read
    from partita_services.commitcollect.strava.vault import Vault
    from partita_services.commitcollect.strava.when_asked import StravaWhenAsked
    from partita_services.commitcollect.work import Application, Tools, sender_of

    settings = read(installation)
    send = sender_of(settings)
    with (
        closing(installation.open_queue(QUEUE, POLICY)) as queue,
        closing(installation.open_queue(NOTICE_QUEUE, NOTICE_POLICY)) as notices,
        closing(StravaWhenAsked(settings)) as strava,
    ):
        queue.execute(Create())
        notices.execute(Create())
        yield Tools(Application(settings, Vault(settings.token_key)), strava, queue, notices, send)


_SHARED: Final = (
    active_milestones,
    awards_of,
    change_connection,
    collectible,
    connection_of,
    expire_milestone,
    limit_of,
    milestone_by_id,
    milestones_of,
    award_parts,
    owner_of,
    profile_of,
    subscription_of,
    workouts_of,
    workouts_within,
    "AuditEntry.append",
    "LoginSession.end_all",
    "Notice.forwarded",
    "Request.remember",
    "login_sessions_of_user",
    "notices_waiting",
    "request_by_key",
)
"""The patterns of both routes and workers: either may award and announce parts, end sessions, and store requests."""

_WORKERS: Final = (
    count_look,
    delete_awards,
    delete_milestones,
    delete_requests,
    delete_workouts,
    drop_connection,
    forget_connection,
    forget_owner,
    forget_profile,
    forget_tickets,
    open_quarter,
    requests_of,
    save_limit,
    save_subscription,
    save_workout,
    save_workouts,
    take_ticket,
)

SERVICE: Final = Service(
    name="commitcollect",
    title="CommitCollect",
    summary="Strava workouts earn the parts of collectible models.",
    tables=(TABLE, SESSIONS_TABLE, AUDIT_TABLE, IDEMPOTENCY_TABLE),
    router=_router,
    seed=seed,
    examples=examples,
    pages=Path(__file__).parent / "pages",
    projection=Projection(TABLE, _projection),
    command=_command,
    site=_site,
    resources=open_tools,
    apps=_apps,
    worker=_work,
    roles={"request": _SHARED, "worker": (*_SHARED, *_WORKERS), "nobody": ("LoginSession.rotate",)},
    queues={QUEUE: POLICY, NOTICE_QUEUE: NOTICE_POLICY},
    rate_limit=LIMITS,
    personal=PERSONAL,
    preload=(
        "partita_services.commitcollect.jobs.worker",
        "partita_services.commitcollect.live",
        "partita_services.commitcollect.simulator.mounting",
        "partita_services.commitcollect.strava.when_asked",
    ),
)
