"""`partita commitcollect models`: loads, lists and retires models in any store, without a user."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.services.commitcollect.collectibles.test_definition import written
from tests.wire.support import serving

from partita import EmbeddedStore, Session
from partita.cli import main
from partita.store import ScanTable
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.model import TABLE

pytestmark = pytest.mark.req("C13")


def run(*arguments: str | Path) -> tuple[int, list[str]]:
    result = CliRunner().invoke(main, ["commitcollect", "models", *map(str, arguments)])
    return result.exit_code, result.output.splitlines()


def test_models_are_loaded_listed_and_retired_without_a_user(tmp_path: Path) -> None:
    data = ("--data", tmp_path / "data")
    assert run("load", *data) == (0, ["lighthouse: added", "sailing-boat: added", "steam-locomotive: added"])
    assert run("load", written(tmp_path), *data) == (0, ["kite: added"])
    assert run("load", written(tmp_path), *data) == (0, ["kite: unchanged"])
    code, (said,) = run("retire", "kite", *data)
    assert (code, said.startswith("kite: retired since 20")) == (0, True)
    code, lines = run("list", *data)
    assert (code, [line.split() for line in lines][:3]) == (
        0,
        [
            ["model", "name", "parts", "retired"],
            ["kite", "Kite", "1", said.split()[-1]],
            ["lighthouse", "Lighthouse", "10", "-"],
        ],
    )
    with EmbeddedStore(tmp_path / "data" / "partita.db") as store:
        owners = {str(item["PK"]).partition("#")[0] for item in store.execute(ScanTable(TABLE.name)).items}
    assert owners == {"CATALOGUE", "MODEL", "PICTURE"}


def test_tables_that_are_there_already_get_models_the_same_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables exist already, as if created by CloudFormation, and are reached over DynamoDB's protocol."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_REGION", "ap-southeast-2")
    with EmbeddedStore(":memory:") as store, serving(store) as (host, port):
        Session(store).create_tables(SERVICE.tables)
        where = ("--store", f"http://{host}:{port}", "--data", tmp_path)
        assert run("list", *where)[1][0].startswith("There are no models.")
        assert run("load", *where)[0] == 0
        assert len(run("list", *where)[1]) == 4


def test_mistakes_are_told_in_one_line(tmp_path: Path) -> None:
    data = ("--data", tmp_path / "data")
    code, (said,) = run("load", written(tmp_path, parts=[]), *data)
    assert (code, "kite.json is not a model: parts" in said) == (1, True)
    run("load", *data)
    code, (said,) = run("retire", "kite", *data)
    assert (code, said) == (1, "Error: There is no model kite. `partita commitcollect models list` shows all.")
