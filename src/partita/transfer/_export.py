"""Writing the items of tables to files: in DynamoDB's own format, as JSON lines, or as CSV.

Parts of 100,000 items are written one after another, and each is renamed to its final name when it is complete.
`export.partial.json` lists the complete parts, so that an interrupted export resumes there. The manifest is written
last.
"""

from __future__ import annotations

import base64
import csv
import errno
import gzip
import io
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from partita.errors import CopyRefused, StoreFull, StoreReadOnly
from partita.runtime import make_private_folder
from partita.store import DescribeTable, ScanTable, Store, TableSchema, plain_item, wire_item
from partita.transfer._changes import COMPLETE, stream_of
from partita.transfer._csv import columns_of, row_of
from partita.transfer._lines import dynamodb_line, json_line
from partita.transfer._manifest import (
    FILES,
    MANIFEST,
    SCHEMA,
    SUMMARY,
    DataFile,
    ExportedTable,
    Format,
    Manifest,
    md5_of,
)
from partita.transfer._sides import Outside, PatientStore, Side
from partita.values import Item

PART: Final = 100_000
PAGE: Final = 1_000
STATE: Final = "export.partial.json"
_SUFFIX: Final[dict[Format, str]] = {"dynamodb": "json.gz", "jsonl": "jsonl", "csv": "csv"}


class _Part(Struct, frozen=True):
    file: DataFile
    last: dict[str, dict[str, object]] | None
    """The key of its last item, if more may follow."""


class _State(Struct, frozen=True):
    """The complete parts of each table, and marks that show whether the source has changed since."""

    format: Format
    marks: dict[str, str]
    parts: dict[str, tuple[_Part, ...]]


def export_tables(
    source: Side,
    tables: Sequence[str],
    folder: Path,
    kind: Format,
    *,
    instant: float | None = None,
    outside: Outside | None = None,
    progress: Callable[[int], object] = lambda _items: None,
) -> Manifest:
    """Write the tables to a folder, or resume an interrupted export there.

    An embedded store is read at one instant, which may be an earlier one if continuous backups are enabled. In other
    stores, each item is read at a different instant.

    Raises:
        CopyRefused: the folder contains something else, or the store cannot be read at an earlier instant.
        RecoveryDisabled, InstantOutOfRange: a table cannot be read at that instant.
        StoreFull: no space is left in the folder. StoreReadOnly: it cannot be written.
    """
    with _writing(folder):
        make_private_folder(folder)
        return _export(source, tables, folder, kind, instant, outside or Outside(), progress)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Report errors of the system as errors of the folder; those of the store are already errors of the library."""
    try:
        yield
    except OSError as error:
        message = f"The export in {folder} cannot be written ({error.strerror})."
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull(message, hint="Free disk space, and run the same export again to continue it.") from error
        raise StoreReadOnly(message) from error


def _export(
    source: Side,
    tables: Sequence[str],
    folder: Path,
    kind: Format,
    instant: float | None,
    outside: Outside,
    progress: Callable[[int], object],
) -> Manifest:
    with source.frozen(instant) as frozen:
        store = PatientStore(frozen, outside)
        schemas = {table: store.execute(DescribeTable(table)).schema for table in tables}
        marks = {table: _mark(source, store, schema, instant) for table, schema in schemas.items()}
        state = _begun(folder, kind, marks)
        for schema in schemas.values():
            state = _export_table(store, schema, folder, state, progress)
    exported = tuple(
        ExportedTable(table, kind, tuple(part.file for part in state.parts[table]), schemas[table]) for table in tables
    )
    manifest = Manifest(exported)
    if kind == "dynamodb":
        for each in exported:
            _write_dynamodb_manifests(folder, each, outside.clock(), instant)
    else:
        _replace(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
    (folder / STATE).unlink()
    return manifest


def _mark(source: Side, store: Store, schema: TableSchema, instant: float | None) -> str:
    """Return a mark that changes with an embedded table; it is constant for a past instant, and for other stores."""
    if instant is not None:
        return f"at {instant!r}"
    if not source.has_snapshots:
        return "any"
    if schema.stream != COMPLETE:
        return os.urandom(8).hex()  # always start over
    return repr(sorted(stream_of(store, schema).end().items()))


def _begun(folder: Path, kind: Format, marks: dict[str, str]) -> _State:
    new = _State(kind, marks, dict.fromkeys(marks, ()))
    path = folder / STATE
    if path.exists():
        found = msgspec.json.decode(path.read_bytes(), type=_State)
        if found.format != kind or found.marks.keys() != marks.keys():
            raise CopyRefused(f"{folder} has an interrupted export of another kind.", hint="Empty the folder first.")
        if found.marks == marks:
            return found
        for table in marks:  # the source has changed, so the existing parts are from another instant
            shutil.rmtree(folder / table, ignore_errors=True)
        return new
    if any(found.name != _unfinished(path).name for found in folder.iterdir()):
        raise CopyRefused(f"The folder {folder} is not empty.", hint="Name a new folder.")
    _replace(path, msgspec.json.encode(new))
    return new


def _export_table(
    store: Store, schema: TableSchema, folder: Path, state: _State, progress: Callable[[int], object]
) -> _State:
    """Write the parts that do not exist yet."""
    parts = state.parts[schema.name]
    if parts and parts[-1].last is None:
        return state
    start = None if not parts or parts[-1].last is None else plain_item(parts[-1].last)
    items = _items(store, schema.name, start, progress)
    while chunk := islice(items, PART):
        number = len(parts)
        name = f"{_place(schema.name, state.format)}{number:05}.{_SUFFIX[state.format]}"
        path = folder / name
        make_private_folder(path.parent)
        count, last = _WRITERS[state.format](path, chunk)
        more = count == PART
        key = {part.name: last[part.name] for part in schema.key} if more and last is not None else None
        file = DataFile(name, count, md5_of(path))
        parts = (*parts, _Part(file, None if key is None else wire_item(key)))
        state = _State(state.format, state.marks, {**state.parts, schema.name: parts})
        _replace(folder / STATE, msgspec.json.encode(state))
        if not more:
            break
    return state


def _place(table: str, kind: Format) -> str:
    return f"{table}/AWSDynamoDB/{table}/data/" if kind == "dynamodb" else f"{table}/part-"


def _items(store: Store, table: str, start: Item | None, progress: Callable[[int], object]) -> Iterator[Item]:
    while True:
        page = store.execute(ScanTable(table, limit=PAGE, start=start, consistent=True))
        yield from page.items
        progress(page.count)
        start = page.last_key
        if start is None:
            return


def _write_lines(
    path: Path, items: Iterable[Item], line: Callable[[Item], bytes], *, packed: bool
) -> tuple[int, Item | None]:
    """Write a file atomically; return the number of its items and the last of them."""
    count, last = 0, None
    unfinished = path.with_name(path.name + ".partial")
    with unfinished.open("wb") as raw:
        with gzip.GzipFile("", "wb", 6, raw, mtime=0) if packed else _unclosed(raw) as file:
            for last in items:
                file.write(line(last))
                count += 1
        raw.flush()
        os.fsync(raw.fileno())
    unfinished.replace(path)
    return count, last


def _unclosed(raw: io.BufferedWriter) -> io.BufferedWriter:
    return io.BufferedWriter(io.FileIO(os.dup(raw.fileno()), "wb"))


def _write_csv(path: Path, items: Iterable[Item]) -> tuple[int, Item | None]:
    """Write the items to a temporary file first, because the first row of the CSV file names the columns of all."""
    columns: dict[str, None] = {}

    def line(item: Item) -> bytes:
        columns.update(columns_of([item]))
        return dynamodb_line(item)

    spool = path.with_name(path.name + ".spool")
    count, last = _write_lines(spool, items, line, packed=False)
    unfinished = path.with_name(path.name + ".partial")
    with unfinished.open("w", encoding="utf-8", newline="") as file, spool.open("rb") as lines:
        rows = csv.writer(file)
        rows.writerow(columns)
        for each in lines:
            rows.writerow(row_of(plain_item(msgspec.json.decode(each)["Item"]), list(columns)))
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    spool.unlink()
    return count, last


_WRITERS: Final[dict[Format, Callable[[Path, Iterable[Item]], tuple[int, Item | None]]]] = {
    "dynamodb": lambda path, items: _write_lines(path, items, dynamodb_line, packed=True),
    "jsonl": lambda path, items: _write_lines(path, items, json_line, packed=False),
    "csv": _write_csv,
}


def _unfinished(path: Path) -> Path:
    return path.with_name(path.name + ".new")


def _replace(path: Path, content: bytes) -> None:
    unfinished = _unfinished(path)
    unfinished.write_bytes(content)
    unfinished.replace(path)


def _write_dynamodb_manifests(folder: Path, exported: ExportedTable, now: float, instant: float | None) -> None:
    """Write the manifests of DynamoDB's export format, and a file with the keys and indexes of the table."""
    home = folder / exported.table / "AWSDynamoDB" / exported.table
    prefix = f"AWSDynamoDB/{exported.table}"
    arn = f"arn:aws:dynamodb:local:000000000000:table/{exported.table}"
    time, exported_time = (
        datetime.fromtimestamp(each, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        for each in (now, now if instant is None else instant)
    )
    lines = [
        {
            "itemCount": file.items,
            "md5Checksum": base64.b64encode(bytes.fromhex(file.md5)).decode(),
            "etag": file.md5,
            "dataFileS3Key": f"{prefix}/data/{Path(file.path).name}",
        }
        for file in exported.files
    ]
    summary = {
        "version": "2020-06-30",
        "exportArn": f"{arn}/export/{exported.table}",
        "startTime": time,
        "endTime": time,
        "tableArn": arn,
        "tableId": exported.table,
        "exportTime": exported_time,
        "s3Bucket": "",
        "s3Prefix": "",
        "s3SseAlgorithm": None,
        "s3SseKmsKeyId": None,
        "manifestFilesS3Key": f"{prefix}/{FILES}",
        "billedSizeBytes": 0,
        "itemCount": sum(file.items for file in exported.files),
        "outputFormat": "DYNAMODB_JSON",
    }
    _replace(home / SCHEMA, msgspec.json.encode(exported.schema))
    _replace(home / FILES, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    _replace(home / SUMMARY, msgspec.json.encode(summary))
    for name in (FILES, SUMMARY):
        checksum = base64.b64encode(bytes.fromhex(md5_of(home / name)))
        _replace(home / name.replace(".json", ".checksum"), checksum)
