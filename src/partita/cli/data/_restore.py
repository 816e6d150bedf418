"""`partita restore`: put a backup in the place of the database."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli.data._backup import copying
from partita.store.embedded.upkeep import replace_with_backup, unused

DERIVED: Final = ("*-projection.db*", "backfill-*.json", "seeding-*")
"""What the data folder has of the database as it was: it is made again, or was about items that are gone."""


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@data_option
def restore(file: Path, data: DataFolder) -> None:
    """Put a backup in the place of the database, which no process may use meanwhile.

    FILE is checked first, and stays. What was there is kept under another name.
    """
    data.create()
    with unused(data.database):
        with copying() as progress:
            kept = replace_with_backup(file, data.database, time.time(), progress)
        for derived in (found for pattern in DERIVED for found in data.path.glob(pattern)):
            derived.unlink()
    click.echo(f"{data.database}: restored from {file}")
    if kept is not None:
        click.echo(f"What was there is kept as {kept}")
