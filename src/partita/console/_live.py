"""Live figures: consumption by access pattern, the store's health, the lag of projections, and queues."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastapi.concurrency import run_in_threadpool
from msgspec import Struct

from partita import Usage
from partita.change import Lag
from partita.errors import PartitaError
from partita.http import AppState, check_store
from partita.queue import GetStats, QueueStats
from partita.service import Service


class Live(Struct, frozen=True):
    """The figures at one time."""

    healthy: bool
    usage: dict[str, dict[str, Usage]]
    """By service and access pattern, since the server was started."""
    lag: dict[str, Lag]
    """How far the projection of each service lags behind its table."""
    queues: dict[str, QueueStats]


async def live(services: Sequence[Service], state: AppState) -> Live:
    """The figures now. Where a store or queue does not respond, the figures so far."""
    healthy, lags, depths = True, {}, {}
    try:
        await check_store(state.session, services)
        for name, projection in state.projections.items():
            lags[name] = await run_in_threadpool(projection.consumer.lag)
        for name, queue in state.queues.items():
            depths[name] = await queue.execute_async(GetStats())
    except PartitaError:
        healthy = False
    return Live(healthy, _by_service(state.session.meter.usage()), lags, depths)


def _by_service(usages: Iterable[Usage]) -> dict[str, dict[str, Usage]]:
    found: dict[str, dict[str, Usage]] = {}
    for usage in usages:
        found.setdefault(usage.service, {})[usage.name] = usage
    return found
