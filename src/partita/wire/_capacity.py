"""ConsumedCapacity and ItemCollectionMetrics, at the level of detail that the client requests."""

from __future__ import annotations

from collections.abc import Iterable

from partita.store import Capacity, Json, wire_item
from partita.values import Item
from partita.wire._describe import described
from partita.wire._parameters import Requests


def consumed(capacity: Capacity, detail: str, *, transaction: bool = False) -> Requests[Json]:
    """The consumed units of one table; with INDEXES, also those of the table and of each index separately."""
    read, write = capacity.total_read, capacity.total_write
    body: Json = {"TableName": capacity.table, "CapacityUnits": read + write}
    if transaction:
        body |= _split(read, write)
    if detail != "INDEXES":
        return body
    body["Table"] = _units(capacity.read, capacity.write, transaction=transaction)
    if capacity.indexes:
        description = yield from described(capacity.table)
        local = {index.name for index in description.schema.indexes if index.local}
        for name, index_read, index_write in capacity.indexes:
            kind = "LocalSecondaryIndexes" if name in local else "GlobalSecondaryIndexes"
            units = _units(index_read, index_write, transaction=transaction)
            body.setdefault(kind, {})[name] = units
    if capacity.vectors:
        body["VectorIndexes"] = {name: {"VectorWriteRequestBytes": written} for name, _, written in capacity.vectors}
    return body


def all_consumed(capacities: Iterable[Capacity], detail: str, *, transaction: bool = False) -> Requests[list[Json]]:
    """The consumed units of several tables."""
    bodies = []
    for capacity in capacities:
        body = yield from consumed(capacity, detail, transaction=transaction)
        bodies.append(body)
    return bodies


def _units(read: float, write: float, *, transaction: bool) -> Json:
    units = {"CapacityUnits": read + write}
    return units | _split(read, write) if transaction else units


def _split(read: float, write: float) -> Json:
    parts = {"ReadCapacityUnits": read, "WriteCapacityUnits": write}
    return {name: units for name, units in parts.items() if units}


def collection_metrics(table: str, item: Item) -> Requests[Json | None]:
    """The item collection of a written item, or None: only tables with local secondary indexes have them."""
    description = yield from described(table)
    schema = description.schema
    if not any(index.local for index in schema.indexes):
        return None
    key = wire_item({schema.hash.name: item[schema.hash.name]})
    return {"ItemCollectionKey": key, "SizeEstimateRangeGB": [0.0, 1.0]}
