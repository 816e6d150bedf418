"""What DynamoDB knows of a table and a store does not: billing, tags, protection. Kept as items in the store itself."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct

from partita.errors import TableInUse, TableNotFound
from partita.store import CreateTable, DeleteItem, GetItem, KeyAttribute, ListTables, PutItem, TableSchema
from partita.wire._parameters import Requests

TABLE: Final = "partita.wire.settings"
"""Made when there is something to keep; no client is shown it in a listing."""

ON_DEMAND: Final = "PAY_PER_REQUEST"


class Throughput(Struct, frozen=True):
    """Provisioned capacity units."""

    read: int = 0
    write: int = 0


class Settings(Struct, frozen=True):
    """One table's settings."""

    billing: str = ON_DEMAND
    throughput: Throughput = Throughput()
    indexes: dict[str, Throughput] = {}
    tags: dict[str, str] = {}
    protected: bool = False
    table_class: str | None = None
    recovery: bool = False


DEFAULT: Final = Settings()


def read_settings(table: str) -> Requests[Settings]:
    """The table's settings, or the default where nothing is kept."""
    try:
        response = yield GetItem(TABLE, {"table": table})
    except TableNotFound:
        return DEFAULT
    return DEFAULT if response.item is None else msgspec.convert(response.item["settings"], Settings)


def keep_settings(table: str, settings: Settings) -> Requests[None]:
    """Keep the table's settings."""
    tables = yield ListTables()
    if TABLE not in tables:
        if settings == DEFAULT:
            return
        with suppress(TableInUse):  # another connection was first
            yield CreateTable(TableSchema(TABLE, KeyAttribute("table")))
    yield PutItem(TABLE, {"table": table, "settings": msgspec.to_builtins(settings)})


def forget_settings(table: str) -> Requests[None]:
    """Keep nothing of a table that is gone."""
    tables = yield ListTables()
    if TABLE in tables:
        yield DeleteItem(TABLE, {"table": table})
