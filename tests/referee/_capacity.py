"""Converts DynamoDB's ConsumedCapacity to `Capacity`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from partita.store._requests import Capacity

Direction = Literal["read", "write"]


def capacity(wire: Mapping[str, Any], direction: Direction) -> Capacity:
    """Return the units of one table: those of `direction`, unless the response separates reads from writes."""
    read, write = _units(wire.get("Table", {}), direction)
    indexes = {**wire.get("LocalSecondaryIndexes", {}), **wire.get("GlobalSecondaryIndexes", {})}
    vectors = wire.get("VectorIndexes", {})
    return Capacity(
        table=wire.get("TableName", ""),
        read=read,
        write=write,
        indexes=tuple((name, *_units(part, direction)) for name, part in sorted(indexes.items())),
        vectors=tuple((name, 0.0, float(part["VectorWriteRequestBytes"])) for name, part in sorted(vectors.items())),
    )


def capacities(wires: Iterable[Mapping[str, Any]], direction: Direction) -> tuple[Capacity, ...]:
    """Return the units of each table that a batch or transaction used."""
    return tuple(capacity(wire, direction) for wire in wires)


def _units(part: Mapping[str, Any], direction: Direction) -> tuple[float, float]:
    if "ReadCapacityUnits" in part or "WriteCapacityUnits" in part:
        return float(part.get("ReadCapacityUnits", 0)), float(part.get("WriteCapacityUnits", 0))
    units = float(part.get("CapacityUnits", 0))
    return (units, 0.0) if direction == "read" else (0.0, units)
