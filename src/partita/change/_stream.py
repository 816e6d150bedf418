"""Reading a table's stream from given positions, shard by shard, parents before their children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from partita.change._change import ItemChange
from partita.errors import ModelError, RebuildRequired, StreamTrimmed
from partita.model import Table
from partita.store import DescribeStream, FindInStream, ReadStream, Shard, Store, StreamPage

PAGE: Final = 1_000
MAX_BYTES: Final = 64 * 1024 * 1024
"""A batch has no more than about this from one shard, even if that is only a few changes."""

EMPTY_PAGES: Final = 5
"""If a store does not count its records, an empty page does not mean the end; this many in a row do."""


class Lag(Struct, frozen=True):
    """The lag of a consumer: how many changes it has not read, and the age of the oldest of them."""

    records: int
    seconds: float


class Batch(Struct, frozen=True):
    """Changes that were read, and the positions after them. `more`: more changes may be available at once."""

    changes: list[ItemChange]
    positions: dict[str, int]
    more: bool


class ChangeStream:
    """The stream of a declared table in a store."""

    def __init__(self, store: Store, table: Table, *, keys_only: bool = False) -> None:
        if not isinstance(table, Table):
            hint = "Pass the declared table, as in Consumer(store, TABLE, sink)."
            raise ModelError(f"{table!r} is not a Table.", owner=table, hint=hint)
        if not hasattr(store, "execute"):
            hint = "Pass the store itself, such as session.store."
            raise ModelError(f"{store!r:.60} is not a store.", owner=store, hint=hint)
        if table.schema.stream != "NEW_AND_OLD_IMAGES" and not (keys_only and table.schema.stream == "KEYS_ONLY"):
            raise ModelError(
                f"{table!r} has no stream with new and old images.",
                owner=table,
                hint='Declare it with stream="NEW_AND_OLD_IMAGES".',
            )
        self._store = store
        self._table = table

    def start(self) -> dict[str, int]:
        """Return the positions before the oldest records that the stream still has."""
        return {shard.id: shard.trimmed for shard in self._shards()}

    def end(self) -> dict[str, int]:
        """Return the positions after the newest records that the stream has now."""
        return {shard.id: self._end_of(shard) for shard in self._shards()}

    def at(self, instant: float) -> dict[str, int]:
        """Return the positions before the first changes at `instant` or later, or before the oldest that are kept."""
        return {shard.id: self._position_at(shard, instant) for shard in self._shards()}

    def _position_at(self, shard: Shard, instant: float) -> int:
        found = self._store.execute(FindInStream(self._table.name, shard.id, instant)).after
        return self._end_of(shard) if found is None else found

    def delivers_at_once(self) -> bool:
        """Whether a record is available as soon as its write is visible, as in stores that count their records."""
        return all(shard.newest is not None for shard in self._shards())

    def read(self, after: Mapping[str, int], limit: int) -> Batch:
        """Read about `limit` changes after the positions, fairly from all shards; a child after its parent is finished.

        Raises:
            RebuildRequired: changes after the positions are no longer kept.
        """
        shards = self.checked(after)
        share = max(1, limit // len(shards))
        batch = Batch([], {shard.id: after[shard.id] for shard in shards if shard.id in after}, more=False)
        unfinished: set[str] = set()
        for shard in shards:
            if unfinished.intersection(shard.parents):
                unfinished.add(shard.id)
                continue
            part, closed = self._read_shard(shard, after.get(shard.id, 0), share)
            if not closed:
                unfinished.add(shard.id)
            batch = Batch(batch.changes + part.changes, batch.positions | part.positions, batch.more or part.more)
        return batch

    def read_shards(self, shards: Sequence[Shard], after: Mapping[str, int], limit: int) -> tuple[Batch, list[str]]:
        """Read about `limit` changes of some shards, fairly from each; also return which are closed and finished.

        Raises:
            RebuildRequired: changes after the positions are no longer kept.
        """
        share = max(1, limit // len(shards))
        changes: list[ItemChange] = []
        positions: dict[str, int] = {}
        finished, more = [], False
        for shard in shards:
            part, closed = self._read_shard(shard, after.get(shard.id, 0), share)
            changes += part.changes
            positions |= part.positions
            more |= part.more
            finished += [shard.id] if closed else []
        return Batch(changes, positions, more), finished

    def lag(self, after: Mapping[str, int], now: float) -> Lag:
        """Return the lag after the positions.

        Raises:
            RebuildRequired: changes after the positions are no longer kept.
        """
        lags = self.lags(after, now).values()
        return Lag(sum(lag.records for lag in lags), max((lag.seconds for lag in lags), default=0.0))

    def lags(self, after: Mapping[str, int], now: float) -> dict[str, Lag]:
        """Return the lag after the positions in each shard.

        Raises:
            RebuildRequired: changes after the positions are no longer kept.
        """
        found = {}
        for shard in self.checked(after):
            position = after.get(shard.id, 0)
            page = self._page(shard, position, 1)
            records = self._count(shard, position) if page.records else 0
            found[shard.id] = Lag(records, now - page.records[0].at if page.records else 0.0)
        return found

    def _shards(self) -> list[Shard]:
        """Return the shards, each after its parents."""
        found = {shard.id: shard for shard in self._store.execute(DescribeStream(self._table.name)).shards}

        generation = generations(found)
        return sorted(found.values(), key=lambda shard: generation[shard.id])

    def checked(self, after: Mapping[str, int]) -> list[Shard]:
        """Return the shards, each after its parents, if nothing after the positions was missed.

        Raises:
            RebuildRequired: changes after the positions are no longer kept.
        """
        shards = self._shards()
        names = {shard.id for shard in shards}
        for shard in shards:
            if shard.id not in after and not any(parent in names for parent in shard.parents):
                raise RebuildRequired(f"The stream of {self._table.name} is not the one that was read before.")
            if shard.newest is not None and after.get(shard.id, 0) > shard.newest:
                raise RebuildRequired(f"The stream of {self._table.name} ends before the position that was read.")
            if after.get(shard.id, 0) < shard.trimmed:
                raise RebuildRequired(f"Changes of {self._table.name} that were not read are no longer kept.")
        return shards

    def _read_shard(self, shard: Shard, after: int, limit: int) -> tuple[Batch, bool]:
        """Read changes of one shard; also return whether it is closed and has no more."""
        changes: list[ItemChange] = []
        size, closed = 0, False
        for page in self._pages(shard, after, limit):
            changes += [ItemChange(self._table, record, shard.id) for record in page.records]
            size += sum(record.size for record in page.records)
            closed = page.closed
            if not closed and (len(changes) >= limit or size >= MAX_BYTES):
                return Batch(changes, {shard.id: changes[-1].sequence}, more=True), False
        return Batch(changes, {shard.id: changes[-1].sequence if changes else after}, more=False), closed

    def _pages(self, shard: Shard, after: int, limit: int = PAGE) -> Iterator[StreamPage]:
        """Yield pages of a shard after a position, up to its end."""
        empty, page = 0, StreamPage([])
        while not page.closed and empty < (EMPTY_PAGES if shard.newest is None else 1):
            page = self._page(shard, after, min(PAGE, limit))
            yield page
            empty = 0 if page.records else empty + 1
            after = page.records[-1].sequence if page.records else after

    def _page(self, shard: Shard, after: int, limit: int) -> StreamPage:
        try:
            return self._store.execute(ReadStream(self._table.name, shard.id, after, limit))
        except StreamTrimmed as error:
            raise RebuildRequired(f"Changes of {self._table.name} that were not read are no longer kept.") from error

    def _end_of(self, shard: Shard) -> int:
        if shard.newest is not None:
            return shard.newest
        return max((page.records[-1].sequence for page in self._pages(shard, 0) if page.records), default=0)

    def _count(self, shard: Shard, after: int) -> int:
        """Return the number of records that a shard has after a position."""
        if shard.newest is not None:
            return shard.newest - max(after, shard.start)
        return sum(len(page.records) for page in self._pages(shard, after))


def generations(shards: Mapping[str, Shard]) -> dict[str, int]:
    """Return the number of generations of ancestors that each shard has."""
    known: dict[str, int] = {}

    def generation(shard: Shard) -> int:
        if shard.id not in known:
            parents = [shards[parent] for parent in shard.parents if parent in shards]
            known[shard.id] = max((1 + generation(parent) for parent in parents), default=0)
        return known[shard.id]

    for shard in shards.values():
        generation(shard)
    return known
