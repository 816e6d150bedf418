"""The table of the target: created like that of the source, or refused if its key is different."""

from __future__ import annotations

from collections.abc import Iterator

from partita.errors import CopyRefused, TableNotFound
from partita.store import CreateTable, DescribeTable, ScanTable, Store, TableDescription, TableSchema


def described(store: Store, table: str) -> TableDescription | None:
    """Return a store's description of a table; None if there is no table of that name."""
    try:
        return store.execute(DescribeTable(table))
    except TableNotFound:
        return None


def ensure_table(store: Store, schema: TableSchema) -> TableDescription:
    """Create the table if it is missing, with keys, indexes, TTL and stream.

    Raises:
        CopyRefused: the table exists with another key.
    """
    found = described(store, schema.name)
    if found is None:
        return store.execute(CreateTable(schema))
    if found.schema.key != schema.key:
        hint = "Delete that table, or copy to tables with other names (--to-prefix)."
        raise CopyRefused(f"The table {schema.name} of the target has another key: {_shown(found.schema)}.", hint=hint)
    return found


def table_differences(source: TableSchema, target: TableSchema) -> Iterator[str]:
    """Yield the differences of the target's table, which a copy leaves as they are."""
    for index in source.indexes:
        other = target.index(index.name)
        if other is None:
            yield f"the index {index.name} is missing"
        elif not index.is_like(other):
            yield f"the index {index.name} is different"
    for vectors in source.vectors:
        known = target.vector(vectors.name)
        if known is None or not vectors.is_like(known):
            yield f"the vector index {vectors.name} is {'missing' if known is None else 'different'}"
    if source.ttl != target.ttl:
        yield f"the TTL attribute is {target.ttl}, not {source.ttl}"
    if source.stream != target.stream:
        yield f"the stream is {target.stream}, not {source.stream}"


def is_empty(store: Store, table: str) -> bool:
    """Whether a table has no items."""
    return store.execute(ScanTable(table, limit=1, consistent=True)).count == 0


def _shown(schema: TableSchema) -> str:
    return ", ".join(f"{attribute.name} ({attribute.type})" for attribute in schema.key)
