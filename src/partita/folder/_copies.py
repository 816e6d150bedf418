"""Copies of several databases at one instant, while others write to them.

    write locks of all databases:  taken ──┬── clone files, or begin a snapshot of each ──┬── let go
    then, where files cannot be cloned:    └── copy each snapshot, while others write on ─┘

So no copy has what was written after another was made: a message is not in the queue's copy and in the store's, too.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias

import apsw

from partita import _sqlite
from partita.errors import StoreReadOnly
from partita.runtime import create_private, open_private

Method: TypeAlias = Literal["reflink", "copy"]
CopyProgress: TypeAlias = Callable[[Path, int, int], None]
Clone: TypeAlias = Callable[[Sequence[tuple[Path, Path]]], None]
"""Clones files, so that both share their blocks until one is changed; raises OSError where that cannot be."""

_BUSY_MILLISECONDS: Final = 60_000
_PAGES: Final = 2_000
"""That are copied from one report of progress to the next."""
_UNABLE: Final = frozenset((errno.EOPNOTSUPP, errno.ENOTTY, errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EBADF))
_FICLONE: Final = 0x40049409
_CLONE: Final = (
    "import fcntl, os, sys\n"
    "for source, target in zip(sys.argv[1::2], sys.argv[2::2]):\n"
    "    ours, theirs = os.open(target, os.O_WRONLY), os.open(source, os.O_RDONLY)\n"
    f"    fcntl.ioctl(ours, {_FICLONE}, theirs)\n"
)


def reflink(files: Sequence[tuple[Path, Path]]) -> None:
    """Clone files where the file system can (XFS, Btrfs, bcachefs): FICLONE, of Linux.

    Raises:
        OSError: it cannot.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    _try_clone(files[0][1].parent)
    # In a process of its own: closing a handle of a database here would drop the locks that SQLite holds.
    names = [str(name) for pair in files for name in pair]
    command = [sys.executable, "-I", "-S", "-c", _CLONE, *names]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own program, and names of files
    if done.returncode:
        raise OSError(errno.EOPNOTSUPP, done.stderr.decode(errors="replace").strip().rpartition("\n")[2])


def _try_clone(folder: Path) -> None:
    """Find out with a file of our own whether a file system can."""
    import fcntl  # noqa: PLC0415 - of Linux and its like

    with tempfile.TemporaryFile(dir=folder) as source, tempfile.TemporaryFile(dir=folder) as target:
        source.write(b"x" * 4096)
        source.flush()
        fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())


def copy_databases(
    copies: Mapping[Path, Path], *, clone: Clone = reflink, progress: CopyProgress = lambda _path, _done, _total: None
) -> Method:
    """Copy databases to new files for their owner alone, all as they are at one instant.

    `progress` gets which of them is copied, and how many of its pages, of how many; not where files are cloned.

    Raises:
        FileExistsError: a file is there already. StoreError: one cannot be read, or the copies cannot be written.
    """
    if not copies:
        return "copy"
    with ExitStack() as opened:
        with _held(copies, opened):
            if _cloned(copies, clone):
                return "reflink"
            readers = {source: _snapshot(source, opened) for source in copies}
        for source, target in copies.items():
            with _sqlite.translating(str(target)), _blaming(source):
                _copy(readers[source], target, lambda done, total, source=source: progress(source, done, total))  # type: ignore[misc]
    return "copy"


@contextmanager
def _held(databases: Mapping[Path, Path], opened: ExitStack) -> Iterator[None]:
    """Let nobody write to any of the databases while the block runs."""
    with ExitStack() as held:
        for path in sorted(databases):
            with _sqlite.translating(str(path)):
                writer = opened.enter_context(closing(_connect(path)))
                writer.execute("BEGIN IMMEDIATE")
            held.callback(writer.execute, "ROLLBACK")
        yield


def _connect(path: Path) -> apsw.Connection:
    connection = _sqlite.open_database(str(path))
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    return connection


def _snapshot(path: Path, opened: ExitStack) -> apsw.Connection:
    with _sqlite.translating(str(path)):
        reader = opened.enter_context(closing(_connect(path)))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # a snapshot begins with the first read
        return reader


def _cloned(copies: Mapping[Path, Path], clone: Clone) -> bool:
    """Clone all databases with their logs; where that cannot be, none of them."""
    files = [
        (Path(f"{source}{part}"), Path(f"{target}{part}"))
        for source, target in copies.items()
        for part in ("", "-wal")
        if Path(f"{source}{part}").exists()
    ]
    for _, target in files:
        create_private(target)
    try:
        clone(files)
    except OSError as error:
        for _, target in files:
            target.unlink()
        if error.errno not in _UNABLE:
            raise StoreReadOnly(f"The folder {files[0][1].parent} cannot be written ({error.strerror}).") from error
        return False
    return True


@contextmanager
def _blaming(source: Path) -> Iterator[None]:
    """Damage is of what is read, and not of what is written."""
    try:
        yield
    except apsw.Error as error:
        if _sqlite.is_damage(error):
            raise _sqlite.translated(error, str(source)) from error
        raise


def _copy(reader: apsw.Connection, target: Path, progress: Callable[[int, int], None]) -> None:
    create_private(target)
    with closing(_sqlite.open_database(str(target))) as copy, copy.backup("main", reader, "main") as backup:
        while not backup.done:  # of one snapshot, however long it takes
            backup.step(_PAGES)
            progress(backup.page_count - backup.remaining, backup.page_count)
    _sqlite.seal_pages(target)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file that is not a database, for its owner alone."""
    create_private(target)
    with source.open("rb") as content, os.fdopen(open_private(target), "wb") as copy:
        shutil.copyfileobj(content, copy)
        copy.flush()
        os.fsync(copy.fileno())
