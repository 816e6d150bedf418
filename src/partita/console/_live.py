"""Live figures: consumption by access pattern, health of the store, lag of projections, and state of queues."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from partita import Usage
from partita.change import Lag
from partita.change.shared import ShardFigures
from partita.errors import PartitaError
from partita.http import AppState, background_figures, check_store
from partita.queue import QueueStats
from partita.reports import WorkerFigures
from partita.service import Service
from partita.session import usage_sum


class Live(Struct, frozen=True):
    """The figures at one time."""

    healthy: bool
    usage: dict[str, dict[str, Usage]]
    """By service and access pattern, of all server processes and workers, since the server was started."""
    lag: dict[str, Lag]
    """How far the projection of each service lags behind its table."""
    queues: dict[str, QueueStats]
    workers: tuple[WorkerFigures, ...] = ()
    """The workers that report."""
    shards: tuple[ShardFigures, ...] = ()
    """The shards of streams that workers share: the owner and the lag of each."""


async def live(services: Sequence[Service], state: AppState) -> Live:
    """The current figures, without those of stores and queues that do not respond."""
    background = await background_figures(state)
    others = await state.siblings.figures()
    usage = usage_sum(state.session.meter.usage(), others.usage, background.fleet.counted.usage)
    healthy = background.is_complete and await _responds(services, state)
    return Live(
        healthy,
        _by_service(usage),
        dict(background.lags),
        dict(background.queues),
        background.fleet.workers,
        background.streams.shards,
    )


async def _responds(services: Sequence[Service], state: AppState) -> bool:
    try:
        await check_store(state.session, services)
    except PartitaError:
        return False
    return True


def _by_service(usages: Iterable[Usage]) -> dict[str, dict[str, Usage]]:
    found: dict[str, dict[str, Usage]] = {}
    for usage in usages:
        found.setdefault(usage.service, {})[usage.name] = usage
    return found
