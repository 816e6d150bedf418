"""A consistent copy of the store while it is in use."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import apsw

from partita import _sqlite
from partita.errors import StoreError, StoreReadOnly
from partita.runtime import create_private, sync
from partita.store.embedded import _file
from partita.store.embedded.upkeep._effort import Progress
from partita.store.embedded.upkeep._verify import verify

_STEPS: Final = 500
"""Of SQLite's virtual machine, from one report of progress to the next."""
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

    `progress` gets how many pages were copied, of about how many.

    Raises:
        StoreError: the target exists, or cannot be written. StoreDamaged: the store is damaged; there is no copy.
    """
    with _blaming(target):
        _refuse_existing(target)
        # A name that nobody can guess: in a folder of several users, another could wait for it with a link.
        partial = target.with_name(f"{target.name}.{secrets.token_hex(8)}.partial")
        try:
            copy_pages(source, partial, progress)
            _check(partial, source.filename or _sqlite.MEMORY)
            sync(partial)
            _put_in_place(partial, target)
            sync(target.parent)
        finally:
            remove(partial)


@contextmanager
def _blaming(target: Path) -> Iterator[None]:
    """What cannot be written is the copy, and not the store, which is only read."""
    try:
        if not target.parent.is_dir():
            raise StoreReadOnly(f"The folder {target.parent} does not exist.", hint="Create it first.")
        yield
    except _OF_THE_COPY as error:
        if _sqlite.is_damage(error):  # that is of what was read
            raise
        with _sqlite.translating(str(target)):
            raise


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        what = "is a link" if target.is_symlink() else "exists"
        raise StoreError(f"The file {target} {what}; a backup replaces nothing.", hint="Choose another name.")


def copy_pages(source: apsw.Connection, partial: Path, progress: Progress | None) -> None:
    """Copy what there is, and none of the pages and bytes that are free, into a new file for its owner alone.

    Raises:
        FileExistsError: there is something already, be it a link to nothing.
    """
    create_private(partial)
    with _reporting(source, partial, progress):
        source.execute("VACUUM INTO ?", (str(partial.absolute()),))
    _sqlite.seal_pages(partial)


@contextmanager
def _reporting(source: apsw.Connection, partial: Path, progress: Progress | None) -> Iterator[None]:
    if progress is None:
        yield
        return
    pages, page_size = source.pragma("page_count"), source.pragma("page_size")

    def report() -> bool:
        progress(min(partial.stat().st_size // page_size, pages), pages)
        return False

    source.set_progress_handler(report, _STEPS)
    try:
        yield
    finally:
        source.set_progress_handler(None)
    progress(pages, pages)


def _check(partial: Path, path: str) -> None:
    """Prove that the copy is sound; what it has was read from the store, which is to blame if not."""
    with closing(_file.connect(str(partial), durable=True)) as connection:
        connection.pragma("journal_mode", "wal")  # as every store has it
        verify(connection, path)


def _put_in_place(partial: Path, target: Path) -> None:
    try:
        os.link(partial, target)  # unlike a rename, this fails where something appeared meanwhile
    except FileExistsError:
        _refuse_existing(target)
        raise


def remove(path: Path) -> None:
    """Remove a database with whatever SQLite has beside it."""
    for part in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{part}").unlink(missing_ok=True)
