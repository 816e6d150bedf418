"""A table under test, with short methods for requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from partita.expressions._ast import KeyCondition, KeyRange, Update
from partita.store._interface import Store
from partita.store._requests import (
    DeleteItem,
    DescribeStream,
    DescribeTable,
    GetItem,
    ItemResponse,
    PageResponse,
    PutItem,
    QueryTable,
    ReadStream,
    ScanTable,
    StreamRecord,
    TableDescription,
    UpdateItem,
    WriteResponse,
)
from partita.store._schema import IndexSchema, KeyType, StreamView, TableSchema
from partita.values._attribute_values import Item


class Clock:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.now = 1_750_000_000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        """Move the time forward."""
        self.now += seconds


class Table:
    """One table of the store; its methods take the parts of a key, in order."""

    def __init__(self, store: Store, schema: TableSchema) -> None:
        self.store = store
        self.schema = schema
        self.name = schema.name

    def key(self, *parts: Any) -> Item:
        """Return the key with these parts."""
        return {attribute.name: part for attribute, part in zip(self.schema.key, parts, strict=True)}

    def put(self, *items: Item, **options: Any) -> WriteResponse:
        """Put each item; return the last response."""
        responses = [self.store.execute(PutItem(self.name, item, **options)) for item in items]
        return responses[-1]

    def read(self, *key: Any, **options: Any) -> ItemResponse:
        """Get an item, and return the whole response."""
        return self.store.execute(GetItem(self.name, self.key(*key), **options))

    def get(self, *key: Any) -> Item | None:
        """Return the item, with a consistent read."""
        return self.read(*key, consistent=True).item

    def update(self, key: tuple[Any, ...], update: Update, **options: Any) -> WriteResponse:
        """Update the item with this key."""
        return self.store.execute(UpdateItem(self.name, self.key(*key), update, **options))

    def delete(self, *key: Any, **options: Any) -> WriteResponse:
        """Delete the item with this key."""
        return self.store.execute(DeleteItem(self.name, self.key(*key), **options))

    def query(self, partition: Any, *span: Any, index: str | None = None, **options: Any) -> PageResponse:
        """Query one partition; `span` is a range operator and its values."""
        attributes = (self.schema.index(index) or self.schema).key if index else self.schema.key
        within = KeyRange(attributes[1].name, span[0], tuple(span[1:])) if span else None
        condition = KeyCondition(((attributes[0].name, partition),), within)
        return self.store.execute(QueryTable(self.name, condition, index=index, **options))

    def pages(self, partition: Any, *span: Any, **options: Any) -> Iterator[PageResponse]:
        """Yield all pages of a query, each from the last key of the previous one."""
        start = None
        while True:
            page = self.query(partition, *span, start=start, **options)
            yield page
            start = page.last_key
            if start is None:
                return

    def scan(self, **options: Any) -> PageResponse:
        """Return one page of a scan."""
        return self.store.execute(ScanTable(self.name, **options))

    def describe(self) -> TableDescription:
        """Return the description of the table."""
        return self.store.execute(DescribeTable(self.name))

    def records(self) -> list[StreamRecord]:
        """Return all records of the table's stream."""
        (shard,) = self.store.execute(DescribeStream(self.name)).shards
        return self.store.execute(ReadStream(self.name, shard.id)).records


class MakeTable(Protocol):
    """The type of the fixture `make_table`, which creates a table."""

    def __call__(
        self,
        hash_type: KeyType = "S",
        range_type: KeyType | None = "S",
        *,
        indexes: tuple[IndexSchema, ...] = (),
        ttl: str | None = None,
        stream: StreamView | None = None,
    ) -> Table: ...
