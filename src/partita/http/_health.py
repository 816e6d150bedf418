"""How an app is doing: whether the store responds, and how workers, queues and projections go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi.concurrency import run_in_threadpool
from msgspec import Struct

from partita import AsyncSession
from partita.change import Lag
from partita.change.shared import StreamFigures
from partita.errors import PartitaError
from partita.http._state import AppState
from partita.queue import GetStats, QueueStats
from partita.reports import FleetFigures
from partita.service import Service
from partita.store import DescribeTable, ListTables


async def check_store(session: AsyncSession, services: Sequence[Service]) -> None:
    """Send a small request: for a table of the services, which all of their roles may see, unlike a list of all tables.

    Raises:
        PartitaError: the store does not respond, or the table does not exist.
    """
    tables = [table for service in services for table in service.tables]
    await session.store.execute_async(DescribeTable(tables[0].name) if tables else ListTables())


class BackgroundFigures(Struct, frozen=True):
    """The figures at one time."""

    fleet: FleetFigures
    """What workers have counted, and which of them live."""
    queues: Mapping[str, QueueStats]
    """By name; those that respond."""
    lags: Mapping[str, Lag]
    """How far projections lag behind, by service."""
    is_complete: bool
    """Whether every store and queue has responded."""
    streams: StreamFigures = StreamFigures()
    """Who has which shard of streams that workers share."""


async def background_figures(state: AppState) -> BackgroundFigures:
    """The figures now; what does not respond is left out."""
    is_complete = True
    lags: dict[str, Lag] = {}
    queues: dict[str, QueueStats] = {}
    for name, projection in state.projections.items():
        try:
            lags[name] = await run_in_threadpool(projection.consumer.lag)
        except PartitaError:
            is_complete = False
    for name, queue in state.queues.items():
        try:
            queues[name] = await queue.execute_async(GetStats())
        except PartitaError:
            is_complete = False
    fleet = FleetFigures() if state.reports is None else await state.reports.figures()
    streams = StreamFigures() if state.shards is None else await state.shards.figures()
    return BackgroundFigures(fleet, queues, lags, is_complete and fleet.is_known, streams)
