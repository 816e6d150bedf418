"""Units of work, and how they run: operations go to the store, requests to Strava, jobs to the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct, field

from partita import AsyncSession, Operation, Session, new_ulid
from partita.queue import Body, Queue, Send, SentMessage, encode_body
from partita.recipes.audit import Trace
from partita.recipes.outbox import OutboxMessage, Sender, open_sender
from partita.runtime import Clock, run, run_async, system_clock
from partita_services.commitcollect.jobs.webhook_limits import WebhookLimits
from partita_services.commitcollect.strava.interface import Strava, StravaRequest
from partita_services.commitcollect.strava.settings import QUEUE_ALONE, Settings
from partita_services.commitcollect.strava.vault import Vault

R = TypeVar("R")


class Notify(Struct, frozen=True):
    """A notice to put into the queue of notices."""

    send: Send


WorkRequest: TypeAlias = Operation[Any] | StravaRequest[Any] | Send | Notify
Work: TypeAlias = Generator[WorkRequest, Any, R]
"""A unit of work: a generator that yields operations, requests to Strava, sends and notices."""


class Application(Struct, frozen=True):
    """The settings and tools of this installation that units of work need."""

    settings: Settings
    vault: Vault
    clock: Clock = system_clock
    new_id: Callable[[], str] = new_ulid


def drop(message: OutboxMessage) -> None:
    """Discard a message: the sender of an installation that announces nothing."""


def sender_of(settings: Settings) -> Sender | None:
    """Return the sender of awards that the settings name; None if another program reads the queue.

    Raises:
        OperationError: there is no such sender.
    """
    if not settings.sender:
        return drop
    return None if settings.sender == QUEUE_ALONE else open_sender(settings.sender)


class Tools(Struct, frozen=True):
    """The tools that routes and workers share."""

    application: Application
    strava: Strava
    queue: Queue
    notices: Queue
    """The queue of notices of awards."""
    send: Sender | None = drop
    """Sends the notices; None if another program reads their queue."""
    webhook_limits: WebhookLimits = field(default_factory=WebhookLimits)


class TryLater(Exception):
    """The work cannot continue now, and should start again later."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Try again in {seconds:.0f} s.")
        self.seconds = seconds


class Job(Body, frozen=True):
    """A background job, and the request that caused it."""

    kind = "job"

    request_id: str
    correlation_id: str

    @property
    def trace(self) -> Trace:
        """The request that caused the job, for the audit trail."""
        return Trace(self.request_id, self.correlation_id)


def send(job: Job, group: str, deduplication_id: str) -> Work[SentMessage]:
    """Put a job into the queue, once per deduplication id."""
    accepted: SentMessage = yield Send(encode_body(job), group, deduplication_id)
    return accepted


def do(work: Work[R], db: Session, tools: Tools) -> R:
    """Run a unit of work with blocking calls."""

    def execute(request: WorkRequest) -> Any:
        if isinstance(request, Operation):
            return db.run(request)
        if isinstance(request, Notify):
            return tools.notices.execute(request.send)
        return tools.queue.execute(request) if isinstance(request, Send) else tools.strava.execute(request)

    return run(work, execute)


async def do_async(work: Work[R], db: AsyncSession, tools: Tools) -> R:
    """Run a unit of work without blocking the event loop."""

    async def execute(request: WorkRequest) -> Any:
        if isinstance(request, Operation):
            return await db.run(request)
        if isinstance(request, Notify):
            return await tools.notices.execute_async(request.send)
        if isinstance(request, Send):
            return await tools.queue.execute_async(request)
        return await asyncio.to_thread(tools.strava.execute, request)

    return await run_async(work, execute)
