"""The objects that are read: opened, unpacked, and taken apart into records."""

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
"""What takes an input of each format apart into records."""


class ObjectInput:
    """An object of a bucket, or a file, as input of a load."""

    def __init__(
        self,
        name: str,
        size: int,
        open_raw: Callable[[], BinaryIO],
        read: Callable[[BinaryIO, int], Iterator[Record]],
        compression: Compression = "NONE",
    ) -> None:
        """Name an input; nothing is read yet.

        Args:
            name: what reports call it.
            size: its bytes, as they are stored.
            open_raw: opens it from the beginning.
            read: takes what was unpacked apart into records, without so many of the first.
            compression: how it is packed.
        """
        self.name = name
        self.size = size
        self._open = open_raw
        self._read = read
        self._compression: Compression = compression
        self._counting: _Counting | None = None

    @property
    def read_bytes(self) -> int:
        """How many bytes of the object were read."""
        return 0 if self._counting is None else min(self._counting.count, self.size)

    def records(self, skip: int) -> Iterator[Record]:
        """Its records; what cannot be unpacked ends them with one that says so.

        Raises:
            ObjectChanged: it is another object by now. StoreUnavailable: it cannot be read now.
        """
        with self._open() as raw:
            self._counting = _Counting(raw)
            try:
                yield from self._read(unpacked(self._counting, self._compression), skip)
            except _unpacking_errors() as error:
                yield Unreadable(f"The object cannot be unpacked from here on: {error}.")


class _Counting(io.RawIOBase):
    """Counts what is read of a file."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.count = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer."""
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)


def unpacked(raw: io.RawIOBase, compression: Compression) -> BinaryIO:
    """The bytes that were packed, as a stream.

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
    """Refuse what cannot be read here, before anything is.

    Raises:
        OperationError: the extra `bulk` is not installed.
    """
    if kind == "ION":
        require_ion()
    if compression == "ZSTD":
        _zstandard()


def _zstandard() -> Any:
    try:
        import zstandard  # noqa: PLC0415 - of the extra `bulk`
    except ImportError as error:
        raise OperationError("zstd needs the extra bulk.", hint="Install it: pip install 'partita[bulk]'.") from error
    return zstandard


def _unpacking_errors() -> tuple[type[Exception], ...]:
    found: tuple[type[Exception], ...] = (zlib.error, gzip.BadGzipFile, EOFError)
    try:
        import zstandard  # noqa: PLC0415 - of the extra `bulk`
    except ImportError:
        return found
    return (*found, zstandard.ZstdError)
