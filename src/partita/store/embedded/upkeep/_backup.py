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
"""Steps of SQLite's virtual machine between two reports of progress."""
_OF_THE_COPY: Final = (
    apsw.CantOpenError,
    apsw.FullError,
    apsw.IOError,
    apsw.PermissionsError,
    apsw.ReadOnlyError,
    OSError,
)


def back_up(source: apsw.Connection, target: Path, progress: Progress | None = None) -> None:
    """Copy the committed state while writers continue. An existing file is never replaced.

    `progress` receives the pages copied and the approximate total.

    Raises:
        StoreError: the target exists or cannot be written. StoreDamaged: the store is damaged; no copy is made.
    """
    with _blaming(target):
        _refuse_existing(target)
        # The name cannot be guessed: in a shared folder, another user could have created a link of that name.
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
    """Report write errors as errors of the copy, because the store is only read."""
    try:
        if not target.parent.is_dir():
            raise StoreReadOnly(f"The folder {target.parent} does not exist.", hint="Create it first.")
        yield
    except _OF_THE_COPY as error:
        if _sqlite.is_damage(error):  # damage is in the store that is read
            raise
        with _sqlite.translating(str(target)):
            raise


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        what = "is a link" if target.is_symlink() else "exists"
        raise StoreError(f"The file {target} {what}; a backup never replaces a file.", hint="Choose another name.")


def copy_pages(source: apsw.Connection, partial: Path, progress: Progress | None) -> None:
    """Copy the data, without free pages and bytes, into a new file that only its owner can access.

    Raises:
        FileExistsError: the file, or a link of that name, exists.
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
    """Verify the copy. Damage is reported as damage of the store, from which the copy was read."""
    with closing(_file.connect(str(partial), durable=True)) as connection:
        connection.pragma("journal_mode", "wal")  # like every store
        verify(connection, path)


def _put_in_place(partial: Path, target: Path) -> None:
    try:
        os.link(partial, target)  # unlike a rename, this fails if the target was created meanwhile
    except FileExistsError:
        _refuse_existing(target)
        raise


def remove(path: Path) -> None:
    """Remove a database and the files that SQLite keeps alongside it."""
    for part in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{part}").unlink(missing_ok=True)
