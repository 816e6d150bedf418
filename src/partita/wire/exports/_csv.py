"""CSV records for ImportTable: key attributes have their types, and all other attributes are strings."""

from __future__ import annotations

import base64
import binascii
import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import BinaryIO

from partita.bulk import Record, Unreadable
from partita.errors import PartitaError
from partita.store.embedded import BulkPut
from partita.values import AttributeValue, Item, number


def csv_records(
    kinds: Mapping[str, str], delimiter: str, header: Sequence[str] | None, file: BinaryIO, skip: int
) -> Iterator[Record]:
    """Yield the records of a file. Without `header`, the first row names the columns; empty cells are omitted."""
    rows = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""), delimiter=delimiter, strict=True)
    try:
        names = next(rows, []) if header is None else list(header)
        for cells in islice(rows, skip, None):
            if cells:
                yield _record(kinds, names, cells)
    except (csv.Error, UnicodeDecodeError) as error:
        yield Unreadable(f"The object is not valid CSV from here on: {error}")


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
