"""CommitCollect as `partita serve` runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from partita.queue import Create, Policy
from partita.service import Place, Service, Work
from partita_services.commitcollect.model import IDEMPOTENCY_TABLE, TABLE
from partita_services.commitcollect.samples import seed
from partita_services.commitcollect.sessions import SESSIONS_TABLE
from partita_services.commitcollect.trail import AUDIT_TABLE

if TYPE_CHECKING:
    import click
    from fastapi import APIRouter
    from starlette.types import ASGIApp

    from partita_services.commitcollect.work import Tools

QUEUE: Final = "commitcollect"
POLICY: Final = Policy(max_receives=50)
"""A job that fails is tried for half a day before it becomes a dead letter."""

# ruff: noqa: PLC0415 - the model is of use without what HTTP, Strava and cryptography need


def _router() -> APIRouter:
    from partita_services.commitcollect.http import ROUTER

    return ROUTER


def _site() -> APIRouter:
    from partita_services.commitcollect.site import ROUTER

    return ROUTER


def _command() -> click.Group:
    from partita_services.commitcollect.commands import commitcollect

    return commitcollect


def _apps(place: Place) -> Mapping[str, ASGIApp]:
    from partita_services.commitcollect.simulator.app import mounted

    return mounted(place)


def _work(work: Work) -> None:
    from partita_services.commitcollect.worker import run

    run(work)


@contextmanager
def open_tools(place: Place) -> Iterator[Tools]:
    """The queue, the way to Strava, and the key to the tokens."""
    from partita_services.commitcollect.client import StravaClient
    from partita_services.commitcollect.settings import read
    from partita_services.commitcollect.vault import Vault
    from partita_services.commitcollect.work import Application, Tools

    settings = read(place)
    with closing(place.open_queue(QUEUE, POLICY)) as queue, closing(StravaClient(settings)) as strava:
        queue.execute(Create())
        yield Tools(Application(settings, Vault(settings.token_key)), strava, queue)


SERVICE: Final = Service(
    name="commitcollect",
    title="CommitCollect",
    summary="Strava workouts earn the parts of collectible models.",
    tables=(TABLE, SESSIONS_TABLE, AUDIT_TABLE, IDEMPOTENCY_TABLE),
    router=_router,
    seed=seed,
    pages=Path(__file__).parent / "pages",
    command=_command,
    site=_site,
    resources=open_tools,
    apps=_apps,
    worker=_work,
    queues={QUEUE: POLICY},
)
