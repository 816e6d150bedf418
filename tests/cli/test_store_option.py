"""Commands of services use the store that `--store` or `PARTITA_STORE` names, as all other commands do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Run

from partita import EmbeddedStore, Session
from partita_services.countries.model import active_countries

pytestmark = pytest.mark.req("X12")


def test_countries_are_imported_where_the_store_says(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTITA_STORE", str(tmp_path / "elsewhere.db"))
    file = tmp_path / "list.csv"
    file.write_text("alpha2Code,alpha3Code,numericCode,name\nBO,BOL,068,Bolivia\n", encoding="utf-8")
    assert run("countries", "import", str(file), "--apply").exit_code == 0
    assert not (folder / "partita.db").exists()
    with EmbeddedStore(tmp_path / "elsewhere.db") as store:
        assert [country.name for country in Session(store).run(active_countries())] == ["Bolivia"]


@pytest.mark.parametrize("address", ["localhost:8000", "127.0.0.1:8000", "db.local:8000/x", "dynamodb", "http"])
def test_an_address_without_its_scheme_is_not_taken_for_a_file(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    commands = (("tables", "create", "todo", "--store"), ("copy", "--to", "embedded", "--from"))
    outputs = [run(*command, address).output for command in commands]
    told = f"Error: {address!r} is not a valid address of a store. Use dynamodb://REGION"
    assert [text.startswith(told) for text in outputs] == [True, True]
    assert list(folder.iterdir()) == []


def test_a_command_that_reads_makes_no_file_where_there_is_none(run: Run, tmp_path: Path) -> None:
    missing = tmp_path / "embeded"
    result = run("adopt", "orders", "--store", str(missing), "--yes")
    assert (result.exit_code, f"The database {missing} does not exist." in result.output) == (1, True)
    assert not missing.exists()
