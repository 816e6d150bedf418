"""Settings of tables that stores do not have, saved as items in the store itself."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct

from partita.bulk import JOURNAL
from partita.errors import TableInUse, TableNotFound
from partita.store import CreateTable, DeleteItem, GetItem, KeyAttribute, ListTables, PutItem, TableSchema
from partita.wire._parameters import Requests

TABLE: Final = "partita.wire.settings"
"""The table with the settings, created when it is first needed; clients do not see it in listings."""

BACKUPS: Final = "partita.wire.backup."
"""The prefix of the names of tables that hold backups of others."""

ON_DEMAND: Final = "PAY_PER_REQUEST"
PROVISIONED: Final = "PROVISIONED"
OWN: Final = "/"
"""The key for the table itself in mappings by index name or stream label."""


class Throughput(Struct, frozen=True):
    """Provisioned capacity units, and the times of their changes in milliseconds."""

    read: int = 0
    write: int = 0
    increased_at: int | None = None
    decreased_at: int | None = None
    decreases: int = 0
    """The number of decreases on the day of the last one."""


class Units(Struct, frozen=True):
    """Read and write units; None if not set."""

    read: int | None = None
    write: int | None = None


class Insights(Struct, frozen=True):
    """Contributor insights of a table or an index."""

    enabled: bool
    mode: str
    at: int


class Destination(Struct, frozen=True):
    """A Kinesis stream as a destination of changes."""

    stream: str
    active: bool
    precision: str | None = None


class Policy(Struct, frozen=True):
    """A policy and its revision number."""

    text: str
    revision: str


class Settings(Struct, frozen=True):
    """One table's settings; times are in milliseconds."""

    billing: str = ON_DEMAND
    throughput: Throughput = Throughput()
    indexes: dict[str, Throughput] = {}
    tags: dict[str, str] = {}
    protected: bool = False
    table_class: str | None = None
    on_demand_at: int | None = None
    """When it was last switched to on-demand, if ever."""
    class_at: int | None = None
    encryption_key: str | None = None
    """The ARN of the key; None for the key that AWS owns."""
    request_limits: dict[str, Units] = {}
    """Maximum request units per second of an on-demand table, by index."""
    warm: dict[str, Units] = {}
    """Warm throughput, by index, if it exceeds that of the capacity settings."""
    insights: dict[str, Insights] = {}
    destinations: dict[str, Destination] = {}
    policies: dict[str, Policy] = {}
    """By stream label."""


DEFAULT: Final = Settings()


def is_own(table: str) -> bool:
    """Whether a table is internal to the server and hidden from clients."""
    return table in (TABLE, JOURNAL.name) or table.startswith(BACKUPS)


def make_settings_table() -> Requests[None]:
    """Create the settings table if it does not exist."""
    tables = yield ListTables()
    if TABLE not in tables:
        with suppress(TableInUse):  # another connection has just created it
            yield CreateTable(TableSchema(TABLE, KeyAttribute("table")))


def read_settings(table: str) -> Requests[Settings]:
    """The settings of the table, or the default if none are stored."""
    try:
        response = yield GetItem(TABLE, {"table": table})
    except TableNotFound:
        return DEFAULT
    return DEFAULT if response.item is None else msgspec.convert(response.item["settings"], Settings)


def keep_settings(table: str, settings: Settings) -> Requests[None]:
    """Store the settings of the table."""
    if settings == DEFAULT:
        tables = yield ListTables()
        if TABLE not in tables:
            return
    yield from make_settings_table()
    yield PutItem(TABLE, {"table": table, "settings": msgspec.to_builtins(settings)})


def forget_settings(table: str) -> Requests[None]:
    """Delete the settings of a deleted table."""
    tables = yield ListTables()
    if TABLE in tables:
        yield DeleteItem(TABLE, {"table": table})
