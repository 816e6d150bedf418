"""Figures of shared streams that a server shows: the owner of each shard, in any process, and its lag."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from partita.change.shared._group import GroupView, view_of
from partita.change.shared._member import Watch
from partita.change.shared._model import WHOLE, SharedStream, shared_streams
from partita.change.shared._policy import LeasePolicy
from partita.errors import PartitaError, TableNotFound
from partita.operations import Procedure
from partita.session import AsyncSession

READ_SECONDS: Final = 2.0
"""Calls within this time return the result of the last read."""
MAX_STREAMS: Final = 1_000


class ShardFigures(Struct, frozen=True):
    """One shard of a shared stream that is not done."""

    table: str
    sink: str
    shard: str
    owner: str | None
    """The name of the process that reads it; None if no process does."""
    lag_seconds: float | None
    """The age of the oldest change that the sink does not have, as last reported by the owner; None if unknown."""


class StreamFigures(Struct, frozen=True):
    """All shards that are not done, of all shared streams."""

    shards: tuple[ShardFigures, ...] = ()
    is_known: bool = True
    """Whether the last read of the leases succeeded; if not, `shards` is empty."""


class ShardReader:
    """Reads the leases of all shared streams, for one event loop."""

    def __init__(
        self,
        session: AsyncSession,
        policy: LeasePolicy = LeasePolicy(),  # noqa: B008 - frozen
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up a reader.

        Args:
            session: reads the table `PartitaLeases`, which need not exist.
            policy: the time without a heartbeat after which a worker is considered dead.
            monotonic: measures how long workers were silent.
        """
        self._session = session
        self._seconds = policy.seconds
        self._now = monotonic
        self._watches: dict[str, Watch] = {}
        self._read_at = float("-inf")
        self._figures = StreamFigures()
        self._one_at_a_time = asyncio.Lock()

    async def figures(self) -> StreamFigures:
        """Return the current shards. A worker whose silence was too long, as measured by this reader, owns none."""
        async with self._one_at_a_time:
            if not 0 <= self._now() - self._read_at < READ_SECONDS:
                self._read_at = self._now()
                self._figures = await self._read()
            return self._figures

    async def _read(self) -> StreamFigures:
        try:
            found = await self._session.run(_groups())
        except TableNotFound:
            return StreamFigures()  # nobody has shared a stream yet
        except PartitaError:
            return StreamFigures(is_known=False)
        return StreamFigures(tuple(shard for stream, view in found for shard in self._shards(stream, view)))

    def _shards(self, stream: SharedStream, view: GroupView) -> list[ShardFigures]:
        watch = self._watches.setdefault(stream.group, Watch(self._seconds))
        dead = [each.worker for each in watch.dead(dict(view.workers), self._now())]
        view = view.without(dead)
        shown = sorted(shard for shard, lease in view.leases.items() if shard != WHOLE and not lease.done)
        return [_figures(stream, view, shard) for shard in shown]


def _figures(stream: SharedStream, view: GroupView, shard: str) -> ShardFigures:
    owner = view.owner(shard)
    if owner is None:
        return ShardFigures(stream.of_table, stream.sink, shard, None, None)
    worker = view.workers[owner]
    return ShardFigures(stream.of_table, stream.sink, shard, worker.name, worker.lags.get(shard, 0.0))


def _groups() -> Procedure[list[tuple[SharedStream, GroupView]]]:
    streams = yield from shared_streams().walk(max_items=MAX_STREAMS)
    views: dict[str, GroupView] = {}
    for stream in streams.items:
        views[stream.group] = yield from view_of(stream.group)
    return [(stream, views[stream.group]) for stream in streams.items]
