"""Commands of services are about the store that `--store` names, as all others are."""

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
