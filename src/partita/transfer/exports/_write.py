"""Writing an export to a bucket: data files compressed with gzip, then their manifest, and the summary last.

    PREFIX/AWSDynamoDB/ID/_started
    PREFIX/AWSDynamoDB/ID/data/00000.json.gz …
    PREFIX/AWSDynamoDB/ID/manifest-files.json, manifest-files.checksum
    PREFIX/AWSDynamoDB/ID/manifest-summary.json, manifest-summary.checksum

If an export is written again, every object has the same name and content, except for the end time in the summary. So an
interrupted export is started over.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

from partita.buckets import Buckets, Encryption
from partita.store import Json, TableSchema
from partita.transfer._manifest import FILES, SCHEMA, SUMMARY
from partita.transfer.exports._lines import ExportFormat

PART_BYTES: Final = 16 * 1024 * 1024
"""The size of the lines of a part before compression; a part is held in memory."""
_SUFFIX: Final[dict[ExportFormat, str]] = {"DYNAMODB_JSON": "json.gz", "ION": "ion.gz"}


class ExportTarget(Struct, frozen=True):
    """The location and the format of an export."""

    bucket: str
    prefix: str
    id: str
    format: ExportFormat = "DYNAMODB_JSON"
    encryption: Encryption | None = None

    def key(self, name: str) -> str:
        """Return the key of one of its objects."""
        parts = (self.prefix.strip("/"), "AWSDynamoDB", self.id, name)
        return "/".join(part for part in parts if part)


class ExportResult(Struct, frozen=True):
    """What an export has written."""

    items: int
    size: int
    manifest: str
    """The key of the summary."""


def write_export(
    buckets: Buckets,
    target: ExportTarget,
    lines: Iterable[tuple[bytes, int]],
    summary: Callable[[], Json],
    schema: TableSchema | None,
) -> ExportResult:
    """Write the lines, each given with the size of its item; `summary` returns the fields that are not counted here.

    Raises:
        BucketNotFound, AccessDenied, StoreUnavailable: the objects cannot be written to the bucket.
    """
    put = _Writer(buckets, target)
    put.write("_started", b"")
    files: list[Json] = []
    items = size = 0
    for number, (body, count, bytes_of) in enumerate(_parts(lines)):
        files.append(put.part(f"data/{number:05}.{_SUFFIX[target.format]}", body, count))
        items, size = items + count, size + bytes_of
    put.write(FILES, b"".join(msgspec.json.encode(each) + b"\n" for each in files), checked=True)
    if schema is not None:
        put.write(SCHEMA, msgspec.json.encode(schema))
    counted = {
        "s3Bucket": target.bucket,
        "s3Prefix": target.prefix or None,
        "manifestFilesS3Key": target.key(FILES),
        "billedSizeBytes": size,
        "itemCount": items,
        "outputFormat": target.format,
    }
    put.write(SUMMARY, msgspec.json.encode({**summary(), **counted}), checked=True)
    return ExportResult(items, size, target.key(SUMMARY))


class _Writer:
    """Writes the objects of one export."""

    def __init__(self, buckets: Buckets, target: ExportTarget) -> None:
        self._buckets = buckets
        self._target = target

    def write(self, name: str, body: bytes, *, checked: bool = False) -> None:
        """Write an object and, if `checked`, another one with its checksum."""
        target = self._target
        self._buckets.write(target.bucket, target.key(name), body, target.encryption)
        if checked:
            self.write(name.replace(".json", ".checksum"), base64.b64encode(_md5(body)))

    def part(self, name: str, body: bytes, count: int) -> Json:
        """Write a data file; return its line of the manifest."""
        self.write(name, body)
        digest = _md5(body)
        return {
            "itemCount": count,
            "md5Checksum": base64.b64encode(digest).decode(),
            "etag": digest.hex(),
            "dataFileS3Key": self._target.key(name),
        }


def _md5(body: bytes) -> bytes:
    return hashlib.md5(body, usedforsecurity=False).digest()


def _parts(lines: Iterable[tuple[bytes, int]]) -> Iterator[tuple[bytes, int, int]]:
    """Yield the compressed parts with their numbers of items and bytes; an empty export has one empty part."""
    rest: Any = iter(lines)
    more = True
    while more:
        packed, count, size, raw = io.BytesIO(), 0, 0, 0
        more = False
        with gzip.GzipFile("", "wb", 6, packed, mtime=0) as file:
            for line, bytes_of in rest:
                file.write(line)
                count, size, raw = count + 1, size + bytes_of, raw + len(line)
                if raw >= PART_BYTES:
                    more = True
                    break
        yield packed.getvalue(), count, size
