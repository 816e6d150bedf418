"""`partita sweep`: delete what has expired, now."""

from __future__ import annotations

import click

from partita.cli._data_folder import DataFolder, data_option


@click.command()
@data_option
def sweep(data: DataFolder) -> None:
    """Delete the items whose time has come, and what streams no longer keep; a server may be running."""
    with data.open_existing() as store:
        click.echo(f"{store.sweep():,} expired items deleted")
