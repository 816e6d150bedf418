"""`partita compact`: write the database again, without what was deleted."""

from __future__ import annotations

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._progress import progress_bar


@click.command()
@data_option
def compact(data: DataFolder) -> None:
    """Write the database again without what is free in it, while it is in use.

    Nothing that was deleted is left in the file then. Writers wait meanwhile.
    """
    before = data.database.stat().st_size if data.database.exists() else 0
    with data.open_existing() as store, progress_bar("Compacting") as progress:
        store.compact(progress)
    click.echo(f"{data.database}: {before:,} bytes before, {data.database.stat().st_size:,} now")
