"""What DynamoDB knows of a table and a store does not. Kept as items in the store itself."""

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
"""Made when there is something to keep; no client is shown it in a listing."""

BACKUPS: Final = "partita.wire.backup."
"""What the names of tables begin with that hold backups of others."""

ON_DEMAND: Final = "PAY_PER_REQUEST"
PROVISIONED: Final = "PROVISIONED"
OWN: Final = "/"
"""What stands for the table itself where others stand by the name of an index or a stream."""


class Throughput(Struct, frozen=True):
    """Provisioned capacity units, and when they were changed, in milliseconds."""

    read: int = 0
    write: int = 0
    increased_at: int | None = None
    decreased_at: int | None = None
    decreases: int = 0
    """On the day of the last one."""


class Units(Struct, frozen=True):
    """Read and write units, either of which may be open."""

    read: int | None = None
    write: int | None = None


class Insights(Struct, frozen=True):
    """Contributor insights of a table or an index."""

    enabled: bool
    mode: str
    at: int


class Destination(Struct, frozen=True):
    """A Kinesis stream that changes should go to."""

    stream: str
    active: bool
    precision: str | None = None


class Policy(Struct, frozen=True):
    """A policy, and the number of its version."""

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
    """When it was last made an on-demand table, if ever."""
    class_at: int | None = None
    encryption_key: str | None = None
    """The ARN of the key; None for the one that AWS owns."""
    request_limits: dict[str, Units] = {}
    """The most that may be asked of an on-demand table in a second: by index."""
    warm: dict[str, Units] = {}
    """What it can take at once: by index, where it is more than capacity says."""
    insights: dict[str, Insights] = {}
    destinations: dict[str, Destination] = {}
    policies: dict[str, Policy] = {}
    """By the label of the stream."""


DEFAULT: Final = Settings()


def is_own(table: str) -> bool:
    """Whether a table is the server's own, which no client is shown."""
    return table in (TABLE, JOURNAL.name) or table.startswith(BACKUPS)


def make_settings_table() -> Requests[None]:
    """Make the table that settings are kept in, where there is none."""
    tables = yield ListTables()
    if TABLE not in tables:
        with suppress(TableInUse):  # another connection was first
            yield CreateTable(TableSchema(TABLE, KeyAttribute("table")))


def read_settings(table: str) -> Requests[Settings]:
    """The table's settings, or the default where nothing is kept."""
    try:
        response = yield GetItem(TABLE, {"table": table})
    except TableNotFound:
        return DEFAULT
    return DEFAULT if response.item is None else msgspec.convert(response.item["settings"], Settings)


def keep_settings(table: str, settings: Settings) -> Requests[None]:
    """Keep the table's settings."""
    if settings == DEFAULT:
        tables = yield ListTables()
        if TABLE not in tables:
            return
    yield from make_settings_table()
    yield PutItem(TABLE, {"table": table, "settings": msgspec.to_builtins(settings)})


def forget_settings(table: str) -> Requests[None]:
    """Keep nothing of a table that is gone."""
    tables = yield ListTables()
    if TABLE in tables:
        yield DeleteItem(TABLE, {"table": table})
