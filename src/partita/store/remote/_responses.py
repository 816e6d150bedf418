"""The types of DynamoDB's responses, with the names of its API, and reading them."""

from __future__ import annotations

from typing import Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from partita.store._received import TaggedItem, plain
from partita.store._requests import Capacity
from partita.values import Item

ItemForm = TypeVar("ItemForm")

Direction: TypeAlias = Literal["read", "write"]


class CapacityUnits(Struct, frozen=True, rename="pascal"):
    """The units of a table or an index."""

    capacity_units: float = 0.0
    read_capacity_units: float | None = None
    write_capacity_units: float | None = None


class VectorCapacity(Struct, frozen=True, rename="pascal"):
    """The bytes of a vector index."""

    vector_search_request_bytes: float = 0.0
    vector_write_request_bytes: float = 0.0


class ConsumedCapacity(CapacityUnits, frozen=True, rename="pascal"):
    """The total units, and those of the table and each index separately."""

    table_name: str = ""
    table: CapacityUnits | None = None
    local_secondary_indexes: dict[str, CapacityUnits] = {}
    global_secondary_indexes: dict[str, CapacityUnits] = {}
    vector_indexes: dict[str, VectorCapacity] = {}


class GetItemOutput(Struct, frozen=True, rename="pascal"):
    """The response of GetItem."""

    item: TaggedItem | None = None
    consumed_capacity: ConsumedCapacity | None = None


class WriteItemOutput(Struct, frozen=True, rename="pascal"):
    """The response of PutItem, UpdateItem and DeleteItem."""

    attributes: TaggedItem | None = None
    consumed_capacity: ConsumedCapacity | None = None


class PageOutput(Struct, Generic[ItemForm], frozen=True, rename="pascal"):
    """The response of Query and Scan, with items of one form."""

    count: int
    scanned_count: int
    items: list[ItemForm] = []
    last_evaluated_key: TaggedItem | None = None
    consumed_capacity: ConsumedCapacity | None = None


class SearchResult(Struct, frozen=True, rename="pascal"):
    """One match of a search."""

    item: TaggedItem
    score: float


class SearchVectorsOutput(Struct, frozen=True, rename="pascal"):
    """The response of SearchVectors."""

    search_results: list[SearchResult] = []
    consumed_capacity: VectorCapacity | None = None


class UnprocessedKeys(Struct, frozen=True, rename="pascal"):
    """The unprocessed keys of one table."""

    keys: list[TaggedItem]


class BatchGetItemOutput(Struct, frozen=True, rename="pascal"):
    """The response of BatchGetItem."""

    responses: dict[str, list[TaggedItem]] = {}
    unprocessed_keys: dict[str, UnprocessedKeys] = {}
    consumed_capacity: list[ConsumedCapacity] = []


class PutRequest(Struct, frozen=True, rename="pascal"):
    """A put of a batch."""

    item: TaggedItem


class DeleteRequest(Struct, frozen=True, rename="pascal"):
    """A delete of a batch."""

    key: TaggedItem


class WriteRequest(Struct, frozen=True, rename="pascal"):
    """A put or a delete of a batch."""

    put_request: PutRequest | None = None
    delete_request: DeleteRequest | None = None


class BatchWriteItemOutput(Struct, frozen=True, rename="pascal"):
    """The response of BatchWriteItem."""

    unprocessed_items: dict[str, list[WriteRequest]] = {}
    consumed_capacity: list[ConsumedCapacity] = []


class OptionalItem(Struct, frozen=True, rename="pascal"):
    """One item of a read transaction, or none."""

    item: TaggedItem | None = None


class TransactGetItemsOutput(Struct, frozen=True, rename="pascal"):
    """The response of TransactGetItems."""

    responses: list[OptionalItem]
    consumed_capacity: list[ConsumedCapacity] = []


class TransactWriteItemsOutput(Struct, frozen=True, rename="pascal"):
    """The response of TransactWriteItems."""

    consumed_capacity: list[ConsumedCapacity] = []


def optional_item(item: TaggedItem | None) -> Item | None:
    """The item without type tags, or None."""
    return None if item is None else plain(item)


def capacity_of(consumed: ConsumedCapacity | None, table: str, direction: Direction) -> Capacity:
    """The units of one table and its indexes."""
    if consumed is None:
        return Capacity(table)
    read, write = _units(consumed.table or consumed, direction)
    if not (consumed.local_secondary_indexes or consumed.global_secondary_indexes or consumed.vector_indexes):
        return Capacity(table, read, write)
    indexes = sorted({**consumed.local_secondary_indexes, **consumed.global_secondary_indexes}.items())
    units = tuple((name, *_units(part, direction)) for name, part in indexes)
    return Capacity(table, read, write, units, _bytes_of(consumed))


def _bytes_of(consumed: ConsumedCapacity) -> tuple[tuple[str, float, float], ...]:
    return tuple(
        (name, part.vector_search_request_bytes, part.vector_write_request_bytes)
        for name, part in sorted(consumed.vector_indexes.items())
    )


def capacities_of(consumed: list[ConsumedCapacity], direction: Direction) -> tuple[Capacity, ...]:
    """The units of each table of a batch or transaction."""
    return tuple(capacity_of(each, each.table_name, direction) for each in consumed)


def _units(part: CapacityUnits, direction: Direction) -> tuple[float, float]:
    """Read and write units; units with an explicit direction (of a replayed transaction) override `direction`."""
    if part.read_capacity_units is not None or part.write_capacity_units is not None:
        return part.read_capacity_units or 0.0, part.write_capacity_units or 0.0
    return (part.capacity_units, 0.0) if direction == "read" else (0.0, part.capacity_units)
