"""`partita branch`: cheap copies of a data folder, to try a migration, a load or a bug fix."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from partita.cli._data_folder import whole_folder_option
from partita.cli._output import echo_json, echo_table, json_option
from partita.cli._signals import cleaning_up
from partita.folder import Branches


class _Branching(click.Group):
    """`partita branch NAME` creates a branch: a word that is not a subcommand is a name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The named subcommand, or `create`."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["create", *args]
        return super().resolve_command(ctx, args)


@click.group(cls=_Branching, subcommand_metavar="NAME | COMMAND [ARGS]...")
def branch() -> None:
    """Create cheap copies of the data folder, and switch between them.

    `partita branch NAME` creates one, to try a migration, a load or a bug fix.
    """


_name: Callable[..., Any] = click.argument("name", metavar="NAME")


@branch.command()
@_name
@whole_folder_option
def create(name: str, data: Path) -> None:
    """Create a branch NAME as a copy of the current branch.

    The copy is of one instant. The current branch may be in use.
    """
    with cleaning_up():
        made = Branches(data).create(name)
    shared = " that shares its blocks" if made.method == "reflink" else ""
    click.echo(f"{made.path}: a copy of {made.source}{shared}, {made.size:,} bytes.")
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
    """List the branches; the current one is marked with *."""
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
    """Select the branch that commands use from now on.

    `main` is the data folder itself. Running processes stay on their branch.
    """
    branches = Branches(data)
    branches.switch(name)
    click.echo(f"Commands now use {branches.path_of(name)}.")


@branch.command()
@_name
@whole_folder_option
def drop(name: str, data: Path) -> None:
    """Delete a branch.

    Refused for the current branch, and while a process uses it.
    """
    with cleaning_up():
        Branches(data).drop(name)
    click.echo(f"{name}: dropped.")


def _instant(at: float | None) -> str | None:
    return None if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%SZ}"
