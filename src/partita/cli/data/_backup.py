"""`partita backup`: archive the persistent data of a data folder in one file, while it is in use."""

from __future__ import annotations

import time
from pathlib import Path

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._progress import progress_bars
from partita.cli.data._readable import readable
from partita.folder import write_archive


@click.command()
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--secrets", "with_secrets", is_flag=True, help="Also archive the signing key and revoked tokens.")
@data_option
def backup(target: Path, data: DataFolder, *, with_secrets: bool) -> None:
    """Archive the databases and the queues while they are in use.

    The archive TARGET has the state of one instant, and a manifest with checksums. Every database is verified. An
    existing file is never overwritten.
    """
    with readable(data) as folder:
        folder.open_existing().close()  # raises an error if there is a problem with it
        with progress_bars() as progress:
            manifest = write_archive(folder.path, target, time.time(), with_secrets=with_secrets, progress=progress)
    for file in manifest.files:
        click.echo(f"{file.name}: {file.size:,} bytes, sha256 {file.sha256[:12]}…")
    if manifest.left_out:
        click.echo(f"Not archived: {', '.join(manifest.left_out)}")
    click.echo(f"{target}: {target.stat().st_size:,} bytes")
