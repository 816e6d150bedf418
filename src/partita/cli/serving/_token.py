"""`partita token`: a token to call the services with."""

from __future__ import annotations

from datetime import timedelta

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._extras import needs_serve


@click.command()
@click.option("--user", required=True, metavar="ID", help="The user who calls.")
@click.option(
    "--role", type=click.Choice(("user", "operator")), default="user", show_default=True, help="What the user may do."
)
@click.option("--days", type=click.IntRange(1, 36_500), default=30, show_default=True, help="How long it is valid.")
@data_option
@needs_serve
def token(user: str, role: str, days: int, data: DataFolder) -> None:
    """Print a token to call the services with.

    The services that run on this data folder accept it.
    """
    from partita.http import Caller, Identity, Role

    try:
        click.echo(Identity(data.secret("tokens")).token(Caller(user, Role(role)), timedelta(days=days)))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--user") from None
