"""Copies of several databases as of one instant, while other processes write to them.

    write locks of all databases: acquired ─┬─ clone files, or begin a snapshot of each ──┬─ released
    then, if files cannot be cloned:        └─ copy each snapshot, while writers continue ┘

So the copies are consistent with each other: for example, a message is not in both the queue's and the store's copy.
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
from partita.runtime import create_private, disk_error, open_private

Method: TypeAlias = Literal["reflink", "copy"]
CopyProgress: TypeAlias = Callable[[Path, int, int], None]
Clone: TypeAlias = Callable[[Sequence[tuple[Path, Path]]], None]
"""Clones files, so that both share their blocks until one is changed; raises OSError if that is not possible."""

_BUSY_MILLISECONDS: Final = 60_000
_PAGES: Final = 2_000
"""The number of pages that are copied between two reports of progress."""
_UNABLE: Final = frozenset((errno.EOPNOTSUPP, errno.ENOTTY, errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EBADF))
_FICLONE: Final = 0x40049409
_CLONE: Final = (
    "import fcntl, os, sys\n"
    "for source, target in zip(sys.argv[1::2], sys.argv[2::2]):\n"
    "    ours, theirs = os.open(target, os.O_WRONLY), os.open(source, os.O_RDONLY)\n"
    f"    fcntl.ioctl(ours, {_FICLONE}, theirs)\n"
)


def reflink(files: Sequence[tuple[Path, Path]]) -> None:
    """Clone files with Linux's FICLONE, on file systems that support it (XFS, Btrfs, bcachefs).

    Raises:
        OSError: the operating system or the file system does not support it.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    _try_clone(files[0][1].parent)
    # In a separate process: closing a handle of a database in this process would drop the locks that SQLite holds.
    names = [str(name) for pair in files for name in pair]
    command = [sys.executable, "-I", "-S", "-c", _CLONE, *names]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - a constant program and file names
    if done.returncode:
        raise OSError(errno.EOPNOTSUPP, done.stderr.decode(errors="replace").strip().rpartition("\n")[2])


def _try_clone(folder: Path) -> None:
    """Check with a temporary file whether the file system supports cloning; raise OSError if it does not."""
    import fcntl  # noqa: PLC0415 - not available on Windows

    with tempfile.TemporaryFile(dir=folder) as source, tempfile.TemporaryFile(dir=folder) as target:
        source.write(b"x" * 4096)
        source.flush()
        fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())


def copy_databases(
    copies: Mapping[Path, Path], *, clone: Clone = reflink, progress: CopyProgress = lambda _path, _done, _total: None
) -> Method:
    """Copy databases, all as of one instant, to new files that only their owner can access.

    `progress` receives the database, the pages copied and the total pages. It is not called if files are cloned.

    Raises:
        FileExistsError: a target exists already. StoreError: a database cannot be read, or a copy cannot be written.
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
    """Hold the write locks of all databases while the block runs."""
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
    """Clone all databases with their logs. Return False, with no file left behind, if cloning is not supported."""
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
            raise disk_error(error, f"A copy in {files[0][1].parent} cannot be written") from error
        return False
    return True


@contextmanager
def _blaming(source: Path) -> Iterator[None]:
    """Report damage as damage of the source and not of the file that is written."""
    try:
        yield
    except apsw.Error as error:
        if _sqlite.is_damage(error):
            raise _sqlite.translated(error, str(source)) from error
        raise


def _copy(reader: apsw.Connection, target: Path, progress: Callable[[int, int], None]) -> None:
    create_private(target)
    with closing(_sqlite.open_database(str(target))) as copy, copy.backup("main", reader, "main") as backup:
        while not backup.done:  # all steps copy the same snapshot
            backup.step(_PAGES)
            progress(backup.page_count - backup.remaining, backup.page_count)
    _sqlite.seal_pages(target)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file that is not a database, to a file that only its owner can access."""
    create_private(target)
    with source.open("rb") as content, os.fdopen(open_private(target), "wb") as copy:
        shutil.copyfileobj(content, copy)
        copy.flush()
        os.fsync(copy.fileno())
