"""The manifest of an export: its files and their checksums, in the format of DynamoDB or of Partita."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from partita.errors import ExportDamaged
from partita.store import TableSchema

Format: TypeAlias = Literal["dynamodb", "jsonl", "csv"]
"""The formats of an export."""

MANIFEST: Final = "manifest.json"
SCHEMA: Final = "partita-table.json"
SUMMARY: Final = "manifest-summary.json"
FILES: Final = "manifest-files.json"


class DataFile(Struct, frozen=True):
    """One file of items."""

    path: str
    """Relative to the folder of the manifest."""
    items: int
    md5: str
    """In hexadecimal digits; it detects damage, not forgery."""


class ExportedTable(Struct, frozen=True):
    """The files of one table."""

    table: str
    format: Format
    files: tuple[DataFile, ...]
    schema: TableSchema | None = None


class Manifest(Struct, frozen=True):
    """All tables of an export in Partita's format."""

    tables: tuple[ExportedTable, ...]
    version: int = 1


def md5_of(path: Path) -> str:
    """Return the MD5 checksum of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def read_exports(folder: Path) -> list[tuple[Path, ExportedTable]]:
    """Return the tables of an export of Partita or DynamoDB, each with the folder that its file paths are relative to.

    Raises:
        ExportDamaged: there is no export, or its manifest cannot be read.
    """
    if (folder / MANIFEST).exists():
        manifest = _decoded(folder / MANIFEST, Manifest)
        return [(folder, table) for table in manifest.tables]
    found = [(path.parent, _dynamodb_export(path)) for path in sorted(folder.rglob(SUMMARY))]
    if not found:
        raise ExportDamaged(f"There is no export in {folder}: neither {MANIFEST} nor {SUMMARY}.")
    return found


def _dynamodb_export(summary: Path) -> ExportedTable:
    described = _decoded(summary, dict[str, Any])
    if described.get("outputFormat", "DYNAMODB_JSON") != "DYNAMODB_JSON":
        raise ExportDamaged(f"{summary}: its format is {described['outputFormat']}, not DYNAMODB_JSON.")
    schema = summary.parent / SCHEMA
    table = str(described.get("tableArn", "")).rpartition("/")[2]
    files = tuple(_dynamodb_files(summary.parent / FILES))
    if sum(file.items for file in files) != described.get("itemCount"):
        raise ExportDamaged(f"{summary}: its itemCount {described.get('itemCount')} does not match its files.")
    return ExportedTable(table, "dynamodb", files, _decoded(schema, TableSchema) if schema.exists() else None)


def _dynamodb_files(path: Path) -> Iterator[DataFile]:
    for line in _bytes(path).splitlines():
        try:
            part = msgspec.json.decode(line)
            md5 = base64.b64decode(part["md5Checksum"], validate=True).hex()
            yield DataFile(f"data/{part['dataFileS3Key'].rpartition('/')[2]}", part["itemCount"], md5)
        except (msgspec.DecodeError, KeyError, TypeError, AttributeError, binascii.Error) as error:
            raise ExportDamaged(f"{path} cannot be read: {error}.") from error


def _decoded(path: Path, kind: Any) -> Any:
    try:
        return msgspec.json.decode(_bytes(path), type=kind)
    except msgspec.DecodeError as error:
        raise ExportDamaged(f"{path} cannot be read: {error}.") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ExportDamaged(f"{path} cannot be read: {error.strerror}.") from error


def check_files(folder: Path, table: ExportedTable) -> None:
    """Verify the checksum of each file, before any item is imported.

    Raises:
        ExportDamaged: a file is missing, truncated or altered; the message names it.
    """
    for file in table.files:
        path = folder / file.path
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ExportDamaged(f"{file.path} is not in {folder}.")
        if not path.is_file():
            raise ExportDamaged(f"{path} is missing.")
        if md5_of(path) != file.md5:
            raise ExportDamaged(f"{path} is truncated or altered: its checksum does not match.")
