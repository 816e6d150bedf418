"""Rows of CSV: long cells are read, and the limit of Python's own module stays as it is."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from partita import EmbeddedStore
from partita.runtime import MAX_CSV_CELL, csv_rows
from partita.store import CreateTable, GetItem, KeyAttribute, TableSchema
from partita.transfer import Import, Side, csv_records
from partita.wire.exports._csv import csv_records as wire_records

LONG = "x" * 200_000
FILE = f"id:S,note:S\n1,{LONG}\n"


@pytest.fixture(params=[131_072, 10])
def limit(request: pytest.FixtureRequest) -> Iterator[int]:
    """The limit of the process, which other code may have set."""
    before = csv.field_size_limit(request.param)
    yield request.param
    csv.field_size_limit(before)


def test_a_long_cell_is_read() -> None:
    assert list(csv_rows([f'"{LONG}","a\n', 'b"\r\n', "c;d\n"])) == [[LONG, "a\nb"], ["c;d"]]
    assert list(csv_rows(["c;d\n"], delimiter=";")) == [["c", "d"]]


@pytest.mark.parametrize("line", ['"a', '"a"b\n', "x" * (MAX_CSV_CELL + 1)], ids=["open", "after a quote", "too long"])
def test_what_is_not_csv_raises_the_error_of_csv(line: str) -> None:
    with pytest.raises(csv.Error):
        list(csv_rows([line]))


@pytest.mark.parametrize("records", [csv_records, partial(wire_records, {}, ",", None)])
def test_records_are_read_whatever_the_limit_of_the_process(
    records: Callable[[io.BytesIO, int], Iterator[object]], limit: int
) -> None:
    [record] = records(io.BytesIO(FILE.encode()), 0)
    assert LONG in repr(record)
    assert csv.field_size_limit() == limit


def test_an_import_leaves_the_limit_of_the_process_as_it_is(tmp_path: Path, limit: int) -> None:
    (tmp_path / "notes.csv").write_text(FILE, encoding="utf-8")
    store = EmbeddedStore(":memory:")
    store.execute(CreateTable(TableSchema("notes", KeyAttribute("id"))))
    Import(tmp_path / "notes.csv", "notes").run(Side(store), owner="run")
    assert (store.execute(GetItem("notes", {"id": "1"})).item or {})["note"] == LONG
    assert csv.field_size_limit() == limit
