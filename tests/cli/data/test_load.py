"""`partita load`: where it writes, what it reports, and how it continues."""

from __future__ import annotations

import gzip
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run
from tests.wire.support import serving

from partita import EmbeddedStore, Session
from partita.buckets import FolderBuckets
from partita.runtime._private_files import HAS_MODES
from partita.store import CreateTable, KeyAttribute, ScanTable, TableSchema
from partita.store.embedded import LoadItems
from partita_services.todo.model import TABLE, Task, task_by_id

NEW = {"ConditionExpression": "attribute_not_exists(id)"}


def tagged(number: int, **others: Any) -> dict[str, Any]:
    return {"Item": {"id": {"S": f"{number:05}"}}, **others}


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = tmp_path / "target.db"
    with EmbeddedStore(path, durable=False) as store:
        store.execute(CreateTable(TableSchema("orders", KeyAttribute("id"))))
    return str(path)


def stored(path: str) -> list[Any]:
    with EmbeddedStore(path) as store:
        found = store.execute(ScanTable("orders")).items
        return sorted(found, key=lambda item: str(item["id"]))


def test_files_of_a_folder_are_loaded_whatever_their_format(run: Run, tmp_path: Path, path: str) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.json").write_bytes(lines(tagged(1)))
    (source / "b.json.gz").write_bytes(gzip.compress(lines(tagged(2))))
    (source / "c.jsonl").write_bytes(lines({"id": "00003", "blob": {"$B": "AAE="}}))
    (source / "d.csv").write_text("id,total:N\n00004,7\n")
    (source / "e.ion").write_text('{Item: {id: "00005"}}')
    result = run("load", str(source), "--to", path, "--table", "orders", "--yes")
    assert result.exit_code == 0, result.output
    assert "5 items written, 0 conditions were false, 0 records failed." in result.output
    assert stored(path) == [
        {"id": "00001"},
        {"id": "00002"},
        {"id": "00003", "blob": b"\x00\x01"},
        {"id": "00004", "total": 7},
        {"id": "00005"},
    ]


def test_what_is_not_written_is_reported(run: Run, tmp_path: Path, path: str) -> None:
    file, reports = tmp_path / "a.json", tmp_path / "reports"
    file.write_bytes(lines(tagged(1, **NEW), tagged(1, **NEW), {"nothing": 1}))
    result = run("load", str(file), "--to", path, "--table", "orders", "--yes", "--reports", str(reports))
    assert result.exit_code == 1
    assert "1 items written, 1 conditions were false, 1 records failed." in result.output
    assert not HAS_MODES or stat.S_IMODE((reports / "ERROR").stat().st_mode) == 0o700
    (error,) = map(json.loads, (reports / "ERROR" / "part-00000.json").read_text().splitlines())
    assert (error["Object"], error["Record"]) == (str(file), 3)
    again = run("load", str(file), "--to", path, "--table", "orders", "--yes")
    assert "0 items written, 2 conditions were false" in again.output  # it starts again, and prints the errors
    assert "ConditionalCheckFailedException" in again.output


def test_a_load_that_was_cut_off_goes_on(run: Run, tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each record has a condition that lets it be written only once."""
    monkeypatch.setattr("partita.cli.data.loading._embedded.CHUNK", 10)
    file = tmp_path / "a.json"
    file.write_bytes(lines(*(tagged(number, **NEW) for number in range(40))))
    execute, loads = EmbeddedStore.execute, 0

    def failing(store: EmbeddedStore, request: Any) -> Any:
        nonlocal loads
        loads += isinstance(request, LoadItems)
        if loads == 3:
            raise KeyboardInterrupt
        return execute(store, request)

    monkeypatch.setattr(EmbeddedStore, "execute", failing)
    assert run("load", str(file), "--to", path, "--table", "orders", "--yes").exit_code != 0
    monkeypatch.setattr(EmbeddedStore, "execute", execute)
    result = run("load", str(file), "--to", path, "--table", "orders", "--yes")
    assert "Continuing after 20 records." in result.output
    assert "40 items written, 0 conditions were false, 0 records failed." in result.output
    assert len(stored(path)) == 40


def test_entities_are_checked_and_their_keys_derived(run: Run, folder: Path, tmp_path: Path) -> None:
    folder.mkdir(mode=0o700)
    with EmbeddedStore(folder / "partita.db", durable=False) as store:
        Session(store).create_tables([TABLE])
    file = tmp_path / "tasks.jsonl"
    given = {"user_id": "ann", "task_id": "t1", "title": "Call Ada", "created_at": 1, "updated_at": 1}
    file.write_bytes(lines(given, {"user_id": "ann"}))
    result = run("load", str(file), "--entity", "todo.Task", "--yes")
    assert result.exit_code == 1
    assert "title: Field required" in result.output
    with EmbeddedStore(folder / "partita.db") as store:
        found = Session(store).run(task_by_id("ann", "t1"))
        assert found == Task(**given, version=1)  # type: ignore[arg-type]
        assert store.execute(ScanTable(TABLE.name, index="GSI1")).count == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.json", "--table", "orders"), "nowhere.json does not exist"),
        (("a.json",), "either --table or --entity"),
        (("a.txt", "--table", "orders"), "Use --format"),
        (("a.json", "--entity", "todo.Nothing"), "no entity todo.Nothing"),
        (("a.json", "--table", "nothing"), "nothing not found"),
    ],
)
def test_a_mistake_is_one_line(
    run: Run, tmp_path: Path, path: str, arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "a.txt"):
        (tmp_path / name).write_bytes(lines(tagged(1)))
    result = run("load", *arguments, "--to", path, "--yes")
    assert result.exit_code != 0
    assert said in result.output
    assert "Traceback" not in result.output


def test_a_server_loads_by_itself(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    for bucket in ("in", "out"):
        (tmp_path / "buckets" / bucket).mkdir(parents=True)
    (tmp_path / "buckets" / "in" / "a.json").write_bytes(lines(*map(tagged, range(7)), {"nothing": 1}))
    with (
        EmbeddedStore(tmp_path / "served.db", durable=False) as store,
        serving(store, buckets=FolderBuckets(tmp_path / "buckets")) as (host, port),
    ):
        store.execute(CreateTable(TableSchema("orders", KeyAttribute("id"))))
        url = f"http://{host}:{port}"
        result = run("load", "s3://in/a.json", "--to", url, "--table", "orders", "--yes", "--reports", "s3://out/r")
        assert (result.exit_code, "COMPLETED_WITH_ERRORS: 8 records, 1 failed." in result.output) == (1, True)
        assert store.execute(ScanTable("orders")).count == 7
        assert len([*(tmp_path / "buckets" / "out" / "r").rglob("ERROR/part-00000.json")]) == 1
        file = tmp_path / "b.json"
        file.write_bytes(lines(tagged(9)))
        result = run("load", str(file), "--to", url, "--table", "orders", "--yes")
        assert (result.exit_code, "1 items written." in result.output) == (0, True)
        assert store.execute(ScanTable("orders")).count == 8
        wrong = run("load", "s3://in/a.json", "--to", url, "--table", "orders", "--yes")
        assert "--reports s3://BUCKET/PREFIX" in wrong.output
