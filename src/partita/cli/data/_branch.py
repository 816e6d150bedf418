"""`partita branch`: cheap copies of a data folder, to try a migration, a load or a bug on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from partita.cli._data_folder import whole_folder_option
from partita.cli._output import echo_json, echo_table, json_option
from partita.folder import Branches


class _Branching(click.Group):
    """`partita branch NAME` makes a branch; what is not a command is a name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named, or `create`."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["create", *args]
        return super().resolve_command(ctx, args)


@click.group(cls=_Branching, subcommand_metavar="NAME | COMMAND [ARGS]...")
def branch() -> None:
    """Copies of the data folder to try something on: `partita branch NAME` makes one."""


_name: Callable[..., Any] = click.argument("name", metavar="NAME")


@branch.command()
@_name
@whole_folder_option
def create(name: str, data: Path) -> None:
    """Make a branch of the current one, as it is now; whatever runs there goes on."""
    made = Branches(data).create(name)
    shares = "shares its blocks" if made.method == "reflink" else "is a copy"
    click.echo(f"{made.path}: {made.size:,} bytes, {shares} of {made.source}.")
    click.echo(f"Use it with `partita branch switch {name}`, or with --data {made.path}.")


class _Row(Struct, frozen=True):
    name: str
    current: bool
    source: str | None
    made_at: str | None
    bytes: int
    path: str


@branch.command(name="list")
@whole_folder_option
@json_option
def list_branches(data: Path, *, as_json: bool) -> None:
    """The branches of the data folder; the current one has a star."""
    rows = [
        _Row(each.name, each.is_current, each.source, _instant(each.made_at), each.size, str(each.path))
        for each in Branches(data)
        if each.path.is_dir()
    ]
    if as_json:
        echo_json(rows)
        return
    shown = [
        (f"{'*' if row.current else ' '} {row.name}", row.source or "", row.made_at or "", f"{row.bytes:,}", row.path)
        for row in rows
    ]
    echo_table(("BRANCH", "FROM", "MADE", "BYTES", "FOLDER"), shown)


@branch.command()
@_name
@whole_folder_option
def switch(name: str, data: Path) -> None:
    """Have commands use a branch from now on; `main` is the folder itself. What runs goes on with the one it has."""
    branches = Branches(data)
    branches.switch(name)
    click.echo(f"Commands now use {branches.path_of(name)}.")


@branch.command()
@_name
@whole_folder_option
def drop(name: str, data: Path) -> None:
    """Delete a branch that no process uses."""
    Branches(data).drop(name)
    click.echo(f"{name}: dropped.")


def _instant(at: float | None) -> str | None:
    return None if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%SZ}"
