"""Reading files of items into tables: an export of Partita or DynamoDB, or one file of lines or rows.

The checksum of every file is verified before the first item is written. A file without one is first read to its end.
The progress is stored in the target, as for copies, so that an interrupted import resumes.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from partita.errors import CopyRefused, ExportDamaged, PartitaError
from partita.runtime import Pace, chunks
from partita.store import PutItem, Store, TableSchema
from partita.transfer._checkpoint import Checkpoint, CopyState
from partita.transfer._copy import CopyOptions
from partita.transfer._csv import csv_writes
from partita.transfer._lines import dynamodb_write, json_write
from partita.transfer._manifest import DataFile, ExportedTable, Format, check_files, md5_of, read_exports
from partita.transfer._sides import Outside, PatientStore, Side
from partita.transfer._tables import described, ensure_table
from partita.transfer._writing import ItemWriter, Write
from partita.values import encode_item

CHUNK: Final = 1_000
_UNREADABLE: Final = (
    csv.Error,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    ArithmeticError,
    EOFError,
    OSError,
    zlib.error,
    msgspec.MsgspecError,
    PartitaError,
)
_FORMATS: Final[dict[str, Format]] = {".jsonl": "jsonl", ".csv": "csv", ".json": "dynamodb", ".gz": "dynamodb"}


class Import:
    """Files to import, which are checked before anything is written."""

    def __init__(self, path: Path, table: str | None = None) -> None:
        """Find the files, and check them.

        Args:
            path: the folder of an export, or one file of items.
            table: the table for a single file; or, for an export of one table, another name for that table.

        Raises:
            ExportDamaged: a file is missing, truncated or altered. CopyRefused: the table is not specified.
        """
        self.exports = read_exports(path) if path.is_dir() else [_single(path, table)]
        if table is not None:
            if len(self.exports) != 1:
                raise CopyRefused(f"{path} has {len(self.exports)} tables, which cannot all be {table}.")
            folder, only = self.exports[0]
            schema = None if only.schema is None else replace(only.schema, name=table)
            self.exports = [(folder, replace(only, table=table, schema=schema))]
        for folder, exported in self.exports:
            check_files(folder, exported)

    @property
    def items(self) -> int:
        """The number of items in all files."""
        return sum(file.items for _, table in self.exports for file in table.files)

    def run(
        self,
        target: Side,
        *,
        owner: str,
        options: CopyOptions | None = None,
        outside: Outside | None = None,
        on_written: Callable[[int, float], object] = lambda _items, _units: None,
    ) -> None:
        """Write all items, and overwrite items with the same keys in the target.

        Raises:
            CopyRefused: a table is unknown, or the target refuses an item. ExportDamaged: a file cannot be read.
        """
        outside, options = outside or Outside(), options or CopyOptions()
        store = PatientStore(target.store, outside)
        schemas = [_schema(store, exported) for _, exported in self.exports]
        for (folder, exported), schema in zip(self.exports, schemas, strict=True):
            pace = Pace(options.wcu, pause=outside.pause)
            with ItemWriter(
                store,
                schema,
                pace=pace,
                workers=options.workers,
                pause=outside.pause,
                on_written=on_written,
                loader=target.loader(schema.name, outside),
            ) as writer:
                _import_table(store, writer, folder, exported, schema, owner)


def _single(path: Path, table: str | None) -> tuple[Path, ExportedTable]:
    """Return one file of items, after it was read to its end."""
    kind = _FORMATS.get(path.suffix)
    if not path.is_file() or kind is None:
        raise ExportDamaged(f"{path} is neither a folder nor a file that ends with .jsonl, .csv, .json or .json.gz.")
    if table is None:
        raise CopyRefused(f"The table for {path} is not specified.", hint="Use --table NAME.")
    count = sum(1 for _ in _writes(path, kind, table))
    return path.parent, ExportedTable(table, kind, (DataFile(path.name, count, md5_of(path)),))


def _schema(store: Store, exported: ExportedTable) -> TableSchema:
    if exported.schema is not None:
        return ensure_table(store, exported.schema).schema
    found = described(store, exported.table)
    if found is None:
        hint = "Create the table first: the export does not contain its key schema."
        raise CopyRefused(f"The target has no table {exported.table}.", hint=hint)
    return found.schema


def _import_table(
    store: Store, writer: ItemWriter, folder: Path, exported: ExportedTable, schema: TableSchema, owner: str
) -> None:
    fingerprint = ",".join(file.md5 for file in exported.files)
    made = described(store, exported.table)
    target = "" if made is None else repr(made.created_at)
    checkpoint = Checkpoint(store, f"import of {exported.table}", owner)
    saved = checkpoint.take()
    state = CopyState(fingerprint, target, "scan", positions={})
    if saved is not None and (saved.source, saved.target, saved.phase) == (fingerprint, target, "scan"):
        state = saved
    checkpoint.save(state)
    for file in exported.files:
        done = int((state.positions or {}).get(file.path, "0"))
        writes = islice(_writes(folder / file.path, exported.format, exported.table), done, None)
        for chunk in chunks(writes, CHUNK):
            writer.write(_last_of_each(schema, chunk))
            done += len(chunk)
            state = replace(state, positions={**(state.positions or {}), file.path: str(done)})
            checkpoint.save(state)
        if done != file.items:
            raise ExportDamaged(f"{folder / file.path} has {done} items, not {file.items}.")
    checkpoint.save(replace(state, phase="changes"))


def _last_of_each(schema: TableSchema, writes: tuple[Write, ...]) -> list[Write]:
    """Return the last write of each item, because a batch must not contain an item twice."""
    names = [attribute.name for attribute in schema.key]
    last: dict[bytes, Write] = {}
    for write in writes:
        item = write.item if isinstance(write, PutItem) else write.key
        missing = [name for name in names if name not in item]
        if missing:
            raise CopyRefused(f"{schema.name}: an item has no {', '.join(missing)}, which the table's key requires.")
        last[encode_item({name: item[name] for name in names})] = write
    return list(last.values())


def _writes(path: Path, kind: Format, table: str) -> Iterator[Write]:
    """Yield the write of each line of a file.

    Raises:
        ExportDamaged: a line cannot be read; the message names the file and the item.
    """
    number = 0
    try:
        for write in csv_writes(table, path) if kind == "csv" else _lines(path, kind, table):
            number += 1
            yield write
    except _UNREADABLE as error:
        raise ExportDamaged(f"{path}, item {number + 1}: it cannot be read ({error}).") from error


def _lines(path: Path, kind: Format, table: str) -> Iterator[Write]:
    read = json_write if kind == "jsonl" else dynamodb_write
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        for line in file:
            if line.strip():
                yield read(table, line)
