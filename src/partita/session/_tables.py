"""Bringing the tables of a store in line with their declarations. This only adds, and never deletes."""

from __future__ import annotations

from collections.abc import Iterable

from partita.errors import ModelError, TableInUse, TableNotFound, ValidationFailed
from partita.model import Table
from partita.session._retries import StoreRequests
from partita.store import (
    CreateIndex,
    CreateTable,
    CreateVectorIndex,
    DescribeTable,
    SetStream,
    SetTimeToLive,
    TableDescription,
    TableSchema,
)


def ensure_tables(tables: Iterable[Table]) -> StoreRequests[None]:
    """Create the missing parts of each table; another process may be doing the same.

    Raises:
        ModelError: an element is not a table, or `tables` is a single table; or a stored table has other settings.
    """
    hint = "Pass a list of tables, as in create_tables([TABLE])."
    if isinstance(tables, Table) or not isinstance(tables, Iterable):
        raise ModelError(f"{tables!r} is not a list of tables.", hint=hint)
    for table in tables:
        if not isinstance(table, Table):
            raise ModelError(f"{getattr(table, '__name__', repr(table))} is not a table.", hint=hint)
        yield from _ensure_table(table.schema)


def _ensure_table(declared: TableSchema) -> StoreRequests[None]:
    try:
        description: TableDescription = yield DescribeTable(declared.name)
    except TableNotFound:
        try:
            yield CreateTable(declared)
        except TableInUse:
            yield from _ensure_table(declared)
        return
    try:
        yield from _add_missing(declared, description.schema)
    except (TableInUse, ValidationFailed):
        found: TableDescription = yield DescribeTable(declared.name)
        if found.schema == description.schema:
            raise
        yield from _ensure_table(declared)  # another process has added something in the meantime


def _add_missing(declared: TableSchema, stored: TableSchema) -> StoreRequests[None]:
    if declared.key != stored.key:
        raise ModelError(
            f"The table {declared.name!r} exists with the key {_names(stored)}, but {_names(declared)} is declared.",
            hint="A table's key cannot be changed: declare another table and copy the items.",
        )
    yield from _add_indexes(declared, stored)
    if declared.ttl is not None and stored.ttl is None:
        yield SetTimeToLive(declared.name, declared.ttl)
    elif declared.ttl not in (None, stored.ttl):
        raise _differs(declared.name, "ttl", stored.ttl, declared.ttl)
    if declared.stream is not None and stored.stream is None:
        yield SetStream(declared.name, declared.stream)
    elif declared.stream not in (None, stored.stream):
        raise _differs(declared.name, "stream", stored.stream, declared.stream)


def _add_indexes(declared: TableSchema, stored: TableSchema) -> StoreRequests[None]:
    for index in declared.indexes:
        found = stored.index(index.name)
        if found is None and not index.local:
            yield CreateIndex(declared.name, index)
        elif found is None or not found.is_like(index):
            raise _other_index(declared.name, index.name)
    for vectors in declared.vectors:
        known = stored.vector(vectors.name)
        if known is None:
            yield CreateVectorIndex(declared.name, vectors)
        elif not known.is_like(vectors):
            raise _other_index(declared.name, vectors.name)


def _other_index(table: str, index: str) -> ModelError:
    message = f"The index {index!r} of {table!r} differs in the store from its declaration."
    return ModelError(message, hint="Declare it under another name; an index cannot be changed.")


def _differs(table: str, setting: str, stored: str | None, declared: str | None) -> ModelError:
    message = f"The table {table!r} is stored with {setting}={stored!r}, but {setting}={declared!r} is declared."
    return ModelError(message, hint="Declare the stored setting, or switch the setting off in the store first.")


def _names(schema: TableSchema) -> str:
    return " and ".join(attribute.name for attribute in schema.key)
