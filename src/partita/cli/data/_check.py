"""`partita check`: look for damage in the database and the queues."""

from __future__ import annotations

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._progress import progress_bar
from partita.cli._signals import cleaning_up
from partita.cli.data._readable import readable
from partita.queue.embedded import EmbeddedQueue


@click.command()
@data_option
def check(data: DataFolder) -> None:
    """Verify that the database and the queues are consistent.

    Reads all of them completely, and compares items with index entries and streams, and messages with their groups.
    Changes nothing. Exits with 1 if there is an inconsistency.
    """
    with cleaning_up(), readable(data) as folder:
        with folder.open_existing() as store, progress_bar(f"Checking {data.database.name}") as progress:
            store.verify(progress)
        click.echo(f"{data.database}: consistent")
        for file in sorted(folder.path.glob("queue-*.db")):
            with EmbeddedQueue(file, file.stem.removeprefix("queue-")) as queue:
                queue.verify()
            click.echo(f"{data.path / file.name}: consistent")
