"""`partita compact`: rewrite the database without deleted data."""

from __future__ import annotations

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._progress import progress_bar


@click.command()
@data_option
def compact(data: DataFolder) -> None:
    """Rewrite the database without its free space, while it is in use.

    Afterwards, the file contains no deleted data. Writers wait meanwhile. The command needs as much free disk space as
    the file has.
    """
    before = data.database.stat().st_size if data.database.exists() else 0
    with data.open_existing() as store, progress_bar("Compacting") as progress:
        store.compact(progress)
    click.echo(f"{data.database}: {before:,} bytes before, {data.database.stat().st_size:,} now")
