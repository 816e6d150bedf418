"""Input objects: opening them, decompressing them, and splitting them into records."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final, Literal, TypeAlias, cast

from partita.bulk import Record, Unreadable
from partita.errors import OperationError
from partita.wire.bulk._ion import ion_records, require_ion
from partita.wire.bulk._records import json_records

InputFormat: TypeAlias = Literal["DYNAMODB_JSON", "ION"]
Compression: TypeAlias = Literal["GZIP", "ZSTD", "NONE"]

_READ_BYTES: Final = 256 * 1024
READERS: Final[dict[str, Callable[[BinaryIO, int], Iterator[Record]]]] = {
    "DYNAMODB_JSON": json_records,
    "ION": ion_records,
}
"""The function that splits an input into records, by input format."""


class ObjectInput:
    """A bucket object or a file as the input of a load."""

    def __init__(
        self,
        name: str,
        size: int,
        open_raw: Callable[[], BinaryIO],
        read: Callable[[BinaryIO, int], Iterator[Record]],
        compression: Compression = "NONE",
    ) -> None:
        """Create an input; nothing is read yet.

        Args:
            name: its name in reports.
            size: its stored size in bytes.
            open_raw: opens it from the beginning.
            read: splits the decompressed stream into records and skips the given number of records.
            compression: the compression of the stored bytes.
        """
        self.name = name
        self.size = size
        self._open = open_raw
        self._read = read
        self._compression: Compression = compression
        self._counting: _Counting | None = None

    @property
    def read_bytes(self) -> int:
        """How many stored bytes of the object were read."""
        return 0 if self._counting is None else min(self._counting.count, self.size)

    def records(self, skip: int) -> Iterator[Record]:
        """Yield the records, and a final `Unreadable` if the object cannot be decompressed.

        Raises:
            ObjectChanged: the object was replaced. StoreUnavailable: the object cannot be read now.
        """
        with self._open() as raw:
            self._counting = _Counting(raw)
            try:
                yield from self._read(unpacked(self._counting, self._compression), skip)
            except _unpacking_errors() as error:
                yield Unreadable(f"The object cannot be decompressed from here on: {error}.")


class _Counting(io.RawIOBase):
    """Counts the bytes that are read from a file."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.count = 0

    def readable(self) -> bool:
        """Whether the file can be read: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into the buffer."""
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)


def unpacked(raw: io.RawIOBase, compression: Compression) -> BinaryIO:
    """The decompressed bytes as a stream.

    Raises:
        OperationError: the extra `bulk` is not installed.
    """
    buffered = io.BufferedReader(raw, _READ_BYTES)
    if compression == "GZIP":
        return cast("BinaryIO", io.BufferedReader(cast("Any", gzip.GzipFile(fileobj=buffered)), _READ_BYTES))
    if compression == "ZSTD":
        zstandard = _zstandard()
        reader = zstandard.ZstdDecompressor().stream_reader(buffered, read_across_frames=True)
        return cast("BinaryIO", io.BufferedReader(reader, _READ_BYTES))
    return cast("BinaryIO", buffered)


def check_extras(kind: InputFormat, compression: Compression) -> None:
    """Refuse an input that needs a missing extra, before anything is read.

    Raises:
        OperationError: the extra `bulk` is not installed.
    """
    if kind == "ION":
        require_ion()
    if compression == "ZSTD":
        _zstandard()


def _zstandard() -> Any:
    try:
        import zstandard  # noqa: PLC0415 - belongs to the extra `bulk`
    except ImportError as error:
        raise OperationError("zstd needs the extra bulk.", hint="Install it: pip install 'partita[bulk]'.") from error
    return zstandard


def _unpacking_errors() -> tuple[type[Exception], ...]:
    found: tuple[type[Exception], ...] = (zlib.error, gzip.BadGzipFile, EOFError)
    try:
        import zstandard  # noqa: PLC0415 - belongs to the extra `bulk`
    except ImportError:
        return found
    return (*found, zstandard.ZstdError)
