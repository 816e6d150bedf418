"""`partita token`: a token to call the services with."""

from __future__ import annotations

from datetime import timedelta

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._extras import needs_serve
from partita.cli._token_file import identity_of


@click.command()
@click.option("--user", required=True, metavar="ID", help="The user who calls.")
@click.option(
    "--role", type=click.Choice(("user", "operator")), default="user", show_default=True, help="What the user may do."
)
@click.option(
    "--days",
    type=click.IntRange(1, 365),
    show_default="30; 1 for an operator",
    help="How long it is valid; at most 30 for an operator.",
)
@data_option
@needs_serve
def token(user: str, role: str, days: int | None, data: DataFolder) -> None:
    """Print a token to call the services with.

    The services that run on this data folder accept it.
    """
    from partita.http import Caller, Role

    try:
        lifetime = None if days is None else timedelta(days=days)
        click.echo(identity_of(data).token(Caller(user, Role(role)), lifetime))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
