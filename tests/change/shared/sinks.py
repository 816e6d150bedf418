"""Sinks that several processes share, and the changes that they have recorded."""

from __future__ import annotations

from collections import Counter
from typing import Any

import apsw
from tests.change.model import TABLE, Secret

from partita.change import ItemChange, SqliteProjection
from partita.change.lake import Lake, query_lake
from partita.change.shared import LeasePolicy

POLICY = LeasePolicy(seconds=4.0, every=0.5)


def note(connection: apsw.Connection, change: ItemChange) -> None:
    """Record every change, so that duplicates can be found."""
    row = (change.shard, str(change.sequence), "#".join(map(str, change.keys.values())))
    connection.execute("INSERT INTO seen VALUES (?, ?, ?)", row)


def projection_at(path: Any) -> SqliteProjection:
    """Return a projection that records every change."""
    return SqliteProjection(path, tables="CREATE TABLE seen (shard, sequence, key)", apply=note)


def open_sink(kind: str, place: str) -> Any:
    """Open a sink for one process."""
    return projection_at(place) if kind == "projection" else Lake(place, TABLE, shared_by="test")


def seen(kind: str, place: str) -> Counter[tuple[str, int]]:
    """Return how often the sink has each change."""
    if kind == "projection":
        rows = projection_at(place).read("SELECT shard, sequence FROM seen WHERE shard <> ''")
        return Counter((shard, int(sequence)) for shard, sequence in rows)
    found = query_lake(place, "SELECT _shard, _sequence FROM changes WHERE _kind <> 'snapshot'").read_all().to_pylist()
    return Counter((row["_shard"], int(row["_sequence"])) for row in found)


def belongs(kind: str, keys: dict[str, Any]) -> bool:
    """Whether a sink of this kind keeps the changes of an item."""
    return kind == "projection" or not Secret.__entity__.owns(keys)
