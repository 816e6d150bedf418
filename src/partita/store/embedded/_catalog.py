"""The tables of a file, read into memory.

Every change of the catalog increments the generation stored in the file. A writer compares it at the
start of each batch; a reader reloads the catalog when a table or an index is not in its own copy.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import apsw
import msgspec
from msgspec import Struct

from partita.errors import StoreDamaged
from partita.store._schema import IndexSchema, TableSchema
from partita.store.embedded._file import has_table
from partita.store.embedded._table import Stream, Table, not_found

_SQL_TABLES = "SELECT id, definition FROM tables"
_SQL_INDEXES = "SELECT table_id, name, id FROM indexes"
_SQL_STREAMS = "SELECT table_id, id, view FROM streams WHERE closed_at IS NULL"
_SQL_SHARDS = "SELECT high, id, start FROM stream_shards"
_SQL_LOGS = "SELECT table_id FROM recovery"
_SQL_BUILDS = "SELECT table_id, number, definition FROM index_builds ORDER BY number"
_SQL_GENERATION = "SELECT generation FROM store"

_definition = msgspec.json.Decoder(TableSchema)
_index = msgspec.json.Decoder(IndexSchema)


class Tables(dict[str, Table]):
    """Tables by name; looking up a missing table raises TableNotFound."""

    def __missing__(self, name: str) -> Table:
        raise not_found(name)


class Catalog(Struct, frozen=True):
    """All tables as of one generation."""

    generation: int
    tables: Tables


EMPTY = Catalog(0, Tables())


def generation(connection: apsw.Connection) -> int:
    """The catalog's generation in the file."""
    return connection.execute(_SQL_GENERATION).get  # type: ignore[no-any-return]


def load(connection: apsw.Connection) -> Catalog:
    """Read the whole catalog. Call this within a transaction, so that its parts are consistent.

    Raises:
        StoreDamaged: its parts do not match, or cannot be decoded.
    """
    try:
        return _load(connection)
    except (KeyError, msgspec.MsgspecError) as error:
        raise StoreDamaged(f"The catalog of the store {connection.filename} is damaged ({error!r}).") from error


def _load(connection: apsw.Connection) -> Catalog:
    indexes: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for table_id, name, number in connection.execute(_SQL_INDEXES):
        indexes[table_id][name] = number
    streams = _streams(connection)
    logged = {number for (number,) in connection.execute(_SQL_LOGS)} if has_table(connection, "recovery") else ()
    building = _building(connection)
    tables = Tables()
    for table_id, definition in connection.execute(_SQL_TABLES):
        schema, stream = _definition.decode(definition), streams.get(table_id)
        unfinished = building[table_id]
        table = Table(table_id, schema, indexes[table_id], stream, is_logged=table_id in logged, building=unfinished)
        tables[table.name] = table
    return Catalog(generation(connection), tables)


def _building(connection: apsw.Connection) -> defaultdict[int, list[tuple[int, IndexSchema]]]:
    """The unfinished indexes of each table, with their numbers and definitions."""
    building: defaultdict[int, list[tuple[int, IndexSchema]]] = defaultdict(list)
    rows = connection.execute(_SQL_BUILDS) if has_table(connection, "index_builds") else ()
    for table_id, number, definition in rows:
        building[table_id].append((number, _index.decode(definition)))
    return building


def _streams(connection: apsw.Connection) -> dict[int, Stream]:
    """The enabled stream of each table; it has several shards if it was split."""
    found: Any = connection.execute(_SQL_SHARDS) if has_table(connection, "stream_shards") else ()
    shards_by_number = {number: (end, number, start) for end, number, start in found}
    streams: dict[int, Stream] = {}
    for table_id, number, view in connection.execute(_SQL_STREAMS):
        before = streams.get(table_id)
        shard = shards_by_number.get(number)
        shards = () if shard is None else tuple(sorted((shard, *(before.shards if before else ()))))
        streams[table_id] = Stream(number, view, shards)
    return streams


def changed(connection: apsw.Connection) -> Catalog:
    """Increment the generation after a change, and reload the catalog."""
    connection.execute("UPDATE store SET generation = generation + 1")
    return load(connection)


def definition_text(schema: TableSchema) -> str:
    """The stored form of a table's definition."""
    return msgspec.json.encode(schema).decode()
