"""Files and folders that only their owner can access, whatever the umask is.

Windows has no such modes: the folder decides who may read a file, and nothing here changes that.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from partita.runtime._disk import sync
from partita.runtime._warning import warn

HAS_MODES: Final = os.name == "posix"
_FILE: Final = 0o600
_FOLDER: Final = 0o700
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MADE: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def create_private(path: Path) -> None:
    """Create an empty file that only its owner may read and write.

    Raises:
        FileExistsError: the path already exists, even as a dangling symbolic link.
    """
    os.close(os.open(path, _MADE | os.O_EXCL, _FILE))


def open_private(path: Path) -> int:
    """Open a file for its owner alone; create it if it does not exist.

    Raises:
        OSError: the path is a symbolic link, or cannot be opened.
    """
    return os.open(path, _MADE, _FILE)


def write_private(path: Path, content: bytes) -> None:
    """Replace a file atomically: readable for its owner alone, and flushed to disk."""
    import tempfile  # noqa: PLC0415 - rarely needed, and slow to load

    handle, unfinished = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink()
        raise
    sync(path.parent)


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents for their owner alone; existing folders are not changed."""
    for each in reversed([folder, *folder.parents]):
        if not each.exists():
            each.mkdir(mode=_FOLDER, exist_ok=True)
    folder.mkdir(mode=_FOLDER, exist_ok=True)  # raises if it is a file


def close_to_others(paths: Iterable[Path]) -> None:
    """Remove other users' permissions from those files that exist, and log which; warn if another user owns them."""
    if not HAS_MODES:
        return
    exposed = [path for path in paths if path.exists() and _is_exposed(path)]
    own = [path for path in exposed if path.stat().st_uid == os.geteuid()]
    for path in own:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)
    _warn("Other users could read or write these files; their access was removed", own)
    _warn("Other users have access, which only the owner can revoke", [each for each in exposed if each not in own])


def _is_exposed(path: Path) -> bool:
    return bool(path.stat().st_mode & _OTHERS)


def _warn(message: str, paths: Sequence[Path]) -> None:
    if paths:
        warn("partita.files", "%s: %s.", message, ", ".join(map(str, paths)))


def protecting_command(path: Path) -> str | None:
    """The command that protects a file that other users can read, write or replace; None if they cannot."""
    if not HAS_MODES:
        return None
    if _is_exposed(path):
        return f"chmod 600 {path}"
    folder = path.parent.stat().st_mode
    if folder & stat.S_IWOTH and not folder & stat.S_ISVTX:
        return f"chmod o-w {path.parent}"
    return None
