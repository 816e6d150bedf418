"""The types of DynamoDB's responses, with the names of its API, and their conversion to plain values."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError

from partita.errors import ValidationFailed
from partita.store._dynamodb_json import plain_number
from partita.store._requests import Capacity
from partita.values import MAX_DIGITS, Item

ItemForm = TypeVar("ItemForm")

Direction: TypeAlias = Literal["read", "write"]

NonEmptyTexts: TypeAlias = Annotated[frozenset[str], Meta(min_length=1)]


class TaggedValue(Struct, gc=False):
    """An attribute value with its type tag; decoding into slots is faster than into a dictionary per value."""

    S: str | UnsetType = UNSET
    N: str | UnsetType = UNSET
    BOOL: bool | UnsetType = UNSET
    M: dict[str, TaggedValue] | UnsetType = UNSET
    SS: NonEmptyTexts | UnsetType = UNSET
    L: list[TaggedValue] | UnsetType = UNSET
    NULL: bool | UnsetType = UNSET
    NS: Annotated[list[str], Meta(min_length=1)] | UnsetType = UNSET
    B: bytes | UnsetType = UNSET
    BS: Annotated[frozenset[bytes], Meta(min_length=1)] | UnsetType = UNSET


TaggedItem: TypeAlias = dict[str, TaggedValue]


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


def plain(item: TaggedItem) -> Item:
    """Remove the type tags of an item, in place, and return the same dictionary."""
    result: Item = item  # avoids the cost of a call of `cast` for each item
    for name, tagged in item.items():  # the common types are handled without a call
        if (text := tagged.S) is not UNSET:
            result[name] = text
        elif (digits := tagged.N) is not UNSET:
            whole = digits.isdigit() and digits.isascii() and len(digits) <= MAX_DIGITS
            result[name] = int(digits) if whole else received_number(digits)
        elif (truth := tagged.BOOL) is not UNSET:
            result[name] = truth
        elif (members := tagged.M) is not UNSET:
            result[name] = plain(members)
        elif (texts := tagged.SS) is not UNSET:
            result[name] = texts
        else:
            result[name] = plain_value(tagged)
    return result


def plain_value(tagged: TaggedValue) -> Any:  # noqa: PLR0911 - one line for each type, the common ones first
    """A value without its type tag."""
    if (text := tagged.S) is not UNSET:
        return text
    if (members := tagged.M) is not UNSET:
        return plain(members)
    if (texts := tagged.SS) is not UNSET:
        return texts
    if (digits := tagged.N) is not UNSET:
        return received_number(digits)
    if (elements := tagged.L) is not UNSET:
        return [plain_value(element) for element in elements]
    if tagged.BOOL is not UNSET:
        return tagged.BOOL
    if tagged.NS is not UNSET:
        return frozenset(map(received_number, tagged.NS))
    if tagged.B is not UNSET:
        return tagged.B
    return _null(tagged) if tagged.BS is UNSET else tagged.BS


def received_number(text: str) -> int | Decimal:
    """Parse a number of a response. An invalid number is an error of the response, not of the request.

    Raises:
        ValidationError: the text is not a valid DynamoDB number.
    """
    try:
        return plain_number(text)
    except ValidationFailed as error:
        raise ValidationError(f"{text[:MAX_DIGITS]!r} is not a number") from error


def _null(tagged: TaggedValue) -> None:
    if tagged.NULL is UNSET:  # an unknown type must not be read as null, and later written back as null
        raise ValidationError("an attribute value has an unknown type")


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
