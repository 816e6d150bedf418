"""`partita sweep`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

from partita import EmbeddedStore
from partita.store import CreateTable, KeyAttribute, ListTables, PutItem, ScanTable, TableSchema
from partita.testing import FakeClock


def test_it_deletes_what_has_expired(run: Run, folder: Path) -> None:
    folder.mkdir()
    with EmbeddedStore(folder / "partita.db", clock=FakeClock()) as store:
        store.execute(CreateTable(TableSchema("notes", KeyAttribute("id"), ttl="until")))
        for name, until in (("old", 1_700_000_000), ("new", 4_000_000_000)):
            store.execute(PutItem("notes", {"id": name, "until": until}))
    result = run("sweep")
    assert (result.exit_code, result.output) == (0, "1 expired items deleted\n")
    with EmbeddedStore(folder / "partita.db") as store:
        assert [item["id"] for item in store.execute(ScanTable("notes")).items] == ["new"]
        assert store.execute(ListTables()) == ("notes",)


def test_it_makes_no_database(run: Run, folder: Path) -> None:
    result = run("sweep")
    assert (result.exit_code, "There is no database" in result.output, folder.exists()) == (1, True, False)
