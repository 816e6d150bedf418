"""How far a worker lags in each of its shards: the age of the oldest change that it has not brought into the sink."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from partita.runtime import Clock

if TYPE_CHECKING:
    from partita.change._change import ItemChange

MAX_LAGS: Final = 100
"""Of so many shards a heartbeat speaks, those that lag most: it is an item, and written every few seconds."""


class ShardLags:
    """What one worker knows of its lag, from what it reads and commits. Nothing is read for it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: dict[str, float] = {}  # replaced as a whole: the heartbeat's thread reads it

    def read(self, changes: Iterable[ItemChange]) -> None:
        """These were read, and are not in the sink yet."""
        since: dict[str, float] = {}
        for change in changes:
            since.setdefault(change.shard, change.at)
        self._since = since

    def committed(self, changes: Iterable[ItemChange], *, more: bool) -> None:
        """The sink has these; where there is more, that is not older than the last of them."""
        self._since = {change.shard: change.at for change in changes} if more else {}

    def seconds(self) -> dict[str, float]:
        """The lag now, by shard; those without any are left out."""
        now = self._clock()
        lags = ((shard, round(max(0.0, now - at), 3)) for shard, at in self._since.items())
        return dict(sorted(lags, key=lambda each: each[1], reverse=True)[:MAX_LAGS])
