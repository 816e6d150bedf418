"""`partita backup`: a consistent copy of the database, while it is in use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli.data._readable import readable
from partita.store.embedded.upkeep import Progress


@click.command()
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@data_option
def backup(target: Path, data: DataFolder) -> None:
    """Copy the database to a file, while it is in use.

    An existing TARGET is never overwritten.
    """
    with readable(data) as folder, folder.open_existing() as store, copying() as progress:
        store.backup(target, progress)
    click.echo(f"{target}: {target.stat().st_size:,} bytes")


@contextmanager
def copying() -> Iterator[Progress]:
    """A progress bar for a copy."""
    with click.progressbar(length=1, label="Copying") as bar:

        def show(copied: int, pages: int) -> None:
            bar.length = max(pages, 1)
            bar.update(copied - bar.pos)

        yield show
