"""Requests and responses of every store, as immutable values.

They follow DynamoDB's API with three differences: values are plain Python, expressions are trees
instead of text, and batch results are in the order of their requests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from partita.expressions import Condition, KeyCondition, Projection, Update
from partita.store._schema import IndexSchema, StreamView, TableSchema
from partita.values import Item

Response_co = TypeVar("Response_co", covariant=True)

Returns: TypeAlias = Literal["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"]
"""Which attributes of the item a write returns."""


class Capacity(Struct, frozen=True):
    """Capacity units consumed on one table, separately for the table and each of its indexes."""

    table: str
    read: float = 0.0
    write: float = 0.0
    indexes: tuple[tuple[str, float, float], ...] = ()
    """Name, read units and write units of each index that consumed any."""
    vectors: tuple[tuple[str, float, float], ...] = ()
    """Name, bytes searched and bytes written of each vector index, which is charged by the byte instead of in units."""
    searched_least: float | None = None
    """A lower bound of the bytes searched (those of the matches), if the bytes searched are an upper bound."""

    @property
    def total_read(self) -> float:
        """Read units of the table and its indexes."""
        return self.read + sum(read for _, read, _ in self.indexes)

    @property
    def total_write(self) -> float:
        """Write units of the table and its indexes."""
        return self.write + sum(write for _, _, write in self.indexes)

    @property
    def searched(self) -> float:
        """Bytes of vectors that were searched."""
        return sum(searched for _, searched, _ in self.vectors)


# --- responses ---


class ItemResponse(Struct, frozen=True):
    """The item, or None if it does not exist; an empty item if the projection matched nothing."""

    item: Item | None
    capacity: Capacity


class WriteResponse(Struct, frozen=True):
    """The attributes that `returns` requested; None if there are none."""

    attributes: Item | None
    capacity: Capacity


class PageResponse(Struct, frozen=True):
    """One page. `count` is after the filter, `scanned` before it. `last_key` is the start key of the next page."""

    items: list[Item]
    count: int
    scanned: int
    last_key: Item | None
    capacity: Capacity


class BatchGetResponse(Struct, frozen=True):
    """Items in the order of the gets; None for missing items and for gets that are listed in `unprocessed`."""

    items: list[Item | None]
    unprocessed: tuple[GetItem, ...]
    capacity: tuple[Capacity, ...]


class BatchWriteResponse(Struct, frozen=True):
    """The writes that were left unprocessed."""

    unprocessed: tuple[PutItem | DeleteItem, ...]
    capacity: tuple[Capacity, ...]


class TransactGetResponse(Struct, frozen=True):
    """Items in the order of the gets, all as of one instant."""

    items: list[Item | None]
    capacity: tuple[Capacity, ...]


class TransactWriteResponse(Struct, frozen=True):
    """The transaction succeeded. `replayed`: its token was used before, so nothing was executed again."""

    capacity: tuple[Capacity, ...]
    replayed: bool = False


class TableDescription(Struct, frozen=True):
    """A table and its state; item count and size are estimates for large tables."""

    schema: TableSchema
    created_at: float
    item_count: int
    size_bytes: int
    stream_id: str | None = None
    status: str = "ACTIVE"
    """`CREATING` or `UPDATING` while the store creates or changes the table."""
    building: tuple[str, ...] = ()
    """The indexes that cannot be read yet."""


class StreamRecord(Struct, frozen=True):
    """One change of one item. `by_ttl`: the item expired and was deleted by the TTL sweeper."""

    sequence: int
    event: Literal["INSERT", "MODIFY", "REMOVE"]
    keys: Item
    old: Item | None
    new: Item | None
    at: float
    size: int
    by_ttl: bool = False


class StreamPage(Struct, frozen=True):
    """Records after a position; `closed` if the shard has no records after these and never will."""

    records: list[StreamRecord]
    closed: bool = False


class StreamPosition(Struct, frozen=True):
    """A position in a shard, after a sequence; None if the shard has no record at or after the requested time."""

    after: int | None


class Shard(Struct, frozen=True):
    """One shard of a stream, with its parent if it was split from one, or both parents if two were merged."""

    id: str
    parent: str | None = None
    closed: bool = False
    trimmed: int = 0
    """Records up to this sequence are no longer kept."""
    newest: int | None = None
    """The sequence of its last record (`start` if it has none); None for stores whose sequences have gaps."""
    start: int = 0
    """Its sequences are greater than this number, which may be the last sequence of its parent."""
    other_parent: str | None = None

    @property
    def parents(self) -> tuple[str, ...]:
        """The parent shards, whose changes precede those of this shard."""
        return tuple(parent for parent in (self.parent, self.other_parent) if parent is not None)


class StreamDescription(Struct, frozen=True):
    """A table's stream and its shards, oldest first."""

    stream_id: str
    view: StreamView
    enabled: bool
    shards: tuple[Shard, ...]


# --- requests ---


class Request(Struct, Generic[Response_co], frozen=True):
    """A request whose response is a `Response_co`."""


class GetItem(Request[ItemResponse], frozen=True):
    """Read one item by its key."""

    table: str
    key: Item
    consistent: bool = False
    projection: Projection | None = None


class PutItem(Request[WriteResponse], frozen=True):
    """Write a whole item. `on_failure_item`: include the stored item in the error if the condition is false."""

    table: str
    item: Item
    condition: Condition | None = None
    returns: Returns = "NONE"
    on_failure_item: bool = False


class UpdateItem(Request[WriteResponse], frozen=True):
    """Change one item, or create it."""

    table: str
    key: Item
    update: Update
    condition: Condition | None = None
    returns: Returns = "NONE"
    on_failure_item: bool = False


class DeleteItem(Request[WriteResponse], frozen=True):
    """Delete one item; succeeds if the item does not exist."""

    table: str
    key: Item
    condition: Condition | None = None
    returns: Returns = "NONE"
    on_failure_item: bool = False


class ConditionCheck(Struct, frozen=True):
    """A part of a transaction that requires an item to satisfy a condition."""

    table: str
    key: Item
    condition: Condition
    on_failure_item: bool = False


class QueryTable(Request[PageResponse], frozen=True):
    """Read a range of one partition of the table or of an index."""

    table: str
    key_condition: KeyCondition
    index: str | None = None
    filter: Condition | None = None
    projection: Projection | None = None
    limit: int | None = None
    start: Item | None = None
    forward: bool = True
    consistent: bool = False
    count_only: bool = False


class ScanTable(Request[PageResponse], frozen=True):
    """Read the whole table or index, page by page; `segment` and `segments` are for parallel scans."""

    table: str
    index: str | None = None
    filter: Condition | None = None
    projection: Projection | None = None
    limit: int | None = None
    start: Item | None = None
    segment: int = 0
    segments: int = 1
    consistent: bool = False
    count_only: bool = False


class BatchGetItem(Request[BatchGetResponse], frozen=True):
    """Up to 100 gets of different items."""

    gets: tuple[GetItem, ...]


class BatchWriteItem(Request[BatchWriteResponse], frozen=True):
    """Up to 25 unconditional puts and deletes of different items."""

    writes: tuple[PutItem | DeleteItem, ...]


class TransactGetItems(Request[TransactGetResponse], frozen=True):
    """Up to 100 gets that all read the state of one instant."""

    gets: tuple[GetItem, ...]


TransactAction: TypeAlias = PutItem | UpdateItem | DeleteItem | ConditionCheck
"""One part of a write transaction."""


class TransactWriteItems(Request[TransactWriteResponse], frozen=True):
    """Up to 100 writes of different items, all or nothing. A request with a known `token` is not executed again."""

    actions: tuple[TransactAction, ...]
    token: str | None = None


class CreateTable(Request[TableDescription], frozen=True):
    """Create a table with its indexes, TTL attribute and stream."""

    schema: TableSchema


class DescribeTable(Request[TableDescription], frozen=True):
    """Describe a table: its schema and state."""

    table: str


class DeleteTable(Request[TableDescription], frozen=True):
    """Delete a table with all its items."""

    table: str


class ListTables(Request[tuple[str, ...]], frozen=True):
    """All table names, sorted."""


class CreateIndex(Request[TableDescription], frozen=True):
    """Add a global index to a table and fill it from the items.

    `progress` receives the amount done and the approximate total; remote stores never call it.
    """

    table: str
    index: IndexSchema
    progress: Callable[[int, int], object] | None = None


class DeleteIndex(Request[TableDescription], frozen=True):
    """Remove a global index from a table."""

    table: str
    index: str


class SetTimeToLive(Request[TableDescription], frozen=True):
    """Set the TTL attribute of a table, or disable TTL with None."""

    table: str
    attribute: str | None


class SetStream(Request[TableDescription], frozen=True):
    """Enable a table's stream with a view, or disable it with None."""

    table: str
    view: StreamView | None


class DescribeStream(Request[StreamDescription], frozen=True):
    """A table's stream and its shards."""

    table: str


class ReadStream(Request[StreamPage], frozen=True):
    """Read records of a shard after a sequence number (0: from the oldest kept record)."""

    table: str
    shard: str
    after: int = 0
    limit: int = 1000


class FindInStream(Request[StreamPosition], frozen=True):
    """Find the position before a shard's first record at or after an instant, in seconds since the epoch."""

    table: str
    shard: str
    instant: float


DataRequest: TypeAlias = (
    GetItem
    | PutItem
    | UpdateItem
    | DeleteItem
    | QueryTable
    | ScanTable
    | BatchGetItem
    | BatchWriteItem
    | TransactGetItems
    | TransactWriteItems
)
"""A request about items."""
