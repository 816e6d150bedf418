"""A sink in memory, and a store whose stream has many shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from partita.change import ItemChange, Snapshot
from partita.errors import StreamTrimmed
from partita.store import DescribeStream, ReadStream, Request, Shard, StreamDescription, StreamPage, StreamRecord


class MemorySink:
    """Records all changes, the size of each batch, and the latest positions."""

    def __init__(self) -> None:
        self.at: dict[str, int] = {}
        self.changes: list[ItemChange] = []
        self.loaded: list[ItemChange] = []
        self.batches: list[int] = []

    def positions(self) -> Mapping[str, int]:
        return self.at

    def apply(self, batch: Sequence[ItemChange], positions: Mapping[str, int]) -> None:
        self.changes += batch
        self.batches.append(len(batch))
        self.at = dict(positions)

    def load(self, snapshot: Snapshot) -> None:
        self.loaded = list(snapshot)
        self.at = dict(snapshot.positions)


class ShardedStore:
    """A store with only a stream: shards with their parents and records, like DynamoDB's."""

    def __init__(self) -> None:
        self.shards: dict[str, Shard] = {}
        self.records: dict[str, list[StreamRecord]] = {}
        self.empty = 0
        """How many of the next reads return an empty page."""

    def add(self, name: str, *sequences: int, parent: str | None = None, closed: bool = False) -> None:
        """Add a shard with a record for each sequence number."""
        self.shards[name] = Shard(name, parent, closed)
        self.records[name] = [record(sequence) for sequence in sequences]

    def trim(self, name: str, up_to: int) -> None:
        self.records[name] = [record for record in self.records[name] if record.sequence > up_to]

    def execute(self, request: Request[Any]) -> Any:
        if isinstance(request, DescribeStream):
            return StreamDescription("stream", "NEW_AND_OLD_IMAGES", enabled=True, shards=tuple(self.shards.values()))
        assert isinstance(request, ReadStream)
        if self.empty:
            self.empty -= 1
            return StreamPage([])
        kept = self.records[request.shard]
        if request.after and kept and request.after < kept[0].sequence - 1:
            raise StreamTrimmed("trimmed")
        found = [record for record in kept if record.sequence > request.after]
        page = found[: request.limit]
        return StreamPage(page, self.shards[request.shard].closed and len(page) == len(found))

    async def execute_async(self, request: Request[Any]) -> Any:
        return self.execute(request)

    def close(self) -> None: ...


def record(sequence: int, at: float = 100.0, size: int = 10) -> StreamRecord:
    """Return the insert record of an item that is named after the sequence number."""
    keys = {"PK": f"foreign-{sequence}", "SK": "x"}
    return StreamRecord(sequence, "INSERT", keys, None, keys, at, size)


def sequences(sink: MemorySink) -> list[int]:
    return [change.sequence for change in sink.changes]
