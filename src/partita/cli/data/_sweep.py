"""`partita sweep`: delete expired data now."""

from __future__ import annotations

import click

from partita.cli._data_folder import DataFolder, data_option


@click.command()
@data_option
def sweep(data: DataFolder) -> None:
    """Delete expired items now.

    Also deletes stream records and tokens that are no longer kept. Servers may be running; they do this every minute.
    """
    with data.open_existing() as store:
        click.echo(f"{store.sweep():,} expired items deleted")
