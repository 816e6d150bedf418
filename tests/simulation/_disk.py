"""A simulated disk under SQLite: it loses, tears or reorders unsynchronised writes, is full, or cannot be read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final, Self

import apsw
from tests.durability.disk import Contents, write_all

SECTOR: Final = 512
"""The number of bytes that a disk writes atomically; a larger write may be torn between sectors."""
TORN: Final = 0.3
KEPT: Final = (0.0, 0.5, 0.9)
"""The shares of outstanding writes that may survive a loss of power."""
VFS_NAME: Final = "simulated"


class TornContents(Contents):
    """A file whose outstanding writes reach the disk in any order, some of them only in part."""

    def after_power_loss(self, rng: Random, kept: float) -> bytearray:
        """Return what a loss of power leaves: some of the outstanding writes, in any order, some of them torn."""
        shuffled = rng.sample(self.unsafe, len(self.unsafe))
        left = [(offset, _torn(data, rng)) for offset, data in shuffled if rng.random() < kept]
        return write_all(bytearray(self.safe), left)


def _torn(data: bytes | None, rng: Random) -> bytes | None:
    if data is None or len(data) < 2 * SECTOR or rng.random() >= TORN:
        return data
    return data[: rng.randrange(1, len(data) // SECTOR) * SECTOR]


class SimulatedDisk(apsw.VFS):
    """The default VFS of SQLite in this process, until the `with` block ends."""

    def __init__(self) -> None:
        self.real = apsw.vfs_names()[0]
        super().__init__(VFS_NAME, self.real, makedefault=True)
        self.files: dict[str, TornContents] = {}
        self.is_full = False
        self.cannot_read = False
        self.writes = 0
        self.syncs = 0
        self.on_write: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802
        super().xDelete(filename, syncdir)
        self.files.pop(filename, None)

    def copy(self, folder: Path, target: Path, *, lost_by: Random | None = None) -> None:
        """Copy a folder as another process would see it; with `lost_by`, as a loss of power leaves it."""
        target.mkdir()
        for name, contents in list(self.files.items()):
            if Path(name).parent == folder:
                left = contents.now() if lost_by is None else contents.after_power_loss(lost_by, lost_by.choice(KEPT))
                (target / Path(name).name).write_bytes(left)

    def forget(self, folder: Path, place: Path) -> None:
        """Remove a folder. `place` is its current path, which differs from `folder` if it was moved."""
        for name in [name for name in self.files if Path(name).parent == folder]:
            del self.files[name]
        shutil.rmtree(place)


class _File(apsw.VFSFile):
    def __init__(self, disk: SimulatedDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        found = Path(path).read_bytes() if path and path not in disk.files and Path(path).exists() else b""
        super().__init__(disk.real, name, flags)
        self._disk = disk
        self._contents = disk.files.setdefault(path, TornContents(found)) if path else TornContents()

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        if self._disk.cannot_read:
            raise apsw.IOError("the disk cannot be read")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self._disk.is_full:
            raise apsw.FullError("the disk is full")
        super().xWrite(data, offset)
        self._contents.unsafe.append((offset, bytes(data)))
        self._written()

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._contents.unsafe.append((newsize, None))
        self._written()

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._disk.syncs += 1
        self._contents.synchronise()

    def _written(self) -> None:
        self._disk.writes += 1
        if self._disk.on_write is not None:
            self._disk.on_write()
