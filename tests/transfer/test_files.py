"""Exports and imports: nothing is lost, and nothing damaged is imported."""

from __future__ import annotations

import base64
import errno
import gzip
import hashlib
import io
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.strategies import items as any_items
from tests.transfer.support import FILES, ORDERS, OUTSIDE, MortalTarget, contents, opened, order

from partita import EmbeddedStore
from partita.bulk import Unreadable
from partita.errors import CopyRefused, ExportDamaged, StoreFull, StoreReadOnly
from partita.runtime._private_files import HAS_MODES
from partita.store import BatchWriteItem, CreateTable, DescribeTable, PutItem, ScanTable, Store
from partita.store.embedded import LoadItems
from partita.testing import Crash
from partita.transfer import (
    CopyOptions,
    Format,
    Import,
    Side,
    _export,
    _import,
    csv_records,
    export_tables,
    tables_of,
)
from partita.transfer._csv import columns_of, item_of, row_of
from partita.transfer._lines import dynamodb_line, dynamodb_write, json_line, json_write
from partita.transfer._verify import digest
from partita.values import Item

FORMATS: list[Format] = ["dynamodb", "jsonl", "csv"]


def imported(path: Path, target: Store, table: str | None = None) -> None:
    Import(path, table).run(Side(target), owner="run", outside=OUTSIDE)


@given(any_items)
@settings(max_examples=60)
def test_every_item_comes_back_from_its_line_and_its_row(item: Item) -> None:
    for line, read in ((dynamodb_line, dynamodb_write), (json_line, json_write)):
        write = read("orders", line(item))
        assert isinstance(write, PutItem)
        assert digest(write.item) == digest(item)
    columns = list(columns_of([item]))
    assert digest(item_of(columns, row_of(item, columns))) == digest(item)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("value", ["x" * 400_000, b"\0" * 400_000, ["\0" * 200_000, "\U0001f40d" * 40_000]])
def test_the_largest_values_come_back(tmp_path: Path, kind: Format, value: Any) -> None:
    with EmbeddedStore(tmp_path / "a.db", durable=False) as one, EmbeddedStore(tmp_path / "b.db", durable=False) as two:
        one.execute(CreateTable(ORDERS))
        one.execute(PutItem("orders", {**order(1), "large": value}))
        export_tables(Side(one), ["orders"], tmp_path / "out", kind)
        imported(tmp_path / "out", two)
        assert contents(two) == contents(one)


def test_a_row_that_is_not_csv_is_named(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id\n1\n" + "x" * 5_000_000 + "\n")
    with EmbeddedStore(tmp_path / "b.db", durable=False) as target:
        target.execute(CreateTable(ORDERS))
        with pytest.raises(ExportDamaged, match=r"rows\.csv, item 2: it cannot be read"):
            imported(tmp_path / "rows.csv", target, "orders")


def test_a_first_row_that_is_not_csv_is_an_unreadable_record() -> None:
    assert [type(each) for each in csv_records(io.BytesIO(b'"' * 20_000_000), 0)] == [Unreadable]


@pytest.mark.req("X04")
@pytest.mark.skipif(not HAS_MODES, reason="Windows has no file modes")
@pytest.mark.parametrize("kind", FORMATS)
def test_an_export_is_for_its_owner_alone(source: EmbeddedStore, tmp_path: Path, kind: Format) -> None:
    (tmp_path / "there").mkdir(mode=0o755)
    for name in ("new", "there"):
        export_tables(Side(source), ["orders"], tmp_path / name, kind)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "there" / "orders").stat().st_mode) == 0o700


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("wire", [False, True])
def test_a_table_comes_back_as_it_was(
    source: EmbeddedStore, tmp_path: Path, kind: Format, monkeypatch: pytest.MonkeyPatch, *, wire: bool
) -> None:
    monkeypatch.setattr(_export, "PART", 50)
    export_tables(Side(source), ["orders"], tmp_path / "out", kind)
    with opened(tmp_path / "b.db", wire=wire) as target:
        imported(tmp_path / "out", target)
        assert contents(target) == contents(source)
        made = target.execute(DescribeTable("orders")).schema
        assert (set(made.indexes), made.ttl, made.stream) == (set(ORDERS.indexes), ORDERS.ttl, ORDERS.stream)
        export_tables(Side(target), ["orders"], tmp_path / "again", kind)
    assert (tmp_path / "again" / "export.partial.json").exists() is False


def test_the_files_are_as_dynamodb_has_them(source: EmbeddedStore, tmp_path: Path) -> None:
    export_tables(Side(source), ["orders"], tmp_path / "out", "dynamodb")
    (summary,) = (tmp_path / "out").rglob("manifest-summary.json")
    described = json.loads(summary.read_text())
    assert described["itemCount"] == 120
    assert (described["outputFormat"], described["tableArn"].rpartition("/")[2]) == ("DYNAMODB_JSON", "orders")
    (line,) = (summary.parent / "manifest-files.json").read_text().splitlines()
    file = json.loads(line)
    data = (summary.parent / "data" / file["dataFileS3Key"].rpartition("/")[2]).read_bytes()
    assert base64.b64decode(file["md5Checksum"]) == hashlib.md5(data, usedforsecurity=False).digest()
    lines = gzip.decompress(data).splitlines()
    assert len(lines) == file["itemCount"] == 120
    assert set(json.loads(lines[0])) == {"Item"}


def aws_export(folder: Path, lines: list[dict[str, Any]]) -> Path:
    """Write an export in AWS's format, which does not contain keys and indexes of the table."""
    home = folder / "prefix" / "AWSDynamoDB" / "01693685827463-2d8752fd"
    (home / "data").mkdir(parents=True)
    data = gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    (home / "data" / "abc.json.gz").write_bytes(data)
    md5 = hashlib.md5(data, usedforsecurity=False).digest()
    file = {
        "itemCount": len(lines),
        "md5Checksum": base64.b64encode(md5).decode(),
        "etag": f"{md5.hex()}-1",
        "dataFileS3Key": "prefix/AWSDynamoDB/01693685827463-2d8752fd/data/abc.json.gz",
    }
    arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/files"
    summary = {"tableArn": arn, "itemCount": len(lines), "outputFormat": "DYNAMODB_JSON"}
    (home / "manifest-files.json").write_text(json.dumps(file) + "\n")
    (home / "manifest-summary.json").write_text(json.dumps(summary))
    return folder


def test_an_export_of_aws_is_imported(target: EmbeddedStore, tmp_path: Path) -> None:
    folder = aws_export(tmp_path / "aws", [{"Item": {"digest": {"B": "AAE="}, "n": {"N": "1.50"}}}])
    with pytest.raises(CopyRefused, match="The target has no table files"):
        imported(folder, target)
    target.execute(CreateTable(FILES))
    imported(folder, target)
    assert [repr(item["n"]) for item in target.execute(ScanTable("files")).items] == ["Decimal('1.5')"]


def test_an_incremental_export_of_aws_is_applied(target: EmbeddedStore, tmp_path: Path) -> None:
    target.execute(CreateTable(FILES))
    target.execute(PutItem("files", {"digest": b"a"}))
    lines: list[dict[str, Any]] = [
        {"Metadata": {}, "Keys": {"digest": {"B": "YQ=="}}, "OldImage": {"digest": {"B": "YQ=="}}},
        {"Metadata": {}, "Keys": {"digest": {"B": "Yg=="}}, "NewImage": {"digest": {"B": "Yg=="}, "n": {"N": "2"}}},
    ]
    imported(aws_export(tmp_path / "aws", lines), target)
    assert target.execute(ScanTable("files")).items == [{"digest": b"b", "n": 2}]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("damage", ["cut off", "altered", "missing"])
def test_a_damaged_file_is_named_and_nothing_is_imported(
    source: EmbeddedStore, target: EmbeddedStore, tmp_path: Path, kind: Format, damage: str
) -> None:
    manifest = export_tables(Side(source), ["orders"], tmp_path / "out", kind)
    path = tmp_path / "out" / manifest.tables[0].files[-1].path
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(data[:-20] if damage == "cut off" else data[:50] + b"x" + data[51:])
    with pytest.raises(ExportDamaged, match=path.name):
        imported(tmp_path / "out", target)
    assert tables_of(target) == ()


def test_an_export_without_a_manifest_is_refused(tmp_path: Path, target: EmbeddedStore) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(ExportDamaged, match=r"neither manifest\.json nor manifest-summary\.json"):
        imported(tmp_path / "out", target)


def test_a_single_file_is_read_to_its_end_before_it_is_imported(target: EmbeddedStore, tmp_path: Path) -> None:
    target.execute(CreateTable(FILES))
    path = tmp_path / "files.jsonl"
    path.write_text('{"digest": {"$B": "YQ=="}}\n{"digest": {"$B": "Y')
    with pytest.raises(ExportDamaged, match=r"files\.jsonl, item 2"):
        imported(path, target, "files")
    assert target.execute(ScanTable("files")).items == []
    path.write_text('{"digest": {"$B": "YQ=="}}\n')
    with pytest.raises(CopyRefused, match=r"The table for .* is not specified"):
        imported(path, target)
    imported(path, target, "files")
    assert target.execute(ScanTable("files")).items == [{"digest": b"a"}]


def test_no_spreadsheet_computes_what_is_in_an_item() -> None:
    item = {"a": "=1+1", "b": "'quoted", "c": "", "d": "-5", "n": -5}
    columns = list(columns_of([item]))
    assert row_of(item, columns) == ["'=1+1", "''quoted", "'", "'-5", "-5"]


def test_an_import_that_was_cut_off_goes_on(
    source: EmbeddedStore, target: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_import, "CHUNK", 10)
    export_tables(Side(source), ["orders"], tmp_path / "out", "jsonl")
    mortal = MortalTarget(target, {})
    for run in range(3):
        mortal.dies_at(8, happens=run % 2 == 0)
        with pytest.raises(Crash):
            Import(tmp_path / "out").run(Side(mortal), owner=f"run {run}", outside=OUTSIDE)
    before = len(mortal.shown)
    assert 0 < before < 120
    imported(tmp_path / "out", target)
    assert contents(target) == contents(source)


def test_an_export_that_was_cut_off_goes_on(
    source: EmbeddedStore, target: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A complete part is not written again, unless the table has changed since."""
    monkeypatch.setattr(_export, "PART", 50)
    monkeypatch.setattr(_export, "PAGE", 20)
    out = tmp_path / "out"
    for cut in range(2):
        pages = iter(range(4))

        def progress(_items: int, pages: Iterator[int] = pages) -> None:
            if next(pages) == 3:
                raise Crash

        with pytest.raises(Crash):
            export_tables(Side(source), ["orders"], out, "jsonl", progress=progress)
        if cut == 0:
            source.execute(PutItem("orders", order(7, n=1)))
    first = (out / "orders" / "part-00000.jsonl").stat().st_mtime_ns
    with pytest.raises(CopyRefused, match="an interrupted export of another kind"):
        export_tables(Side(source), ["orders"], out, "csv")
    export_tables(Side(source), ["orders"], out, "jsonl")
    assert (out / "orders" / "part-00000.jsonl").stat().st_mtime_ns == first
    imported(out, target)
    assert contents(target) == contents(source)
    with pytest.raises(CopyRefused, match="is not empty"):
        export_tables(Side(source), ["orders"], out, "jsonl")


class CountingStore(EmbeddedStore):
    """Counts the requests that put items."""

    puts = 0

    def execute(self, request: Any) -> Any:
        self.puts += isinstance(request, BatchWriteItem | LoadItems)
        return super().execute(request)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("full", range(6))
def test_an_export_for_which_no_space_is_left_names_its_folder_and_goes_on(
    source: EmbeddedStore, tmp_path: Path, kind: Format, monkeypatch: pytest.MonkeyPatch, full: int
) -> None:
    """`full` is the number of files after which the disk is full."""
    replaced = []
    replace = Path.replace

    def failing(path: Path, target: Path) -> Path:
        replaced.append(path)
        if len(replaced) > full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return replace(path, target)

    monkeypatch.setattr(_export, "PART", 50)
    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", failing)
        with pytest.raises(StoreFull, match=r"export in .*out cannot be written \(No space left.*to continue it"):
            export_tables(Side(source), ["orders"], out, kind)
    export_tables(Side(source), ["orders"], out, kind)
    with opened(tmp_path / "b.db", wire=False) as target:
        imported(out, target)
        assert contents(target) == contents(source)


def test_an_export_into_a_folder_that_cannot_be_written_names_it(
    source: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, content: bytes) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path), content)

    monkeypatch.setattr(Path, "write_bytes", refused)
    with pytest.raises(StoreReadOnly, match=r"export in .*out cannot be written \(Permission denied\)"):
        export_tables(Side(source), ["orders"], tmp_path / "out", "jsonl")


@pytest.mark.parametrize(("wcu", "puts"), [(None, 1), (1e9, 5)])
def test_items_go_to_a_file_in_large_transactions_unless_a_pace_is_kept(
    source: EmbeddedStore, tmp_path: Path, wcu: float | None, puts: int
) -> None:
    count = len(contents(source))
    export_tables(Side(source), ["orders"], tmp_path / "out", "jsonl")
    with CountingStore(tmp_path / "b.db", durable=False) as target:
        written: list[int] = []
        Import(tmp_path / "out").run(
            Side(target),
            owner="run",
            options=CopyOptions(wcu=wcu),
            outside=OUTSIDE,
            on_written=lambda items, units: written.append(items * (units >= items)),
        )
        assert contents(target) == contents(source)
        assert sum(written) == count
        assert target.puts == puts
