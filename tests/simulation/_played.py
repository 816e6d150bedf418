"""Replay the stream of a table from its beginning, and compare the result with the table."""

from __future__ import annotations

from typing import Any

from tests.simulation._world import World, expect

from partita import Table
from partita.store import DescribeStream, ReadStream, StreamRecord
from partita.values import Item


class Played:
    """The items that the stream of a table produces. After a crash of the server, the replay starts again."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._crashes = -1
        self._items: dict[tuple[Any, ...], Item] = {}
        self._after: dict[str, int] = {}

    def check(self, world: World, items: list[Item]) -> None:
        """Check that replaying the stream produces these items of the table."""
        names = [attribute.name for attribute in self._table.schema.key]
        found = {tuple(item[name] for name in names): item for item in items}
        expect(self._on(world, names) == found, "replaying the stream does not produce the table")

    def _on(self, world: World, names: list[str]) -> dict[tuple[Any, ...], Item]:
        """Apply the new records, and return all items."""
        if self._crashes != world.server.crashes:
            self._crashes, self._items, self._after = world.server.crashes, {}, {}
        store, table = world.server.front, self._table.name
        for shard in store.execute(DescribeStream(table)).shards:
            while records := store.execute(ReadStream(table, shard.id, self._after.get(shard.id, 0))).records:
                for record in records:
                    self._apply(record, tuple(record.keys[name] for name in names))
                self._after[shard.id] = records[-1].sequence
        return self._items

    def _apply(self, record: StreamRecord, key: tuple[Any, ...]) -> None:
        expect(record.old == self._items.get(key), "the old image of a record of {} is not the item before it", key)
        if record.new is None:
            self._items.pop(key)
        else:
            self._items[key] = record.new
