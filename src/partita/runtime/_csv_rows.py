"""Rows of CSV with long cells.

The limit of a cell in Python's `csv` is a setting of the process, 131,072 characters by default, which other code
relies on or may have changed. So this module has its own instance of the parser, with its own limit.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, Final

MAX_CSV_CELL: Final = 4 * 1024 * 1024
"""The longest cell. An item has up to 400 KB, of which a control character takes six characters in JSON."""


def _own_parser() -> ModuleType:
    spec = find_spec("_csv")
    if spec is None or spec.loader is None:  # never in CPython
        raise ImportError("Python's CSV parser is missing.", name="_csv")
    parser = module_from_spec(spec)
    spec.loader.exec_module(parser)
    parser.field_size_limit(MAX_CSV_CELL)
    return parser


_PARSER: Final[Any] = _own_parser()


def csv_rows(lines: Iterable[str], *, delimiter: str = ",") -> Iterator[list[str]]:
    """Yield the rows of a file that was opened with `newline=""`.

    Raises:
        csv.Error: a row is not CSV, or a cell is longer than `MAX_CSV_CELL`.
    """
    try:
        yield from _PARSER.reader(lines, delimiter=delimiter, strict=True)
    except _PARSER.Error as error:
        raise csv.Error(*error.args) from None
