"""The command `partita` with all its subcommands; errors of ours become one clear line and exit code 1."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from partita.cli._names import installed_commands, named_command
from partita.cli._output import give_up_output, open_missing_streams
from partita.cli.data import (
    backup,
    branch,
    cdc,
    check,
    compact,
    copy,
    export,
    import_,
    lake,
    personal,
    queue,
    restore,
    seed,
    sweep,
    tables,
)
from partita.cli.model import adopt, completion, cost, deploy, docs, explain, migrate, new, openapi, patterns, schema
from partita.cli.serving import dynamodb, serve, token, tokens, worker
from partita.errors import PartitaError


class Commands(click.Group):
    """Our own commands and those of the services; errors say what to do, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return [*super().list_commands(ctx), *installed_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; a service is loaded only where it is none of ours."""
        return super().get_command(ctx, cmd_name) or named_command(cmd_name)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run as a program."""
        open_missing_streams()
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _told():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options, of which some print something."""
        with _told():
            return super().parse_args(ctx, args)


@contextmanager
def _told() -> Iterator[None]:
    """What fails is said in one line."""
    try:
        yield
    except PartitaError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        if error.errno == errno.EPIPE:  # nobody reads on, which click itself ends quietly
            raise
        give_up_output()
        raise click.ClickException(str(error)) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="partita", message="%(prog)s %(version)s")
def main() -> None:
    """Run and look into services that are built on Partita."""


for command in (
    serve,
    worker,
    patterns,
    explain,
    cost,
    docs,
    openapi,
    new,
    adopt,
    seed,
    token,
    tokens,
    schema,
    tables,
    deploy,
    migrate,
    cdc,
    lake,
    personal,
    copy,
    export,
    import_,
    backup,
    branch,
    restore,
    check,
    compact,
    sweep,
    dynamodb,
    queue,
    completion,
):
    main.add_command(command)
