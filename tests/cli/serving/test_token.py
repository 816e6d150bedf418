"""`partita token`, and the secret key that signs tokens."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import jwt
import pytest
from tests.cli.conftest import Run

from partita.cli import DataFolder, identity_of
from partita.errors import SecretExposed, StoreFull
from partita.http import Caller, Role

pytestmark = pytest.mark.req("X03")


@pytest.mark.parametrize("role", ["user", "operator"])
def test_the_token_is_what_the_services_accept(role: str, run: Run, folder: Path) -> None:
    result = run("token", "--user", "ann", "--role", role)
    assert result.exit_code == 0
    assert identity_of(DataFolder(folder)).caller(result.output.strip()) == Caller("ann", Role(role))


def test_it_is_valid_for_so_many_days(run: Run) -> None:
    claims = jwt.decode(
        run("token", "--user", "ann", "--days", "2").output.strip(), options={"verify_signature": False}
    )
    assert claims["exp"] - claims["iat"] == 2 * 86_400


def test_an_unusable_user_is_a_usage_error(run: Run) -> None:
    result = run("token", "--user", "")
    assert result.exit_code == 2
    assert "A user id must have 1 to 128 characters." in result.output


def test_the_secret_is_made_once_for_its_owner_alone(folder: Path) -> None:
    data = DataFolder(folder)
    assert data.secret("tokens") == data.secret("tokens")
    assert [file.name for file in folder.iterdir()] == ["secret.key"]
    assert stat.S_IMODE((folder / "secret.key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="has no modes")
@pytest.mark.parametrize(
    ("file", "folder_mode", "remedy"),
    [(0o644, 0o777, "chmod 600 {key}"), (0o620, 0o700, "chmod 600 {key}"), (0o600, 0o777, "chmod o-w {folder}")],
)
def test_a_key_that_others_can_read_or_replace_signs_nothing(
    file: int, folder_mode: int, remedy: str, run: Run, folder: Path
) -> None:
    key = folder / "secret.key"
    assert run("token", "--user", "ann").exit_code == 0
    key.chmod(file)
    folder.chmod(folder_mode)
    result = run("token", "--user", "ann")
    said = f"Error: Other users can read or replace the key {key}. Run `{remedy.format(key=key, folder=folder)}`."
    assert (result.exit_code, result.output.startswith(said)) == (1, True)
    with pytest.raises(SecretExposed) as refused:
        DataFolder(folder).secret("tokens")
    assert refused.value.code == "secret_exposed"


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_key_of_another_length_signs_nothing(size: int, run: Run, folder: Path) -> None:
    folder.mkdir()
    key = folder / "secret.key"
    key.write_bytes(bytes(size))
    result = run("token", "--user", "ann", "--role", "operator")
    assert (result.exit_code, result.output) == (
        1,
        f"Error: The key {key} has {size} bytes, not 32. Restore it, or delete it, which ends all tokens.\n",
    )
    assert key.read_bytes() == bytes(size)


def test_a_key_that_could_not_be_written_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreFull, match="No space left on device"):
        DataFolder(folder).secret("tokens")
    assert list(folder.iterdir()) == []


def test_each_purpose_and_folder_has_its_own_secret(tmp_path: Path) -> None:
    one, other = DataFolder(tmp_path / "one"), DataFolder(tmp_path / "other")
    secrets = {one.secret("tokens"), one.secret("cursors"), other.secret("tokens"), other.secret("cursors")}
    assert len(secrets) == 4


@pytest.mark.parametrize("days", ["0", "366", "36500", "99999999999"])
def test_it_is_not_valid_for_ever(days: str, run: Run) -> None:
    result = run("token", "--user", "ann", "--days", days)
    assert (result.exit_code, f"{days} is not in the range 1<=x<=365" in result.output) == (2, True)
    assert run("token", "--user", "ann", "--days", "365").exit_code == 0


def test_an_operator_has_it_for_a_month_at_most(run: Run) -> None:
    result = run("token", "--user", "ann", "--role", "operator", "--days", "31")
    assert (result.exit_code, "valid for at most 30 days" in result.output) == (2, True)
    assert run("token", "--user", "ann", "--role", "operator", "--days", "30").exit_code == 0


@pytest.mark.parametrize(("role", "days"), [("user", 30), ("operator", 1)])
def test_how_long_it_is_valid_unless_said_otherwise(role: str, days: int, run: Run, folder: Path) -> None:
    claims = identity_of(DataFolder(folder)).claims(run("token", "--user", "ann", "--role", role).output.strip())
    assert claims["exp"] - claims["iat"] == days * 86_400
