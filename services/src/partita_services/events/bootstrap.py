"""The events service as `partita serve` and `partita worker` run it, and its sample data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from partita import Operation
from partita.queue import Create
from partita.service import Installation, Projection, Service, WorkerContext
from partita_services.events.changes.model import finish_event, withdraw_requests
from partita_services.events.changes.notices import POLICY as NOTICES_POLICY
from partita_services.events.changes.notices import QUEUE as NOTICES_QUEUE
from partita_services.events.changes.notices import sender_of
from partita_services.events.draws.model import begin_draw, draw_of, drawn_in, reveal, seed_of, settle, write_drawn
from partita_services.events.model import (
    LIMITS,
    TABLE,
    active_event,
    active_events,
    decide,
    delay_request,
    event_by_id,
    give_up,
    lock_of,
    log_step,
    mark_queued,
    request_by_id,
    requests_of_event,
    seats_of,
    waiting_requests,
)
from partita_services.events.names.model import name_request
from partita_services.events.personal import PERSONAL
from partita_services.events.queueing.messages import NAME, POLICY
from partita_services.events.queueing.model import sent_batches
from partita_services.events.queueing.tools import Tools
from partita_services.events.samples.data import seed
from partita_services.events.waitlist.model import give_seats, requests_by_ids, waiting_pages

if TYPE_CHECKING:
    import click
    from fastapi import APIRouter

    from partita.change import SqliteProjection


@contextmanager
def opened(installation: Installation) -> Iterator[Tools]:
    """Open the queue of requests and the queue of notices, and find the sender of notices."""
    send = sender_of(os.environ)
    with (
        closing(installation.open_queue(NAME, POLICY)) as queue,
        closing(installation.open_queue(NOTICES_QUEUE, NOTICES_POLICY)) as notices,
    ):
        queue.execute(Create())
        notices.execute(Create())
        yield Tools(queue, notices, send)


def _examples(now: float) -> Sequence[Operation[Any]]:
    from partita_services.events.samples.examples import examples  # noqa: PLC0415 - only measurements need them

    return examples(now)


def _router() -> APIRouter:
    from partita_services.events.http import ROUTER  # noqa: PLC0415 - the model can be used without the HTTP extra

    return ROUTER


def _projection(path: Path) -> SqliteProjection:
    from partita_services.events.figures.projection import RequestProjection  # noqa: PLC0415 - only a server needs it

    return RequestProjection(path)


def _work(context: WorkerContext[Tools]) -> None:
    from partita_services.events.queueing.worker import work  # noqa: PLC0415 - only a worker needs it

    work(context)


def _command() -> click.Group:
    from partita_services.events.commands import events  # noqa: PLC0415 - only the command line needs it

    return events


_SHARED: Final = (
    active_event,
    begin_draw,
    draw_of,
    drawn_in,
    event_by_id,
    give_seats,
    lock_of,
    log_step,
    request_by_id,
    requests_by_ids,
    requests_of_event,
    reveal,
    seats_of,
    seed_of,
    sent_batches,
    settle,
    waiting_pages,
    write_drawn,
    "notices_waiting",
    "Notice.forwarded",
)
"""The operations of both routes and workers: either may hold a draw, and check whether the queue has a request."""

SERVICE: Final = Service(
    name="events",
    title="Events",
    summary="First come, first served, and lottery: one request for each user, and exactly as many winners as seats.",
    tables=(TABLE,),
    router=_router,
    seed=seed,
    examples=_examples,
    pages=Path(__file__).parent / "pages",
    projection=Projection(TABLE, _projection),
    command=_command,
    resources=opened,
    worker=_work,
    roles={
        "request": (*_SHARED, name_request),
        "worker": (
            *_SHARED,
            active_events,
            waiting_requests,
            decide,
            delay_request,
            give_up,
            mark_queued,
            finish_event,
            withdraw_requests,
            "Lease.acquire",
        ),
        "nobody": ("Lease.check", "Lease.release", "Lease.renew", "lease_by_name"),
    },
    queues={NAME: POLICY, NOTICES_QUEUE: NOTICES_POLICY},
    rate_limit=LIMITS,
    personal=PERSONAL,
    preload=(
        "partita_services.events.figures.projection",
        "partita_services.events.queueing.worker",
    ),
)
