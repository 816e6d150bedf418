"""`partita check`: look for damage in the database."""

from __future__ import annotations

import click

from partita.cli._data_folder import DataFolder, data_option


@click.command()
@data_option
def check(data: DataFolder) -> None:
    """Prove that the database is sound.

    Reads all of it, compares items, index entries and streams, and changes nothing.
    """
    with data.open_existing() as store:
        store.verify()
    click.echo(f"{data.database}: sound")
