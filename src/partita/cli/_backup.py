"""`partita backup`: a consistent copy of the database, while it is in use."""

from __future__ import annotations

from pathlib import Path

import click

from partita.cli._data import DataFolder, data_option


@click.command()
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@data_option
def backup(target: Path, data: DataFolder) -> None:
    """Copy the database to a file, while it is in use.

    An existing TARGET is never overwritten.
    """
    with data.open_existing() as store, click.progressbar(length=1, label="Copying") as bar:

        def show(copied: int, pages: int) -> None:
            bar.length = max(pages, 1)
            bar.update(copied - bar.pos)

        store.backup(target, show)
    click.echo(f"{target}: {target.stat().st_size:,} bytes")
