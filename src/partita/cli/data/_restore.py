"""`partita restore`: replace the contents of a data folder with a backup."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

import click

from partita.cli._data_folder import DataFolder, data_option
from partita.cli._progress import progress_bar, progress_bars
from partita.cli._signals import cleaning_up
from partita.folder import Manifest, data_files, is_archive, replace_files, unpacked
from partita.store.embedded.upkeep import copy_sound, replace_with_backup, unused

DERIVED: Final = ("*-projection.db*", "backfill-*.json", "seeding-*")
"""Files of the data folder that belong to the previous database: they are rebuilt, or are no longer needed."""


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@data_option
def restore(file: Path, data: DataFolder) -> None:
    """Replace the contents of the data folder with a backup.

    FILE is an archive of `partita backup`, or a copy of the database alone. It is verified first, and does not change.
    No process may use the folder meanwhile. The previous files are kept under other names.
    """
    with cleaning_up(), _made(data):
        kept = _restore_archive(file, data) if is_archive(file) else _restore_database(file, data)
    for each in kept:
        click.echo(f"The previous contents are kept as {each}")


@contextmanager
def _made(data: DataFolder) -> Iterator[None]:
    """Create the folder if it is missing. If the restore fails, the new folder is removed again."""
    was_there = data.path.exists()
    data.create()
    try:
        yield
    except BaseException:
        if not was_there:
            with suppress(OSError):  # it is not empty
                data.path.rmdir()
        raise


def _restore_archive(file: Path, data: DataFolder) -> list[Path]:
    now = time.time()
    with (
        progress_bars() as progress,
        unpacked(file, data.path, progress) as (manifest, folder),
        _nobody_uses(data, manifest),
    ):
        staged = folder / "staged"
        staged.mkdir(mode=0o700)
        for each in manifest.files:
            if each.kind == "database":
                step = partial(progress, f"Copying {each.name}")
                copy_sound(folder / each.name, staged / each.name, now, step)
            else:
                (folder / each.name).rename(staged / each.name)
        kept = replace_files(data.path, staged, [path.name for path in _derived(data)], now)
    for each in manifest.files:
        click.echo(f"{data.path / each.name}: restored from {file}")
    return kept


def _restore_database(file: Path, data: DataFolder) -> list[Path]:
    with unused(data.database):
        with progress_bar(f"Copying {file.name}") as progress:
            kept = replace_with_backup(file, data.database, time.time(), progress)
        for derived in _derived(data):
            derived.unlink()
    click.echo(f"{data.database}: restored from {file}")
    return [] if kept is None else [kept]


def _derived(data: DataFolder) -> list[Path]:
    return [found for pattern in DERIVED for found in data.path.glob(pattern)]


@contextmanager
def _nobody_uses(data: DataFolder, manifest: Manifest) -> Iterator[None]:
    """Keep every process from opening a database of the folder while the block runs.

    Raises:
        StoreBusy: a process uses one.
    """
    names = {each.name for each in manifest.files if each.name.endswith(".db")}
    names |= {each.name for each in data_files(data.path) if each.is_database}
    with ExitStack() as locks:
        for name in sorted(names):
            locks.enter_context(unused(data.path / name))
        yield
