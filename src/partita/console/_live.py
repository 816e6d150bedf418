"""What moves: consumption by access pattern, the store's health, projections behind their tables, and queues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fastapi.concurrency import run_in_threadpool
from msgspec import Struct

from partita import AsyncSession, Usage
from partita.change import Lag
from partita.errors import PartitaError
from partita.http import ask_store
from partita.queue import GetStats, Queue, QueueStats
from partita.service import Projected, Service


class Live(Struct, frozen=True):
    """The figures of one moment."""

    healthy: bool
    usage: dict[str, dict[str, Usage]]
    """By service and access pattern, since the server was started."""
    behind: dict[str, Lag]
    """How far the projection of each service is behind its table."""
    queues: dict[str, QueueStats]


async def live(
    services: Sequence[Service],
    session: AsyncSession,
    projected: Mapping[str, Projected],
    queues: Mapping[str, Queue],
) -> Live:
    """The figures of this moment; only what answers is in them."""
    healthy, behind, depths = True, {}, {}
    try:
        await ask_store(session, services)
        for name, part in projected.items():
            behind[name] = await run_in_threadpool(part.consumer.lag)
        for name, queue in queues.items():
            depths[name] = await queue.execute_async(GetStats())
    except PartitaError:
        healthy = False
    return Live(healthy, _by_service(session.meter.usage()), behind, depths)


def _by_service(usages: Iterable[Usage]) -> dict[str, dict[str, Usage]]:
    found: dict[str, dict[str, Usage]] = {}
    for usage in usages:
        found.setdefault(usage.service, {})[usage.name] = usage
    return found
