"""`partita backup`: archive the persistent data of a data folder in one file, while it is in use."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._progress import progress_bars
from partita.cli._signals import cleaning_up
from partita.cli.data._readable import readable
from partita.folder import stream_archive, write_archive


@click.command()
@click.argument("target", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--secrets", "with_secrets", is_flag=True, help="Also archive the signing key and revoked tokens.")
@data_option
def backup(target: Path, data: DataFolder, *, with_secrets: bool) -> None:
    """Archive the databases and the queues while they are in use.

    The archive TARGET has the state of one instant, and a manifest with checksums; - writes it to the standard output.
    Every database is verified. An existing file is never overwritten.
    """
    if is_stream := str(target) == "-":
        _refuse_terminal()
    with cleaning_up(), readable(data) as folder:
        folder.open_existing().close()  # raises an error if there is a problem with it
        with progress_bars() as progress:
            options: Any = {"now": time.time(), "with_secrets": with_secrets, "progress": progress}
            if is_stream:
                manifest = stream_archive(folder.path, sys.stdout.buffer, **options)
            else:
                manifest = write_archive(folder.path, target, **options)
    for file in manifest.files:
        click.echo(f"{file.name}: {file.size:,} bytes, sha256 {file.sha256[:12]}…", err=is_stream)
    if manifest.left_out:
        click.echo(f"Not archived: {', '.join(manifest.left_out)}", err=is_stream)
    if not is_stream:
        click.echo(f"{target}: {target.stat().st_size:,} bytes")


def _refuse_terminal() -> None:
    if sys.stdout.isatty():
        message = "An archive is not written to a terminal: redirect the output to a file or pipe, or name a file."
        raise click.UsageError(message)
