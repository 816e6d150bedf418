"""A consistent copy of the store while it is in use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

import apsw

from partita import _sqlite
from partita.errors import StoreError, StoreReadOnly

Progress: TypeAlias = Callable[[int, int], None]

_PAGES_PER_STEP: Final = 200
_OF_THE_COPY: Final = (
    apsw.CantOpenError,
    apsw.FullError,
    apsw.IOError,
    apsw.PermissionsError,
    apsw.ReadOnlyError,
    OSError,
)


def back_up(source: apsw.Connection, target: Path, progress: Progress | None = None) -> None:
    """Copy everything that is committed now; writers go on meanwhile. An existing file is never replaced.

    `progress` gets how many pages were copied, of how many.

    Raises:
        StoreError: the target exists, or cannot be written.
    """
    with _blaming(target):
        _refuse_existing(target)
        partial = target.with_name(target.name + ".partial")
        try:
            copy(source, partial, progress)
            _put_in_place(partial, target)
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def _blaming(target: Path) -> Iterator[None]:
    """What cannot be written is the copy, and not the store, which is only read."""
    try:
        if not target.parent.is_dir():
            raise StoreReadOnly(f"The folder {target.parent} does not exist.", hint="Create it first.")
        yield
    except _OF_THE_COPY:
        with _sqlite.translating(str(target)):
            raise


def _refuse_existing(target: Path) -> None:
    if target.exists():
        raise StoreError(f"The file {target} exists; a backup replaces nothing.", hint="Choose another name.")


def copy(source: apsw.Connection, partial: Path, progress: Progress | None) -> None:
    # One read transaction for all steps: otherwise every commit of a writer would start the copy again.
    with source, apsw.Connection(str(partial)) as copy:
        source.execute("SELECT generation FROM store").fetchall()
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(_PAGES_PER_STEP)
                if progress is not None:
                    progress(backup.page_count - backup.remaining, backup.page_count)
    copy.close()


def _put_in_place(partial: Path, target: Path) -> None:
    try:
        os.link(partial, target)  # unlike a rename, this fails where something appeared meanwhile
    except FileExistsError:
        _refuse_existing(target)
