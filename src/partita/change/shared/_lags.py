"""The lag of a worker in each of its shards: the age of the oldest change that it has not applied to the sink."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from partita.runtime import Clock

if TYPE_CHECKING:
    from partita.change._change import ItemChange

MAX_LAGS: Final = 100
"""A heartbeat includes this many shards, those that lag most, because it is an item written every few seconds."""


class ShardLags:
    """The lag of one worker, measured from what it reads and commits anyway, without additional reads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: dict[str, float] = {}  # replaced as a whole: the heartbeat's thread reads it

    def read(self, changes: Iterable[ItemChange]) -> None:
        """Record changes that were read and are not in the sink yet."""
        since: dict[str, float] = {}
        for change in changes:
            since.setdefault(change.shard, change.at)
        self._since = since

    def committed(self, changes: Iterable[ItemChange], *, more: bool) -> None:
        """Record changes that the sink has committed; if there are `more`, those are not older than the last one."""
        self._since = {change.shard: change.at for change in changes} if more else {}

    def seconds(self) -> dict[str, float]:
        """Return the current lag by shard, without shards that have none."""
        now = self._clock()
        lags = ((shard, round(max(0.0, now - at), 3)) for shard, at in self._since.items())
        return dict(sorted(lags, key=lambda each: each[1], reverse=True)[:MAX_LAGS])
