"""Items as CSV rows: each column is an attribute with its type, as in `total:N`.

| a cell | content |
| --- | --- |
| empty | the item does not have the attribute, or not with that type |
| of `S` | the string, after an apostrophe if it is empty or if a spreadsheet would interpret it as a formula |
| of `N`, `BOOL` | the number; `true` or `false` |
| of `B` | base64; an apostrophe for an empty value |
| of `NULL`, `L`, `M`, `SS`, `NS`, `BS` | JSON, as in JSON lines |

A column without a type contains strings, so that files of other programs can be read. Rows written here are lossless.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from partita.runtime import csv_rows
from partita.store import PutItem
from partita.transfer._lines import read_json, readable
from partita.values import Item, Kind, kind_of, number, number_text

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "'")
"""Characters that begin a formula, and the apostrophe itself, so that reading can always remove a leading one."""
KINDS: Final = frozenset(get_args(Kind))


def columns_of(items: Iterable[Item]) -> dict[str, None]:
    """Return the columns that the items need, in the order of their first occurrence."""
    return {f"{name}:{kind_of(value)}": None for item in items for name, value in item.items()}


def row_of(item: Item, columns: Sequence[str]) -> list[str]:
    """Return the cells of an item."""
    cells = {f"{name}:{kind_of(value)}": value for name, value in item.items()}
    return [_cell(column.rpartition(":")[2], cells[column]) if column in cells else "" for column in columns]


def _cell(kind: str, value: Any) -> str:
    if kind == "S":
        return f"'{value}" if not value or value.startswith(FORMULA) else value
    if kind == "N":
        return number_text(number(value))
    if kind == "BOOL":
        return "true" if value else "false"
    if kind == "B":
        return base64.b64encode(value).decode() or "'"
    return msgspec.json.encode(readable(value)).decode()


def item_of(columns: Sequence[str], cells: Sequence[str]) -> Item:
    """Return the item of a row.

    Raises:
        ValueError: a cell does not have the type of its column, or there are too many or too few cells.
    """
    if len(cells) != len(columns):
        raise ValueError(f"it has {len(cells)} cells, not {len(columns)}")
    item: Item = {}
    for column, cell in zip(columns, cells, strict=True):
        if cell:
            name, kind = _parts(column)
            item[name] = _value(kind, cell)
    return item


def _parts(column: str) -> tuple[str, str]:
    name, _, kind = column.rpartition(":")
    return (name, kind) if name and kind in KINDS else (column, "S")


def _value(kind: str, cell: str) -> Any:
    if kind == "S":
        return cell.removeprefix("'")
    if kind == "N":
        return number(cell)
    if kind == "BOOL":
        if cell.lower() not in ("true", "false"):
            raise ValueError(f"{cell!r} is neither true nor false")
        return cell.lower() == "true"
    return base64.b64decode(cell.removeprefix("'"), validate=True) if kind == "B" else read_json(cell)


def csv_writes(table: str, path: Path) -> Iterator[PutItem]:
    """Yield a put for each row of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv_rows(file)
        columns = next(rows, [])
        for cells in rows:
            yield PutItem(table, item_of(columns, cells))
