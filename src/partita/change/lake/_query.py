"""SQL over the lake, with the query engine that is included in deltalake."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError

from partita.change.lake._delta import translating
from partita.change.lake._lake import CURRENT_FOLDER, LOG_FOLDER
from partita.change.lake._location import LakeLocation, Place, location_of
from partita.errors import OperationError

_BLANK: Final = r"(?:\s|--[^\r\n]*\r?\n|/\*(?:(?!/\*|\*/).)*\*/)*"
"""White space and comments that all parsers read alike: no nested comments, and no line that ends with CR alone."""
_EXPLAIN: Final = rf"explain\b{_BLANK}(?:(?:analyze|verbose|format{_BLANK}\w+)\b{_BLANK})*"
_READS: Final = re.compile(
    rf"{_BLANK}(?:describe\b{_BLANK}\w+{_BLANK}\Z|(?:{_EXPLAIN})?(?:\({_BLANK})*(?:select|with|values)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""The beginning of a query. It determines what a statement does, and the engine accepts one statement at a time."""
_ALL: Final = "_all"
_DELTA_LOG: Final = "_delta_log"


def query_lake(place: Place, sql: str) -> pa.RecordBatchReader:
    """Return the rows of a query, batch by batch.

    Raises:
        OperationError: there is no lake at this place, or the query is invalid. StoreError: it cannot be read.
    """
    if not _READS.match(sql):
        hint = "Begin with SELECT, WITH or VALUES, or with EXPLAIN and one of these; or DESCRIBE a table."
        raise OperationError("Only queries can be run.", hint=hint)
    location = location_of(place)
    tables = lake_tables(location)
    with translating(location):
        engine = _engine(tables)
    try:
        return pa.RecordBatchReader.from_stream(engine.execute(sql))
    except DeltaError as error:
        raise OperationError(f"The query cannot be run: {error}", hint=f"Tables: {', '.join(tables)}.") from error


def lake_tables(place: Place) -> dict[str, LakeLocation]:
    """Return the table names that a query may use, each with the location of its Delta table.

    `task` has the existing items, `task_all` also the removed ones, and `changes` is the log. If several tables of
    a store are in the lake, `<table>_task` and `<table>_changes` are unambiguous.

    Raises:
        OperationError: there is no lake at this place. StoreError: it cannot be read.
    """
    location = location_of(place)
    owners = {owner: location.child(owner) for owner in location.children()}
    logs = {owner: log for owner, own in owners.items() if _is_delta(log := own.child(LOG_FOLDER))}
    current = [(owner, table) for owner in logs for table in _current_of(owners[owner])]
    if not logs:
        hint = "Fill one with `partita cdc run SERVICE --lake DIR`."
        raise OperationError(f"There is no lake in {location}.", hint=hint)
    found = [*logs.items(), *current]
    uses = Counter(table.name for _, table in found)
    named = {table.name: table for _, table in found if uses[table.name] == 1}
    if len(logs) > 1:
        named |= {f"{_identifier(owner)}_{table.name}": table for owner, table in found}
    removable = {table.uri for _, table in current}
    everything = {f"{name}{_ALL}": table for name, table in named.items() if table.uri in removable}
    return everything | named


def _current_of(location: LakeLocation) -> list[LakeLocation]:
    current = location.child(CURRENT_FOLDER)
    return [table for table in map(current.child, current.children()) if _is_delta(table)]


def _is_delta(location: LakeLocation) -> bool:
    return _DELTA_LOG in location.children()


def _identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", name).lower()


def _engine(tables: Mapping[str, LakeLocation]) -> QueryBuilder:
    engine = QueryBuilder()
    for name, table in tables.items():
        if table.name == LOG_FOLDER or f"{name}{_ALL}" not in tables:
            engine.register(name, DeltaTable(table.uri, storage_options=table.options()))
    for name in tables:
        if f"{name}{_ALL}" in tables:
            live = f"SELECT * EXCEPT (_deleted, _by_ttl) FROM {name}{_ALL} WHERE NOT _deleted"  # noqa: S608 - our names
            engine.execute(f'CREATE VIEW "{name}" AS {live}').read_all()
    return engine
