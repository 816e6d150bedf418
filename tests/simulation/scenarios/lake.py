"""The lake: as `items`, with a worker that fills a lake and is killed. At the end, the lake matches the table."""

from __future__ import annotations

from pathlib import Path

from tests.histories._workload import TABLE
from tests.simulation._following import follow
from tests.simulation._world import World, expect
from tests.simulation.scenarios.items import Items

from partita.change.lake import Lake, lake_positions, query_lake
from partita.store import DescribeStream

FOLDER = "lake"


class LakeItems(Items):
    """The scenario `lake`: `items`, and a lake of their table."""

    def start(self, world: World) -> None:
        """Start the clients, and a worker that fills an empty lake."""
        super().start(world)
        world.worker("lake", lambda process: follow(world, process, TABLE, lambda: Lake(_place(world), TABLE)))

    def is_settled(self, world: World) -> bool:
        """Whether `items` is settled, and the lake has the whole stream."""
        return super().is_settled(world) and self._has_caught_up(world)

    def _has_caught_up(self, world: World) -> bool:
        shards = world.server.store.execute(DescribeStream(TABLE.name)).shards
        at = lake_positions(_place(world), TABLE)
        return all(at.get(shard.id) == shard.newest for shard in shards)

    def check_end(self, world: World) -> None:
        """Check that the lake has the items of the table, and its log has each change once."""
        super().check_end(world)
        rows = query_lake(_place(world), "SELECT thing_id, numbers FROM thing").read_all().to_pylist()
        found = {row["thing_id"]: [int(number) for number in row["numbers"]] for row in rows}
        items = [item for item in world.items(TABLE) if item["PK"].startswith("THING#")]
        stored = {item["thing_id"]: [int(number) for number in item.get("numbers", [])] for item in items}
        expect(found == stored, "the lake has {}, the table {}", found, stored)
        sql = "SELECT count(*) AS all_rows, count(DISTINCT _sequence) AS changes FROM changes WHERE _kind <> 'snapshot'"
        (count,) = query_lake(_place(world), sql).read_all().to_pylist()
        expect(count["all_rows"] == count["changes"], "the log of the lake has a change twice: {}", count)


def _place(world: World) -> Path:
    return world.folder / FOLDER
