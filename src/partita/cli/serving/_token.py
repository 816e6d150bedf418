"""`partita token`: print a token for calling the services."""

from __future__ import annotations

from datetime import timedelta

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._extras import needs_serve
from partita.cli._token_file import identity_of


@click.command()
@click.option("--user", required=True, metavar="ID", help="The user who calls.")
@click.option(
    "--role", type=click.Choice(("user", "operator")), default="user", show_default=True, help="Role of the user."
)
@click.option(
    "--days",
    type=click.IntRange(1, 365),
    show_default="30; 1 for an operator",
    help="How many days the token is valid; at most 30 for an operator.",
)
@data_option
@needs_serve
def token(user: str, role: str, days: int | None, data: DataFolder) -> None:
    """Print a token for calling the services.

    Send it in the header `Authorization: Bearer TOKEN`. It is signed with the key of the data folder, and accepted by
    services that run on this folder.
    """
    from partita.http import Caller, Role

    try:
        lifetime = None if days is None else timedelta(days=days)
        click.echo(identity_of(data).token(Caller(user, Role(role)), lifetime))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
