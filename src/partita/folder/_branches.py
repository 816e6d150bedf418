"""Branches of a data folder: cheap copies for experiments.

data/                       the folder itself: the branch `main`
  branches/current          the name of the branch that commands use; absent for `main`
  branches/trial/           a branch: a data folder like any other
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from partita.errors import OperationError, StoreDamaged
from partita.folder._copies import Clone, Method, copy_databases, copy_file, reflink
from partita.folder._files import BRANCHES, data_files
from partita.folder._temporary import temporary_folder
from partita.runtime import make_private_folder, sync, write_private
from partita.store.embedded.upkeep import unused

MAIN: Final = "main"
"""The branch that is the data folder itself."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_ABOUT: Final = "branch.json"


class _About(Struct, frozen=True):
    """The stored metadata of a branch."""

    source: str
    made_at: float
    method: Method


class Branch(Struct, frozen=True):
    """A branch of a data folder."""

    name: str
    path: Path
    is_current: bool
    source: str | None = None
    """The branch that it was created from."""
    made_at: float | None = None
    method: Method | None = None
    """Whether its files share blocks with those of its source until they are changed, or are full copies."""

    @property
    def size(self) -> int:
        """The size of its files in bytes, including blocks that it shares with other branches."""
        return sum(path.stat().st_size for path in self.path.iterdir() if path.is_file())


class Branches:
    """The branches of one data folder."""

    def __init__(self, folder: Path, *, clone: Clone = reflink, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._root = folder / BRANCHES
        self._clone = clone
        self._clock = clock

    @property
    def current(self) -> str:
        """The branch that commands use.

        Raises:
            StoreDamaged: the file that names it does not contain a valid name.
        """
        try:
            name = (self._root / "current").read_text(encoding="utf-8", errors="replace").strip()
        except (FileNotFoundError, NotADirectoryError):
            return MAIN
        if not _NAME.fullmatch(name):
            raise StoreDamaged(f"{self._root / 'current'} does not name a branch.", hint="Delete it to use main.")
        return name

    def path_of(self, name: str) -> Path:
        """The folder of a branch.

        Raises:
            OperationError: there is no branch of that name.
        """
        path = self._folder if name == MAIN else self._root / name
        if name != MAIN and not (_NAME.fullmatch(name) and path.is_dir()):
            known = ", ".join(branch.name for branch in self)
            raise OperationError(f"There is no branch {name!r}.", hint=f"The branches are: {known}.")
        return path

    def __iter__(self) -> Iterator[Branch]:
        current = self.current
        yield Branch(MAIN, self._folder, current == MAIN)
        found = self._root.iterdir() if self._root.is_dir() else ()
        for path in sorted(path for path in found if path.is_dir() and _NAME.fullmatch(path.name)):
            about = _about(path)
            yield Branch(path.name, path, path.name == current, about.source, about.made_at, about.method)

    def create(self, name: str) -> Branch:
        """Create a branch from the current one as of one instant, even while other processes write to it.

        Raises:
            OperationError: the name is invalid or in use, or the current branch is empty.
            StoreError: the current branch cannot be read, or the copy cannot be written.
        """
        source = self.current
        self._check_new(name)
        place = self.path_of(source)
        if not place.is_dir() or not data_files(place):
            raise OperationError(f"There is nothing in {place} to branch from.", hint="Start `partita serve` first.")
        make_private_folder(self._root)
        with temporary_folder(self._root) as temporary:
            unfinished = temporary / name
            unfinished.mkdir(mode=0o700)
            about = _About(source, self._clock(), self._fill(place, unfinished))
            write_private(unfinished / _ABOUT, msgspec.json.encode(about))
            self._finish(unfinished, name)
        sync(self._root)
        return Branch(
            name, self._root / name, is_current=False, source=source, made_at=about.made_at, method=about.method
        )

    def switch(self, name: str) -> None:
        """Make a branch the current one. Processes that are already running keep using their branch.

        Raises:
            OperationError: there is no branch of that name.
        """
        self.path_of(name)
        if name == MAIN:
            (self._root / "current").unlink(missing_ok=True)
            return
        write_private(self._root / "current", name.encode())

    def drop(self, name: str) -> None:
        """Delete a branch that no process uses.

        Raises:
            OperationError: it is main or the current branch, or it does not exist. StoreBusy: a process uses it.
        """
        path = self.path_of(name)
        if name == MAIN:
            hint = "To delete everything, delete the folder."
            raise OperationError("The branch main is the folder itself and cannot be dropped.", hint=hint)
        if name == self.current:
            hint = "Use `partita branch switch main` to leave it."
            raise OperationError(f"The branch {name} is the current branch and cannot be dropped.", hint=hint)
        with temporary_folder(self._root) as temporary, ExitStack() as locks:
            for file in data_files(path):
                if file.is_database:
                    locks.enter_context(unused(path / file.name))
            path.rename(temporary / name)

    def _check_new(self, name: str) -> None:
        if not _NAME.fullmatch(name) or name in (MAIN, "current"):
            hint = "Use letters, digits, - and _; main is the folder itself."
            raise OperationError(f"{name!r} cannot be the name of a branch.", hint=hint)
        if (self._root / name).exists():
            raise OperationError(f"The branch {name!r} already exists.", hint="Drop it first, or choose another name.")

    def _finish(self, unfinished: Path, name: str) -> None:
        try:
            unfinished.rename(self._root / name)
        except OSError:
            self._check_new(name)  # another process may have created it meanwhile
            raise

    def _fill(self, source: Path, target: Path) -> Method:
        files = [file for file in data_files(source) if file.name != _ABOUT]
        databases = {source / file.name: target / file.name for file in files if file.is_database}
        method = copy_databases(databases, clone=self._clone)
        for file in files:
            if not file.is_database:
                copy_file(source / file.name, target / file.name)
        for copied in databases.values():
            sync(copied)
        return method


def _about(path: Path) -> _About:
    try:
        return msgspec.json.decode((path / _ABOUT).read_bytes(), type=_About)
    except (OSError, msgspec.MsgspecError):
        return _About("?", path.stat().st_mtime, "copy")


def current_folder(folder: Path) -> Path:
    """The folder of the branch that commands use.

    Raises:
        OperationError: that branch no longer exists. StoreDamaged: the file that names it is invalid.
    """
    branches = Branches(folder)
    return branches.path_of(branches.current)
