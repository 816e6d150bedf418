"""`partita openapi`: API descriptions as files, and a check that the committed ones are current."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from tests.cli.conftest import Run

from partita import AsyncSession, EmbeddedStore
from partita.app import build_app
from partita.http import AppState, Identity
from partita.service import Service, discover

COMMITTED = Path(__file__).parents[3] / "docs/openapi"


@pytest.mark.req("X13")
@pytest.mark.parametrize("service", discover(), ids=lambda service: service.name)
def test_the_committed_description_is_current(service: Service, run: Run) -> None:
    checked = run("openapi", service.name, "--check", "--out", str(COMMITTED))
    assert (checked.exit_code, checked.output) == (0, "All descriptions are current.\n"), "run `make docs`"


@pytest.mark.req("X13")
async def test_the_file_is_what_is_served(run: Run, tmp_path: Path) -> None:
    run("openapi", "accounts", "--out", str(tmp_path))
    (service,) = (each for each in discover() if each.name == "accounts")
    with EmbeddedStore(":memory:") as store:
        app = build_app([service], AppState(AsyncSession(store), Identity(b"k" * 32)))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            served = (await client.get("/accounts/api/openapi.json")).json()
    written = json.loads((tmp_path / "accounts.json").read_text(encoding="utf-8"))
    assert written == {name: value for name, value in served.items() if name != "servers"}


def test_the_command_writes_and_checks(run: Run, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "apis"))
    file = tmp_path / "apis/accounts.json"
    missing = run("openapi", "accounts", "--check", *out)
    assert (missing.exit_code, file.exists()) == (1, False)
    assert missing.output.splitlines() == [
        f"{file}: not current",
        "Error: Run `partita openapi` to update the descriptions.",
    ]
    assert run("openapi", "accounts", *out).output == f"{file}: written\n"
    assert run("openapi", "accounts", "--check", *out).output == "All descriptions are current.\n"
    file.write_text("changed by hand", encoding="utf-8")
    assert run("openapi", "accounts", "--check", *out).exit_code == 1


def test_routes_beside_an_api_have_a_file_of_their_own(run: Run, tmp_path: Path) -> None:
    run("openapi", "commitcollect", "--out", str(tmp_path))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["commitcollect-site.json", "commitcollect.json"]
