"""Reading a data folder that cannot be written: in a copy, because SQLite writes files next to the ones it reads."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import click
from msgspec.structs import replace

from partita.cli._data_folder import DataFolder


@contextmanager
def readable(data: DataFolder) -> Iterator[DataFolder]:
    """The folder. If it cannot be written, as on a read-only mount, a copy of its databases with their logs."""
    if not data.path.is_dir() or os.access(data.path, os.W_OK):
        yield data
        return
    with tempfile.TemporaryDirectory(prefix="partita-") as folder:
        click.echo(f"{data.path} is not writable: using a copy in {folder}.", err=True)
        for file in chain(data.path.glob("*.db"), data.path.glob("*.db-wal")):
            shutil.copyfile(file, Path(folder) / file.name)
            (Path(folder) / file.name).chmod(0o600)
        yield replace(data, path=Path(folder))
