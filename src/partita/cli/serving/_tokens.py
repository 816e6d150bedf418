"""`partita tokens`: list the keys that sign tokens, replace them, and revoke tokens."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._extras import needs_serve
from partita.cli._output import echo_json, echo_table, json_option
from partita.cli._token_file import LONGEST_SECONDS, TokenFile, identity_of
from partita.runtime import system_clock

_TOKEN_ID: Final = re.compile("[0-9a-f]{32}")


@click.group()
def tokens() -> None:
    """Revoke tokens, and replace the key that signs them."""


@tokens.command("list")
@data_option
@json_option
@needs_serve
def list_tokens(data: DataFolder, *, as_json: bool) -> None:
    """List the keys, the newest first, and the revocations.

    Tokens themselves are not stored, so they cannot be listed.
    """
    file = _file_of(data)
    stored = file.read().without_expired(system_clock())
    keys = [(file.key(key).key_id, key.since) for key in stored.keys]
    if as_json:
        shown = [{"key_id": key_id, "since": since} for key_id, since in keys]
        echo_json({"keys": shown, "revoked_tokens": stored.tokens, "revoked_users": stored.users})
        return
    rows = [("key", key_id, f"since {_time(since)}" if since else "the first") for key_id, since in keys]
    rows += [("revoked token", token_id, f"until {_time(until)}") for token_id, until in stored.tokens.items()]
    rows += [("revoked user", user_id, f"before {_time(since)}") for user_id, since in stored.users.items()]
    echo_table(("WHAT", "ID", "TIME"), rows)


@tokens.command()
@click.argument("token", required=False)
@click.option("--user", metavar="ID", help="Revoke all tokens of this user that were issued until now.")
@data_option
@needs_serve
def revoke(token: str | None, user: str | None, data: DataFolder) -> None:
    """Revoke a token before it expires.

    TOKEN is the token, its id (`jti`), or - to read it from the standard input, where other users cannot see it.
    """
    if (token is None) == (user is None):
        raise click.UsageError("Give a token, or --user.")
    file, now = _file_of(data), system_clock()
    if user is not None:
        try:
            file.change(lambda stored: stored.without_user(user, now))
        except UnicodeEncodeError:
            raise click.BadParameter("Must be valid UTF-8.", param_hint="--user") from None
        click.echo(f"Revoked all tokens of {user} that were issued until now.")
        return
    found = _named(str(token), data)
    file.change(lambda stored: stored.without_token(found["jti"], int(found.get("exp", now + LONGEST_SECONDS))))
    click.echo(f"Revoked token {found['jti']}" + (f" of {found['sub']}." if "sub" in found else "."))


@tokens.command()
@click.option("--end-previous", is_flag=True, help="End all existing tokens at once.")
@data_option
@needs_serve
def rotate(data: DataFolder, *, end_previous: bool) -> None:
    """Sign with a new key from now on.

    Tokens of the previous key stay valid until they expire, or until the next rotation.
    """
    file = _file_of(data)
    changed = file.change(lambda stored: stored.with_new_key(system_clock(), end_previous=end_previous))
    signing, *previous = [file.key(key).key_id for key in changed.keys]
    still = f" Tokens of key {previous[0]} stay valid until the next rotation." if previous else " No other is valid."
    click.echo(f"Key {signing} signs from now on.{still}")


def _file_of(data: DataFolder) -> TokenFile:
    """The file of a folder that has a key. In another one, a change would have no effect on any server."""
    if not data.has_key:
        raise click.ClickException(f"There is no key in {data.path}. Name the folder of the server with --data.")
    return TokenFile(data)


def _named(text: str, data: DataFolder) -> Mapping[str, Any]:
    """The claims of a token; if it is given by its id, only the id."""
    from partita.http import HttpProblem

    given = sys.stdin.read().strip() if text == "-" else text
    if _TOKEN_ID.fullmatch(given):
        return {"jti": given}
    try:
        return identity_of(data).claims(given)
    except HttpProblem as problem:
        hint = "Check that it is a token of this data folder, or give its id (`jti`)."
        raise click.ClickException(f"{problem.detail} {hint}") from None


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
