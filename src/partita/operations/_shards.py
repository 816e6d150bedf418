"""Reading all shards of a key as one range: merged in order, with one limit and one cursor.

Each shard is first asked for its fair share of the page and half of that more; one that runs out is asked for as many
as the page still lacks. So a page costs little more than what it shows, wherever the items are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from partita.operations._operation import Context, Requests
from partita.runtime import Together
from partita.store import PageResponse
from partita.values import Item

if TYPE_CHECKING:
    from partita.operations._query import Query

MAX_READS = 10
"""So many requests are sent to one shard for one page, where most of what they read is not to be seen."""

_POSITIONS = "shards"


class _Shard:
    """One shard while a page is made: what was read of it and not given yet, and where to go on."""

    def __init__(self, query: Query[Any], position: Any) -> None:
        self._query = query
        self.waiting: list[Item] = []
        self.is_read = position is False
        """Whether nothing follows what is waiting."""
        self.reads = 0
        self._start = self._key_of(position) if isinstance(position, list) else None
        self._last_key: Item | None = self._start

    @property
    def is_hungry(self) -> bool:
        """Whether it must be read before the next item can be chosen."""
        return not self.waiting and not self.is_read

    def read(self, limit: int, context: Context) -> Requests[tuple[int, int]]:
        """Read on; gives how many items were inspected, and how many of them belong to no declared entity."""
        request = self._query.request_from(self._last_key, short=False)
        if request.filter is None:  # with a filter, much of what is read is not to be seen
            request = replace(request, limit=limit)
        response: PageResponse = yield request
        self.reads += 1
        owned = self._query.owned(response.items)
        unclaimed = 0
        if len(owned) != len(response.items):
            unclaimed = yield from self._query.tell_unclaimed(response.items)
        self.waiting += self._query.live(owned, context)
        self._last_key = response.last_key
        self.is_read = response.last_key is None
        return response.scanned, unclaimed

    def take(self) -> Item:
        """The next item."""
        item = self.waiting.pop(0)
        self._start = self._query.position(item)
        return item

    @property
    def position(self) -> Any:
        """Where the next page goes on: after values, at the beginning (None), or not at all (False)."""
        start = self._start if self.waiting else self._last_key
        if start is None:
            return None if self.waiting or not self.is_read else False
        return [start[name] for name in self._names()]

    def _key_of(self, values: Sequence[Any]) -> Item:
        asked = dict(self._query.key_condition.equal)
        known = {name: asked[name] for name in self._query.position_names() if name in asked}
        return {**known, **dict(zip(self._names(), values, strict=True))}

    def _names(self) -> list[str]:
        """The attributes of a position that the condition does not say already."""
        asked = dict(self._query.key_condition.equal)
        return [name for name in self._query.position_names() if name not in asked]


class MergedShards:
    """All shards of a query, as far as they were read."""

    def __init__(self, query: Query[Any], start: Item | None) -> None:
        conditions = (query.key_condition, *query.other_shards)
        positions: Any = [None] * len(conditions) if start is None else start[_POSITIONS]
        self._query = query
        self._shards = [
            _Shard(replace(query, key_condition=condition, other_shards=()), position)
            for condition, position in zip(conditions, positions, strict=True)
        ]
        self.inspected = 0
        self.unclaimed = 0

    def read(self, limit: int, context: Context) -> Requests[list[Item]]:
        """The next items in order, at most `limit`; fewer where the shards are read, or too much was not to be seen."""
        found: list[Item] = []
        for shard in self._shards:
            shard.reads = 0
        share = max(1, -(-3 * limit // (2 * len(self._shards))))
        while len(found) < limit:
            hungry = [shard for shard in self._shards if shard.is_hungry]
            if any(shard.reads >= MAX_READS for shard in hungry):
                break
            yield from self._fill(hungry, share, limit - len(found), context)
            if any(shard.is_hungry for shard in self._shards):
                continue
            ready = [shard for shard in self._shards if shard.waiting]
            if not ready:
                break
            found.append(self._first(ready).take())
        return found

    def _fill(self, hungry: Sequence[_Shard], share: int, missing: int, context: Context) -> Requests[None]:
        if not hungry:
            return
        reads = [shard.read(share if shard.reads == 0 else missing, context) for shard in hungry]
        seen: list[tuple[int, int]] = [(yield from reads[0])] if len(reads) == 1 else (yield Together(tuple(reads)))
        self.inspected += sum(inspected for inspected, _ in seen)
        self.unclaimed += sum(unclaimed for _, unclaimed in seen)

    def _first(self, ready: Sequence[_Shard]) -> _Shard:
        """The shard whose next item comes first in the order of the read."""
        names = [attribute.name for attribute, _ in self._query.key.range]
        choose = min if self._query.forward else max
        return choose(ready, key=lambda shard: [shard.waiting[0][name] for name in names])

    @property
    def goes_on(self) -> bool:
        """Whether anything may follow."""
        return any(shard.waiting or not shard.is_read for shard in self._shards)

    def position(self) -> Item:
        """Where to go on, for a cursor."""
        return {_POSITIONS: [shard.position for shard in self._shards]}


def shards_of(query: Query[Any]) -> Iterator[Query[Any]]:
    """The same query for each shard by itself."""
    for condition in (query.key_condition, *query.other_shards):
        yield replace(query, key_condition=condition, other_shards=())
