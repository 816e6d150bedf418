"""`partita export` and `partita import`: what they print, and what they reject."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.transfer.support import ORDERS, contents, fill

from partita import EmbeddedStore
from partita.store import DeleteItem, ScanTable, SetRecovery
from partita.testing import FakeClock


@pytest.mark.parametrize("kind", ["dynamodb", "jsonl", "csv"])
def test_there_and_back(run: Run, tmp_path: Path, kind: str) -> None:
    source, target, out = str(tmp_path / "a.db"), str(tmp_path / "b.db"), str(tmp_path / "out")
    with EmbeddedStore(source, durable=False) as store:
        fill(store, 30)
        before = contents(store)
    exported = run("export", out, "orders", "--from", source, "--format", kind)
    assert "orders: 30 items in 1 file\n" in exported.output
    result = run("import", out, "--to", target, "--yes")
    assert (result.exit_code, "30 items for orders; the checksums match." in result.output) == (0, True)
    with EmbeddedStore(target) as store:
        assert contents(store) == before


def test_a_service_of_the_data_folder_is_exported(seeded: Run, tmp_path: Path) -> None:
    result = seeded("export", str(tmp_path / "out"), "todo")
    assert result.exit_code == 0, result.output
    assert "todo-app-data: " in result.output


def test_tables_are_exported_as_they_were(run: Run, tmp_path: Path) -> None:
    source, clock = str(tmp_path / "a.db"), FakeClock(int(time.time()) - 100)
    with EmbeddedStore(source, durable=False, clock=clock) as store:
        fill(store, 30)
        store.execute(SetRecovery("orders"))
        before, then = contents(store), clock()
        clock.advance(1)
        for order in store.execute(ScanTable("orders")).items[::3]:
            store.execute(DeleteItem("orders", {part.name: order[part.name] for part in ORDERS.key}))
    at = datetime.fromtimestamp(then, UTC).isoformat()
    for kind in ("dynamodb", "jsonl"):
        result = run("export", str(tmp_path / kind), "--from", source, "--at", at, "--format", kind)
        assert "orders: 30 items in 1 file\n" in result.output
        assert run("import", str(tmp_path / kind), "--to", str(tmp_path / f"{kind}.db"), "--yes").exit_code == 0
        with EmbeddedStore(tmp_path / f"{kind}.db") as store:
            assert contents(store) == before
    summary = next((tmp_path / "dynamodb").rglob("manifest-summary.json"))
    assert json.loads(summary.read_text())["exportTime"].startswith(at[:19])
    early = run("export", str(tmp_path / "early"), "--from", source, "--at", "2001-01-01T00:00:00Z")
    assert (early.exit_code, "instant 2001-01-01T00:00:00.000+00:00 is outside the range" in early.output) == (1, True)


def test_a_damaged_export_is_one_line(run: Run, tmp_path: Path) -> None:
    source, out = str(tmp_path / "a.db"), tmp_path / "out"
    with EmbeddedStore(source, durable=False) as store:
        fill(store, 3)
    assert run("export", str(out), "--from", source, "--format", "jsonl").exit_code == 0
    (out / "orders" / "part-00000.jsonl").write_text("{}")
    result = run("import", str(out), "--to", str(tmp_path / "b.db"), "--yes")
    assert (result.exit_code, "part-00000.jsonl is truncated or altered" in result.output) == (1, True)
    assert not (tmp_path / "b.db").exists()
