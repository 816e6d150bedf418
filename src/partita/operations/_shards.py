"""Reading all shards of a key as one range: merged in order, with one limit and one cursor.

The first request to each shard is for one and a half times its equal share of the page. A shard that runs out is read
again, for as many items as the page still lacks. So a page costs little more than the items it returns, however the
items are distributed over the shards.
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
"""The most requests that one page sends to one shard, if most of the items that they read are not visible."""

_POSITIONS = "shards"


class _Shard:
    """One shard while a page is assembled: the items read but not yet returned, and the position to continue from."""

    def __init__(self, query: Query[Any], position: Any) -> None:
        self._query = query
        self.waiting: list[Item] = []
        self.is_read = position is False
        """Whether nothing follows the waiting items."""
        self.reads = 0
        self._start = self._key_of(position) if isinstance(position, list) else None
        self._last_key: Item | None = self._start

    @property
    def is_hungry(self) -> bool:
        """Whether this shard must be read before the next item can be chosen."""
        return not self.waiting and not self.is_read

    def read(self, limit: int, context: Context) -> Requests[int]:
        """Read more items; return how many of them belong to no declared entity."""
        request = self._query.request_from(self._last_key, short=False)
        if request.filter is None:  # with a filter, many of the items read are dropped
            request = replace(request, limit=limit)
        response: PageResponse = yield request
        self.reads += 1
        owned = self._query.owned(response.items)
        unclaimed = 0
        if len(owned) != len(response.items):
            unclaimed = yield from self._query.report_unclaimed(response.items)
        self.waiting += self._query.live(owned, context)
        self._last_key = response.last_key
        self.is_read = response.last_key is None
        return unclaimed

    def take(self) -> Item:
        """Remove and return the next item."""
        item = self.waiting.pop(0)
        self._start = self._query.position(item)
        return item

    @property
    def position(self) -> Any:
        """Where the next page continues: after these values, at the beginning (None), or not at all (False)."""
        start = self._start if self.waiting else self._last_key
        if start is None:
            return None if self.waiting or not self.is_read else False
        return [start[name] for name in self._names()]

    def _key_of(self, values: Sequence[Any]) -> Item:
        asked = dict(self._query.key_condition.equal)
        known = {name: asked[name] for name in self._query.position_names() if name in asked}
        return {**known, **dict(zip(self._names(), values, strict=True))}

    def _names(self) -> list[str]:
        """The attributes of a position that the key condition does not already contain."""
        asked = dict(self._query.key_condition.equal)
        return [name for name in self._query.position_names() if name not in asked]


class MergedShards:
    """All shards of a query, with the state of reading each."""

    def __init__(self, query: Query[Any], start: Item | None) -> None:
        conditions = (query.key_condition, *query.other_shards)
        positions: Any = [None] * len(conditions) if start is None else start[_POSITIONS]
        self._query = query
        self._shards = [
            _Shard(replace(query, key_condition=condition, other_shards=()), position)
            for condition, position in zip(conditions, positions, strict=True)
        ]
        self.unclaimed = 0

    def read(self, limit: int, context: Context) -> Requests[list[Item]]:
        """The next items in order, at most `limit`; fewer at the end of the shards, or if too many were not visible."""
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
        unclaimed: list[int] = [(yield from reads[0])] if len(reads) == 1 else (yield Together(tuple(reads)))
        self.unclaimed += sum(unclaimed)

    def _first(self, ready: Sequence[_Shard]) -> _Shard:
        """The shard whose next item comes first in the order of the query."""
        names = [attribute.name for attribute, _ in self._query.key.range]
        choose = min if self._query.forward else max
        return choose(ready, key=lambda shard: [shard.waiting[0][name] for name in names])

    @property
    def goes_on(self) -> bool:
        """Whether more items may follow."""
        return any(shard.waiting or not shard.is_read for shard in self._shards)

    def position(self) -> Item:
        """The position to continue from, for a cursor."""
        return {_POSITIONS: [shard.position for shard in self._shards]}


def shards_of(query: Query[Any]) -> Iterator[Query[Any]]:
    """Yield the same query for each single shard."""
    for condition in (query.key_condition, *query.other_shards):
        yield replace(query, key_condition=condition, other_shards=())
