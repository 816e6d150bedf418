"""`partita tokens`: keys are rotated and tokens revoked, also while a server runs."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jwt
import pytest
from click.testing import CliRunner
from tests.cli.conftest import Run

from partita.cli import DataFolder, identity_of, main
from partita.cli._token_file import FOLLOW_SECONDS, LONGEST_SECONDS, StoredTokens, TokenFile
from partita.errors import StoreDamaged, StoreReadOnly
from partita.http import Caller, HttpProblem
from partita.testing import FakeClock

pytestmark = pytest.mark.req("X03")

ANN = Caller("ann")


def made(run: Run, user: str = "ann") -> str:
    return run("token", "--user", user).output.strip()


def outcome(folder: Path, token: str) -> str:
    """Return the caller that a token has in a new process, or the reason why it is rejected."""
    try:
        return identity_of(DataFolder(folder)).caller(token).user_id
    except HttpProblem as problem:
        return str(problem.detail)


def key_of(token: str) -> Any:
    return jwt.get_unverified_header(token)["kid"]


def listed(run: Run) -> Any:
    return json.loads(run("tokens", "list", "--json").output)


def test_one_token_is_revoked(run: Run, folder: Path) -> None:
    stolen, other = made(run), made(run)
    result = run("tokens", "revoke", stolen)
    claims = identity_of(DataFolder(folder)).claims(stolen)
    assert (result.exit_code, result.output) == (0, f"Revoked token {claims['jti']} of ann.\n")
    assert stolen not in result.output
    assert [outcome(folder, token) for token in (stolen, other)] == ["The token was revoked.", "ann"]
    assert listed(run)["revoked_tokens"] == {claims["jti"]: claims["exp"]}
    assert run("tokens", "revoke", stolen).exit_code == 0  # repeating it does no harm


def test_a_token_is_revoked_by_its_id(run: Run, folder: Path) -> None:
    stolen = made(run)
    token_id = identity_of(DataFolder(folder)).claims(stolen)["jti"]
    assert run("tokens", "revoke", token_id).output == f"Revoked token {token_id}.\n"
    assert outcome(folder, stolen) == "The token was revoked."


def test_a_token_is_read_from_where_others_do_not_see_it(run: Run, folder: Path) -> None:
    stolen = made(run)
    arguments = ["tokens", "revoke", "-", "--data", str(folder)]
    assert CliRunner().invoke(main, arguments, input=f"{stolen}\n").exit_code == 0
    assert outcome(folder, stolen) == "The token was revoked."


def test_all_tokens_of_a_user_are_revoked(run: Run, folder: Path) -> None:
    stolen, bobs = made(run), made(run, "bob")
    assert run("tokens", "revoke", "--user", "ann").output == "Revoked all tokens of ann that were issued until now.\n"
    assert [outcome(folder, token) for token in (stolen, bobs)] == ["The token was revoked.", "bob"]
    assert outcome(folder, made(run)) == "ann"
    assert listed(run)["revoked_users"].keys() == {"ann"}


@pytest.mark.parametrize("arguments", [(), ("TOKEN", "--user", "ann")])
def test_either_a_token_or_a_user_is_named(arguments: tuple[str, ...], run: Run) -> None:
    result = run("tokens", "revoke", *arguments)
    assert (result.exit_code, "Give a token, or --user." in result.output) == (2, True)


def test_a_token_of_another_folder_is_not_revoked_in_vain(run: Run, tmp_path: Path) -> None:
    made(run)
    foreign = identity_of(DataFolder(tmp_path / "other")).token(ANN)
    result = run("tokens", "revoke", foreign)
    assert (result.exit_code, "Check that it is a token of this data folder" in result.output) == (1, True)
    assert foreign not in result.output


def test_half_of_a_character_is_a_usage_error(run: Run) -> None:
    made(run)
    assert run("tokens", "revoke", "--user", "\udc80").exit_code == 2


def test_a_new_key_signs_and_the_one_before_stays_valid_until_the_next(run: Run, folder: Path) -> None:
    first = made(run)
    said = run("tokens", "rotate").output
    second = made(run)
    assert (key_of(first) in said, key_of(second) in said, key_of(first) != key_of(second)) == (True, True, True)
    assert [outcome(folder, token) for token in (first, second)] == ["ann", "ann"]
    run("tokens", "rotate")
    third = made(run)
    assert [outcome(folder, token) for token in (first, second, third)] == ["The token is not valid.", "ann", "ann"]
    assert [key["key_id"] for key in listed(run)["keys"]] == [key_of(third), key_of(second)]


def test_all_tokens_are_ended_at_once(run: Run, folder: Path) -> None:
    stolen = made(run)
    assert "No other is valid." in run("tokens", "rotate", "--end-previous").output
    assert [outcome(folder, token) for token in (stolen, made(run))] == ["The token is not valid.", "ann"]


def test_what_is_listed_can_be_read(run: Run) -> None:
    made(run)
    run("tokens", "revoke", "--user", "ann")
    run("tokens", "revoke", "0" * 32)
    run("tokens", "rotate")
    lines = run("tokens", "list").output.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["WHAT", "key", "key", "revoked token", "revoked user"]


def test_neither_file_alone_makes_a_key(run: Run, folder: Path, tmp_path: Path) -> None:
    made(run)
    run("tokens", "rotate", "--end-previous")
    token, other = made(run), tmp_path / "other"
    other.mkdir()
    (other / "tokens.json").write_bytes((folder / "tokens.json").read_bytes())
    assert outcome(other, token) == "The token is not valid."


def test_the_file_is_for_its_owner_alone(run: Run, folder: Path) -> None:
    made(run)
    run("tokens", "rotate")
    assert stat.S_IMODE((folder / "tokens.json").stat().st_mode) == 0o600


def test_a_running_server_follows_within_a_second(run: Run, folder: Path, fake_clock: FakeClock) -> None:
    data = DataFolder(folder)
    running = identity_of(data, fake_clock)
    stolen, kept = running.token(ANN), running.token(ANN)
    run("tokens", "revoke", running.claims(stolen)["jti"])
    run("tokens", "rotate")
    fake_clock.advance(FOLLOW_SECONDS)
    with pytest.raises(HttpProblem, match="revoked"):
        running.caller(stolen)
    assert running.caller(kept) == ANN
    assert key_of(running.token(ANN)) != key_of(kept)


def test_the_file_is_looked_at_once_a_second(
    folder: Path, fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, looks, stat_of = TokenFile(DataFolder(folder), fake_clock), list[Path](), Path.stat
    file.change(lambda stored: stored.with_new_key(fake_clock()))

    def counted(path: Path, **more: Any) -> Any:
        looks.append(path)
        return stat_of(path, **more)

    monkeypatch.setattr(Path, "stat", counted)
    for _ in range(100):
        file.policy()
    assert len(looks) == 1
    fake_clock.advance(FOLLOW_SECONDS)
    file.policy()
    assert len(looks) == 2


def test_what_has_expired_is_forgotten() -> None:
    stored = StoredTokens().without_token("a", 100).without_token("b", 200).without_user("ann", 50)
    assert stored.without_expired(100).tokens == {"b": 200}
    assert stored.without_expired(100).users == {"ann": 51}
    assert stored.without_expired(51 + LONGEST_SECONDS) == StoredTokens()


def test_revocations_at_the_same_time_are_all_kept(folder: Path) -> None:
    data = DataFolder(folder)
    data.secret("tokens")
    ids = [f"{number:032x}" for number in range(20)]

    def revoke(token_id: str) -> None:
        TokenFile(data).change(lambda stored: stored.without_token(token_id, 10**10))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(revoke, ids))
    assert sorted(TokenFile(data).read().tokens) == ids


DAMAGED = ["", "{", "[]", '{"keys": []}', '{"keys": [{"salt": "c2hvcnQ="}]}', '{"revoked": {}}']


@pytest.mark.parametrize("content", DAMAGED)
def test_without_the_list_of_what_was_revoked_nobody_is_let_in(
    content: str, run: Run, folder: Path, fake_clock: FakeClock
) -> None:
    running = identity_of(DataFolder(folder), fake_clock)
    token = running.token(ANN)
    (folder / "tokens.json").write_text(content)
    fake_clock.advance(FOLLOW_SECONDS)
    for _ in range(2):
        with pytest.raises(StoreDamaged, match="cannot be read"):
            running.caller(token)
    for command in (("token", "--user", "ann"), ("tokens", "list"), ("tokens", "rotate")):
        result = run(*command)
        assert (result.exit_code, "Restore it" in result.output) == (1, True)


def test_a_file_that_cannot_be_written_is_said(folder: Path) -> None:
    file = TokenFile(DataFolder(folder))
    (folder / "tokens.json").mkdir()
    with pytest.raises(StoreReadOnly, match="cannot be"):
        file.change(lambda stored: stored)
    assert sorted(path.name for path in folder.iterdir() if path.is_file() and path.name.startswith("tmp")) == []


@pytest.mark.parametrize("command", ["rotate --end-previous", "revoke --user ann", "list"])
def test_a_folder_without_a_key_is_not_taken_for_that_of_a_server(command: str, run: Run, folder: Path) -> None:
    """The operator would believe that a key, or a token, of the server had been revoked."""
    result = run("tokens", *command.split())
    assert result.exit_code == 1
    assert result.output == f"Error: There is no key in {folder}. Name the folder of the server with --data.\n"
    assert not folder.exists()


def test_tokens_of_a_key_in_the_environment_are_revoked_without_a_key_file(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTITA_SECRET", "x" * 32)
    assert run("tokens", "revoke", "--user", "ann").exit_code == 0
    assert not (folder / "secret.key").exists()
