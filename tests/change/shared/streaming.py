"""A stream in memory whose shards have ranges of keys, and are split and merged."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any
from zlib import crc32

from msgspec import Struct, field

from partita.store import DescribeStream, ReadStream, Request, Shard, StreamDescription, StreamPage, StreamRecord

HASHES = 2**32


class SimulatedShard(Struct):
    """A shard and its records."""

    id: str
    low: int
    high: int
    parents: tuple[str, ...] = ()
    closed: bool = False
    records: list[StreamRecord] = field(default_factory=list)


class SimulatedStream:
    """A store with only a stream. Sequence numbers count the records of each shard, or rise over all with gaps."""

    def __init__(self, shards: int, *, counts: bool) -> None:
        self.shards: dict[str, SimulatedShard] = {}
        self.counts = counts
        self._sequence = 0
        self._numbers = 0
        bounds = [HASHES * number // shards for number in range(shards + 1)]
        for low, high in pairwise(bounds):
            self._add(low, high)
        self._open = sorted(self.shards.values(), key=lambda shard: shard.low)

    def _add(self, low: int, high: int, *parents: SimulatedShard) -> SimulatedShard:
        self._numbers += 1
        shard = SimulatedShard(f"shard-{self._numbers:06}", low, high, tuple(parent.id for parent in parents))
        self.shards[shard.id] = shard
        return shard

    def start(self) -> dict[str, int]:
        return dict.fromkeys(self.shards, 0)

    def write(self, key: str, number: int, at: float) -> None:
        """Write a change of a key, with the number that the key then has."""
        hashed = crc32(key.encode())
        shard = next(shard for shard in self._open if shard.low <= hashed < shard.high)
        self._sequence += 1
        sequence = len(shard.records) + 1 if self.counts else self._sequence
        keys = {"PK": key, "SK": "x"}
        shard.records.append(StreamRecord(sequence, "MODIFY", keys, None, {**keys, "n": number}, at, 10))

    def reshard(self, rng: random.Random) -> None:
        """Split a shard, or merge two."""
        place = rng.randrange(len(self._open) - 1)
        if rng.random() < 0.5:
            shard = self._open[place]
            if shard.high - shard.low < 4:
                return
            middle = rng.randrange(shard.low + 1, shard.high)
            shard.closed = True
            self._open[place : place + 1] = [
                self._add(shard.low, middle, shard),
                self._add(middle, shard.high, shard),
            ]
        else:
            first, second = self._open[place : place + 2]
            first.closed = second.closed = True
            self._open[place : place + 2] = [self._add(first.low, second.high, first, second)]

    def execute(self, request: Request[Any]) -> Any:
        if isinstance(request, DescribeStream):
            described = tuple(self._described(shard) for shard in self.shards.values())
            return StreamDescription("stream", "NEW_AND_OLD_IMAGES", enabled=True, shards=described)
        assert isinstance(request, ReadStream)
        shard = self.shards[request.shard]
        if self.counts:
            found = shard.records[request.after : request.after + request.limit]
            at_end = request.after + len(found) == len(shard.records)
        else:
            after = reversed_until(shard.records, request.after)
            found = after[: request.limit]
            at_end = len(found) == len(after)
        return StreamPage(found, shard.closed and at_end)

    def _described(self, shard: SimulatedShard) -> Shard:
        parent, other = (*shard.parents, None, None)[:2]
        newest = len(shard.records) if self.counts else None
        return Shard(shard.id, parent, shard.closed, 0, newest, 0, other)

    async def execute_async(self, request: Request[Any]) -> Any:
        return self.execute(request)

    def close(self) -> None: ...


def reversed_until(records: list[StreamRecord], after: int) -> list[StreamRecord]:
    """Return the records after a sequence number, which usually are few."""
    place = len(records)
    while place and records[place - 1].sequence > after:
        place -= 1
    return records[place:]
