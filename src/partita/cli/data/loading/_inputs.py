"""The inputs of a load: files or objects, their formats, and their compression."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final, TypeAlias
from urllib.parse import urlsplit

import click
import msgspec
from msgspec import Struct

from partita.buckets import Buckets, StoredObject, open_buckets
from partita.bulk import Record
from partita.cli._names import named
from partita.errors import ObjectChanged
from partita.model import EntitySchema
from partita.transfer import csv_records, jsonl_records, typed_records
from partita.wire.bulk import READERS, Compression, InputFormat, ObjectInput, check_extras

FORMATS: Final = ("dynamodb", "ion", "jsonl", "csv")
WIRE_FORMATS: Final[dict[str, InputFormat]] = {"dynamodb": "DYNAMODB_JSON", "ion": "ION"}
_SUFFIXES: Final = {".json": "dynamodb", ".ion": "ion", ".10n": "ion", ".jsonl": "jsonl", ".csv": "csv"}
_PACKED: Final[dict[str, Compression]] = {".gz": "GZIP", ".zst": "ZSTD"}

Read: TypeAlias = Callable[[BinaryIO, int], Iterator[Record]]
Found: TypeAlias = tuple[str, int, Callable[[], BinaryIO], str]
"""The name of an input, its size, a function that opens it, and its version."""


class Inputs(Struct, frozen=True):
    """The inputs of a load, with a fingerprint that identifies them."""

    inputs: tuple[ObjectInput, ...]
    fingerprint: str

    @property
    def size(self) -> int:
        """The total size in bytes."""
        return sum(each.size for each in self.inputs)


def compression_of(name: str) -> Compression:
    """The compression of a file, by its name."""
    return _PACKED.get(PurePosixPath(name).suffix, "NONE")


def format_of(name: str, given: str | None) -> str:
    """The format of a file: the given one, or that of its name.

    Raises:
        click.UsageError: no format is given, and the name does not show it.
    """
    path = PurePosixPath(name)
    found = given or _SUFFIXES.get((path.with_suffix("") if path.suffix in _PACKED else path).suffix)
    if found is None:
        raise click.UsageError(f"The format of {name} is unknown. Use --format with one of {', '.join(FORMATS)}.")
    return found


def entity_of(text: str) -> EntitySchema[Any]:
    """The entity named SERVICE.ENTITY.

    Raises:
        click.UsageError: it does not exist, or its fields cannot be written without a session.
    """
    service_name, _, name = text.partition(".")
    service = named(service_name)
    schemas = [] if service is None else [each for table in service.tables for each in table.entities]
    for schema in schemas:
        if schema.name.lower() == name.lower():
            if schema.secrets:
                raise click.UsageError(f"{text} has encrypted fields, which only a session can write.")
            return schema
    known = ", ".join(sorted(f"{service_name}.{each.name}" for each in schemas)) or "none"
    raise click.UsageError(f"There is no entity {text}. Known entities: {known}.")


def find_inputs(source: str, given: str | None, entity: EntitySchema[Any] | None) -> Inputs:
    """The inputs at a location.

    Raises:
        click.UsageError: there is nothing, or nothing that can be read.
    """
    found: list[Found]
    if "://" in source:
        buckets, stored = _objects(source)
        found = [(each.key, each.size, partial(buckets.open, each), each.version) for each in stored]
    else:
        found = [(str(path), path.stat().st_size, *_file(path)) for path in _files(Path(source))]
    if not found:
        raise click.UsageError(f"No input was found at {source}.")
    inputs = tuple(_input(name, size, opened, given, entity) for name, size, opened, _ in found)
    told = msgspec.json.encode(([(name, size, version) for name, size, _, version in found], given, str(entity)))
    return Inputs(inputs, hashlib.sha256(told).hexdigest()[:32])


def _objects(source: str) -> tuple[Buckets, list[StoredObject]]:
    parts = urlsplit(source)
    query = f"?{parts.query}" if parts.query else ""
    buckets = open_buckets(f"{parts.scheme}://{query}")
    return buckets, [*buckets.objects(parts.netloc, parts.path.lstrip("/"))]


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise click.UsageError(f"{path} does not exist.")
    if path.is_file():
        return [path]
    return sorted(each for each in path.rglob("*") if each.is_file() and not each.name.startswith("."))


def _file(path: Path) -> tuple[Callable[[], BinaryIO], str]:
    """A function that opens a file if it has not changed, and the version of the file."""
    version = _version(path)

    def opened() -> BinaryIO:
        if not path.is_file() or _version(path) != version:
            raise ObjectChanged(f"The file {path} has changed since the load began.")
        return path.open("rb")

    return opened, version


def _version(path: Path) -> str:
    found = path.stat()
    return f"{found.st_ino}-{found.st_mtime_ns}-{found.st_size}"


def _input(
    name: str, size: int, opened: Callable[[], BinaryIO], given: str | None, entity: EntitySchema[Any] | None
) -> ObjectInput:
    kind = "jsonl" if entity is not None else format_of(name, given)
    compression = compression_of(name)
    check_extras(WIRE_FORMATS.get(kind, "DYNAMODB_JSON"), compression)
    return ObjectInput(name, size, opened, _reader(kind, entity), compression)


def _reader(kind: str, entity: EntitySchema[Any] | None) -> Read:
    if entity is not None:
        return partial(typed_records, entity)
    if kind in WIRE_FORMATS:
        return READERS[WIRE_FORMATS[kind]]
    return jsonl_records if kind == "jsonl" else csv_records
