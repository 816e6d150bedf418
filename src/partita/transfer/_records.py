"""Records of files for bulk loads: JSON lines, CSV, and JSON lines with the fields of a declared entity."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from pydantic import ValidationError

from partita.bulk import Record, Unreadable
from partita.errors import PartitaError
from partita.model import EntitySchema
from partita.runtime import csv_rows
from partita.store.embedded import BulkPut
from partita.transfer._csv import item_of
from partita.transfer._lines import read_json
from partita.values import Item

_UNREADABLE: Final = (ValueError, TypeError, ArithmeticError, PartitaError)


def jsonl_records(file: BinaryIO, skip: int) -> Iterator[Record]:
    """Yield the items of readable JSON lines, with `{"$B": …}` and similar objects for types that JSON lacks."""
    return _line_records(file, skip, _json_item)


def typed_records(schema: EntitySchema[Any], file: BinaryIO, skip: int) -> Iterator[Record]:
    """Yield the entities of JSON lines with their fields; keys are derived, and every rule of the model applies."""

    def item(line: bytes) -> Item:
        stored = schema.item(schema.cls.model_validate_json(line))
        if schema.version is not None:
            stored[schema.attribute(schema.version)] += 1  # as a put of the entity does
        return stored

    return _line_records(file, skip, item)


def _json_item(line: bytes) -> Item:
    item = read_json(line)
    if not isinstance(item, dict):
        raise TypeError("it is not an object")
    return item


def _line_records(file: BinaryIO, skip: int, item: Callable[[bytes], Item]) -> Iterator[Record]:
    number = 0
    for line in file:
        if line.isspace():
            continue
        number += 1
        if number > skip:
            yield _record(item, line)


def _record(item: Callable[[bytes], Item], line: bytes) -> Record:
    try:
        return BulkPut(item(line))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        return Unreadable(wrong, line)
    except _UNREADABLE as error:
        return Unreadable(f"The record cannot be read ({error}).", line)


def csv_records(file: BinaryIO, skip: int) -> Iterator[Record]:
    """Yield the items of CSV rows; the first row has the names of the columns, with their types as in `total:N`."""
    rows = csv_rows(io.TextIOWrapper(file, encoding="utf-8", newline=""))
    try:
        columns = next(rows, [])
        for number, cells in enumerate(rows, 1):
            if number > skip:
                yield _row_record(columns, cells)
    except (csv.Error, UnicodeDecodeError) as error:
        yield Unreadable(f"The rest of the rows cannot be read ({error}).")


def _row_record(columns: list[str], cells: list[str]) -> Record:
    try:
        return BulkPut(item_of(columns, cells))
    except _UNREADABLE as error:
        return Unreadable(f"The row cannot be read ({error}).", ",".join(cells).encode())
