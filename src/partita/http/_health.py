"""The health of an app: whether the store responds, and the state of workers, queues and projections."""

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
    """Describe one table of the services, because all of their roles may do that, but may not list all tables.

    Raises:
        PartitaError: the store does not respond, or the table does not exist.
    """
    tables = [table for service in services for table in service.tables]
    await session.store.execute_async(DescribeTable(tables[0].name) if tables else ListTables())


class BackgroundFigures(Struct, frozen=True):
    """The figures of workers, queues and projections at one point in time."""

    fleet: FleetFigures
    """The counts that workers reported, and which workers are alive."""
    queues: Mapping[str, QueueStats]
    """The queues that responded, by name."""
    lags: Mapping[str, Lag]
    """The lag of each projection, by service."""
    is_complete: bool
    """Whether every store and queue has responded."""
    streams: StreamFigures = StreamFigures()
    """Which worker has which shard of the streams that workers share."""


async def background_figures(state: AppState) -> BackgroundFigures:
    """Return the current figures, without the stores and queues that do not respond."""
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
