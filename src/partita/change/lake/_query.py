"""SQL over the lake, by the query engine that comes with deltalake."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError

from partita.change.lake._lake import CURRENT_FOLDER, LOG_FOLDER
from partita.errors import OperationError

_BLANK: Final = r"(?:\s|--[^\r\n]*\r?\n|/\*(?:(?!/\*|\*/).)*\*/)*"
"""Spaces and comments that every parser ends at the same place: none in another, no line that ends with CR alone."""
_EXPLAIN: Final = rf"explain\b{_BLANK}(?:(?:analyze|verbose|format{_BLANK}\w+)\b{_BLANK})*"
_READS: Final = re.compile(
    rf"{_BLANK}(?:describe\b{_BLANK}\w+{_BLANK}\Z|(?:{_EXPLAIN})?(?:\({_BLANK})*(?:select|with|values)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""How a query begins. What a statement does is decided by its beginning, and the engine takes one at a time."""
_ALL: Final = "_all"


def query_lake(folder: str | Path, sql: str) -> pa.RecordBatchReader:
    """The rows of a query, batch by batch.

    Raises:
        OperationError: there is no lake in the folder, or the query is wrong.
    """
    if not _READS.match(sql):
        hint = "Begin with SELECT, WITH or VALUES, or with EXPLAIN and one of these; or DESCRIBE a table."
        raise OperationError("Only queries can be run.", hint=hint)
    tables = lake_tables(folder)
    try:
        return pa.RecordBatchReader.from_stream(_engine(tables).execute(sql))
    except DeltaError as error:
        raise OperationError(f"The query cannot be run: {error}", hint=f"There is: {', '.join(tables)}.") from error


def lake_tables(folder: str | Path) -> dict[str, Path]:
    """What a query may name, with the Delta table behind it.

    `task` has the items that there are, `task_all` also the removed ones, `changes` is the log. Where several tables of
    a store are in the lake, `<table>_task` and `<table>_changes` are unambiguous.

    Raises:
        OperationError: there is no lake in the folder.
    """
    logs = sorted(path.parent for path in Path(folder).glob(f"*/{LOG_FOLDER}/_delta_log"))
    current = sorted(path.parent for path in Path(folder).glob(f"*/{CURRENT_FOLDER}/*/_delta_log"))
    if not logs:
        hint = "Fill one with `partita cdc run SERVICE --lake DIR`."
        raise OperationError(f"There is no lake in {folder}.", hint=hint)
    owners = {path: path.parent.name for path in logs} | {path: path.parent.parent.name for path in current}
    uses = Counter(path.name for path in owners)
    named = {path.name: path for path in owners if uses[path.name] == 1}
    if len(logs) > 1:
        named |= {f"{_identifier(owner)}_{path.name}": path for path, owner in owners.items()}
    everything = {f"{name}{_ALL}": path for name, path in named.items() if path in current}
    return everything | named


def _identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", name).lower()


def _engine(tables: Mapping[str, Path]) -> QueryBuilder:
    engine = QueryBuilder()
    for name, path in tables.items():
        if path.name == LOG_FOLDER or f"{name}{_ALL}" not in tables:
            engine.register(name, DeltaTable(path))
    for name in tables:
        if f"{name}{_ALL}" in tables:
            live = f"SELECT * EXCEPT (_deleted, _by_ttl) FROM {name}{_ALL} WHERE NOT _deleted"  # noqa: S608 - our names
            engine.execute(f'CREATE VIEW "{name}" AS {live}').read_all()
    return engine
