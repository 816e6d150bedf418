"""CSV records for ImportTable: key attributes have their types, and all other attributes are strings."""

from __future__ import annotations

import base64
import binascii
import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

from partita.bulk import Record, Unreadable
from partita.errors import PartitaError
from partita.runtime import csv_rows
from partita.store.embedded import BulkPut
from partita.values import AttributeValue, Item, number
from partita.wire.bulk import MAX_RECORD_BYTES, TOO_LONG


def csv_records(
    kinds: Mapping[str, str], delimiter: str, header: Sequence[str] | None, file: BinaryIO, skip: int
) -> Iterator[Record]:
    """Yield the records of a file. Without `header`, the first row names the columns; empty cells are omitted."""
    lines = _Lines(io.TextIOWrapper(file, encoding="utf-8", newline=""))
    rows = csv_rows(lines, delimiter=delimiter)
    try:
        names = next(rows, []) if header is None else list(header)
        lines.unread = MAX_RECORD_BYTES
        for number, cells in enumerate(rows):
            lines.unread = MAX_RECORD_BYTES
            if cells and number >= skip:
                yield _record(kinds, names, cells)
    except _TooLong:
        yield Unreadable(TOO_LONG)
    except (csv.Error, UnicodeDecodeError) as error:
        yield Unreadable(f"The object is not valid CSV from here on: {error}")


class _TooLong(Exception):
    """A record is too long. `csv` would keep all of it in memory."""


class _Lines(Iterator[str]):
    """The lines of a file. A record may have several, but not more characters than `unread`."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._file = file
        self.unread = MAX_RECORD_BYTES

    def __next__(self) -> str:
        line = self._file.readline(self.unread + 1)
        self.unread -= len(line)
        if self.unread < 0:
            raise _TooLong
        if not line:
            raise StopIteration
        return line


def _record(kinds: Mapping[str, str], names: Sequence[str], cells: Sequence[str]) -> Record:
    if len(cells) != len(names):
        return Unreadable(f"The record has {len(cells)} cells, not {len(names)}.", ",".join(cells).encode())
    try:
        item: Item = {name: _value(kinds.get(name, "S"), cell) for name, cell in zip(names, cells, strict=True) if cell}
    except (ValueError, ArithmeticError, binascii.Error, PartitaError) as error:
        return Unreadable(f"A key attribute cannot be read: {error}", ",".join(cells).encode())
    return BulkPut(item)


def _value(kind: str, cell: str) -> AttributeValue:
    if kind == "N":
        return number(cell)
    return base64.b64decode(cell, validate=True) if kind == "B" else cell
