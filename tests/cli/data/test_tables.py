"""`partita tables`, on the embedded database and on a server that speaks DynamoDB's protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.cli.conftest import Run
from tests.referee import ministack

from partita import EmbeddedStore, reports
from partita.cli.data._tables import differences
from partita.errors import TableInUse, ValidationFailed
from partita.store._interface import Store
from partita.store._requests import CreateIndex, CreateTable, DeleteTable, ListTables, Request, SetStream, SetTimeToLive
from partita.store._schema import IndexSchema, KeyAttribute, TableSchema
from partita.store.remote import Credentials, RemoteStore
from partita_services.todo.model import TABLE

pytestmark = [pytest.mark.xdist_group("referee"), pytest.mark.req("X12")]

CITY = KeyAttribute("city")
SCHEMA = TableSchema(
    "places",
    KeyAttribute("pk"),
    KeyAttribute("sk"),
    (IndexSchema("by_city", (CITY,), projection=("a", "b")),),
    ttl="ttl",
    stream="NEW_IMAGE",
)


@pytest.fixture(scope="module")
def ministack_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A separate server, because other tests have the same tables on the shared one."""
    with ministack(tmp_path_factory.mktemp("ministack")) as url:
        yield url


@pytest.fixture(scope="module")
def remote(ministack_url: str) -> Iterator[RemoteStore]:
    with RemoteStore(ministack_url, credentials=Credentials("test", "test")) as store:
        yield store


@pytest.fixture
def server(remote: RemoteStore, ministack_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A server without tables; the environment points commands to it."""
    monkeypatch.setenv("PARTITA_STORE", ministack_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    yield remote
    for table in remote.execute(ListTables()):
        remote.execute(DeleteTable(table))


@pytest.mark.parametrize("command", ["tables", "deploy"])
def test_a_comparison_with_nothing_makes_nothing(command: str, run: Run, folder: Path) -> None:
    result = run(command, "diff", "todo")
    assert (result.exit_code, folder.exists()) == (1, False)
    assert result.output.startswith(f"Error: There is no database in {folder}.")


def test_tables_are_created_once_on_the_embedded_database(run: Run) -> None:
    assert run("tables", "create", "accounts").exit_code == 0
    assert [TABLE.name, "is", "missing"] in [
        line.split()[:3] for line in run("tables", "diff", "todo").output.splitlines()
    ]
    assert f"{TABLE.name}: created" in run("tables", "create", "todo").output
    assert f"{TABLE.name}: exists already" in run("tables", "create", "todo").output
    assert (run("tables", "diff", "todo").exit_code, run("tables", "update", "todo").output) == (0, "")


@pytest.mark.parametrize(("service", "has_workers"), [("todo", True), ("countries", False)])
def test_where_workers_report_there_is_a_table_for_it(run: Run, service: str, *, has_workers: bool) -> None:
    run("tables", "create", "accounts")
    assert (f"{reports.TABLE.name}  " in run("tables", "diff", service).output) is has_workers
    assert (f"{reports.TABLE.name}: created" in run("tables", "create", service).output) is has_workers
    assert run("tables", "diff", service).exit_code == 0


@pytest.fixture
def rival(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process, which is always the first to make the same changes of tables."""
    execute = EmbeddedStore.execute

    def overtaken(store: EmbeddedStore, request: Request[Any]) -> Any:
        if isinstance(request, CreateTable | CreateIndex | SetTimeToLive | SetStream):
            execute(store, request)
        return execute(store, request)

    monkeypatch.setattr(EmbeddedStore, "execute", overtaken)


@pytest.mark.usefixtures("rival")
def test_two_processes_may_create_the_tables_at_the_same_time(run: Run) -> None:
    assert run("tables", "create", "todo").output.splitlines()[0] == f"{TABLE.name}: exists already"
    assert "27 new" in run("seed", "todo").output


@pytest.mark.usefixtures("rival")
def test_two_processes_may_update_the_tables_at_the_same_time(run: Run, folder: Path) -> None:
    folder.mkdir()
    bare = replace(TABLE.schema, indexes=TABLE.schema.indexes[:1], ttl=None, stream=None)
    with EmbeddedStore(folder / "partita.db") as store, pytest.raises(TableInUse):
        store.execute(CreateTable(bare))
    lines = run("tables", "update", "todo").output.splitlines()
    assert len(lines) > 3
    assert all(line.endswith(": fixed by another process") for line in lines)
    assert run("tables", "diff", "todo").exit_code == 0


def test_a_change_that_the_store_refuses_is_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    execute = EmbeddedStore.execute

    def refusing(store: EmbeddedStore, request: Request[Any]) -> Any:
        if isinstance(request, CreateTable):
            raise ValidationFailed("Such tables are refused.")
        return execute(store, request)

    monkeypatch.setattr(EmbeddedStore, "execute", refusing)
    result = run("tables", "update", "todo")
    assert (result.exit_code, result.output) == (1, "Error: Such tables are refused.\n")


def test_tables_are_created_on_a_server_as_they_are_declared(run: Run, server: Store) -> None:
    assert run("tables", "create", "todo").exit_code == 0
    result = run("tables", "diff", "todo")
    assert (result.exit_code, result.output) == (0, "The store has everything that is declared.\n")


def test_what_is_missing_is_added_on_a_server(run: Run, server: Store) -> None:
    bare = replace(TABLE.schema, indexes=TABLE.schema.indexes[:1], ttl=None, stream=None)
    for table in (bare, reports.TABLE.schema):
        server.execute(CreateTable(table))
    missing = json.loads(run("tables", "diff", "todo", "--json").output)
    assert {row["remedy"] for row in missing} == {"partita tables update"}
    assert run("tables", "update", "todo").exit_code == 0
    assert run("tables", "diff", "todo", "--json").output == "[]\n"


def test_sample_data_goes_to_the_server(run: Run, server: Store) -> None:
    assert "27 new" in run("seed", "todo").output
    assert "0 new, 27 existed already" in run("seed", "todo").output


def changes(stored: TableSchema | None) -> list[object]:
    return [each.change for each in differences(SCHEMA, stored)]


def test_each_difference_has_what_mends_it() -> None:
    assert changes(None) == [CreateTable(SCHEMA)]
    bare = replace(SCHEMA, indexes=(), ttl=None, stream=None)
    expected = [
        CreateIndex("places", SCHEMA.indexes[0]),
        SetTimeToLive("places", "ttl"),
        SetStream("places", "NEW_IMAGE"),
    ]
    assert changes(bare) == expected


def test_the_order_of_projected_attributes_is_no_difference() -> None:
    assert changes(replace(SCHEMA, indexes=(replace(SCHEMA.indexes[0], projection=("b", "a")),))) == []


OTHERWISE = {
    "another key": replace(SCHEMA, range=None),
    "another index": replace(SCHEMA, indexes=(replace(SCHEMA.indexes[0], projection="ALL"),)),
    "another ttl": replace(SCHEMA, ttl="expires"),
    "another stream": replace(SCHEMA, stream="KEYS_ONLY"),
}


@pytest.mark.parametrize("stored", OTHERWISE.values(), ids=OTHERWISE.keys())
def test_what_cannot_be_changed_is_said(stored: TableSchema) -> None:
    (found,) = differences(SCHEMA, stored)
    assert (found.change, found.is_harmless) == (None, False)


def test_what_is_stored_but_not_declared_is_harmless() -> None:
    bare = replace(SCHEMA, indexes=(), ttl=None, stream=None)
    assert [(each.change, each.is_harmless) for each in differences(bare, SCHEMA)] == [(None, True)] * 3


def test_a_local_index_cannot_be_added() -> None:
    local = replace(SCHEMA, indexes=(IndexSchema("local", SCHEMA.key[:1], (CITY,), local=True),))
    (found,) = differences(local, replace(SCHEMA, indexes=()))
    assert found.change is None


def test_an_address_that_is_none_is_refused(run: Run) -> None:
    result = run("tables", "diff", "--store", "ftp://host")
    assert (result.exit_code, "is not a valid address of a store" in result.output) == (1, True)
