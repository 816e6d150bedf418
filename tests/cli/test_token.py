"""`partita token`, and the secret that signs it."""

from __future__ import annotations

import stat
from pathlib import Path

import jwt
import pytest
from tests.cli.conftest import Run

from partita.cli._data import DataFolder
from partita.http import Caller, Identity, Role

pytestmark = pytest.mark.req("X03")


def identity_of(folder: Path) -> Identity:
    return Identity(DataFolder(folder).secret("tokens"))


@pytest.mark.parametrize("role", ["user", "operator"])
def test_the_token_is_what_the_services_accept(role: str, run: Run, folder: Path) -> None:
    result = run("token", "--user", "ann", "--role", role)
    assert result.exit_code == 0
    assert identity_of(folder).caller(result.output.strip()) == Caller("ann", Role(role))


def test_it_is_valid_for_so_many_days(run: Run) -> None:
    claims = jwt.decode(
        run("token", "--user", "ann", "--days", "2").output.strip(), options={"verify_signature": False}
    )
    assert claims["exp"] - claims["iat"] == 2 * 86_400


def test_an_unusable_user_is_a_usage_error(run: Run) -> None:
    result = run("token", "--user", "")
    assert result.exit_code == 2
    assert "A user id has 1 to 128 characters." in result.output


def test_the_secret_is_made_once_for_its_owner_alone(folder: Path) -> None:
    data = DataFolder(folder)
    assert data.secret("tokens") == data.secret("tokens")
    assert [file.name for file in folder.iterdir()] == ["secret.key"]
    assert stat.S_IMODE((folder / "secret.key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_each_purpose_and_folder_has_its_own_secret(tmp_path: Path) -> None:
    one, other = DataFolder(tmp_path / "one"), DataFolder(tmp_path / "other")
    secrets = {one.secret("tokens"), one.secret("cursors"), other.secret("tokens"), other.secret("cursors")}
    assert len(secrets) == 4
