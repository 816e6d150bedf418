"""Running work: operations go to the store, questions to Strava, jobs to the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from partita import AsyncSession, Operation, Session, new_ulid
from partita.queue import Accepted, Body, Queue, Send, written
from partita.recipes.audit import Trace
from partita.runtime import Clock, run, run_async, system_clock
from partita_services.commitcollect.strava.interface import Ask, Strava
from partita_services.commitcollect.strava.settings import Settings
from partita_services.commitcollect.strava.vault import Vault

R = TypeVar("R")

Work: TypeAlias = Generator[Operation[Any] | Ask[Any] | Send, Any, R]
"""Several operations, questions and sends in order: a generator function with `yield from`."""


class Application(Struct, frozen=True):
    """This installation as Strava knows it, and what its work needs."""

    settings: Settings
    vault: Vault
    clock: Clock = system_clock
    new_id: Callable[[], str] = new_ulid


class Tools(Struct, frozen=True):
    """What routes and workers share."""

    application: Application
    strava: Strava
    queue: Queue


class TryLater(Exception):
    """The work cannot go on now, and is to be begun again in a while."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Try again in {seconds:.0f} s.")
        self.seconds = seconds


class Job(Body, frozen=True):
    """Something to do in the background, and the request that it goes back to."""

    kind = "job"

    request_id: str
    correlation_id: str

    @property
    def trace(self) -> Trace:
        """For the audit trail."""
        return Trace(self.request_id, self.correlation_id)


def send(job: Job, group: str, deduplication_id: str) -> Work[Accepted]:
    """Have something done in the background, once."""
    accepted: Accepted = yield Send(written(job), group, deduplication_id)
    return accepted


def do(work: Work[R], db: Session, tools: Tools) -> R:
    """Run a piece of work with blocking calls."""
    return run(work, lambda step: _done(step, db, tools))


async def do_async(work: Work[R], db: AsyncSession, tools: Tools) -> R:
    """The same, without blocking the event loop."""
    return await run_async(work, lambda step: _done_async(step, db, tools))


def _done(step: Operation[Any] | Ask[Any] | Send, db: Session, tools: Tools) -> Any:
    if isinstance(step, Operation):
        return db.run(step)
    return tools.queue.execute(step) if isinstance(step, Send) else tools.strava.ask(step)


async def _done_async(step: Operation[Any] | Ask[Any] | Send, db: AsyncSession, tools: Tools) -> Any:
    if isinstance(step, Operation):
        return await db.run(step)
    if isinstance(step, Send):
        return await tools.queue.execute_async(step)
    return await asyncio.to_thread(tools.strava.ask, step)
