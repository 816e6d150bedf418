"""A simulated disk under SQLite: unsynchronised writes are lost, torn or reordered; it is full, or cannot be read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final, Self, TypeAlias

import apsw

Write: TypeAlias = tuple[int, bytes | None]
"""Data from an offset on, or None where the file is cut off there."""

SECTOR: Final = 512
"""A disk writes so many bytes as a whole, and may stop in between."""
TORN: Final = 0.3
VFS_NAME: Final = "simulated"


class Contents:
    """One file: what is surely on the disk, and the writes that may or may not have reached it."""

    def __init__(self, found: bytes) -> None:
        self.safe = bytearray(found)
        self.unsafe: list[Write] = []

    def synchronise(self) -> None:
        """All of it is safe from now on."""
        for write in self.unsafe:
            _apply(self.safe, write)
        self.unsafe.clear()

    def now(self) -> bytearray:
        """What a process sees: every write."""
        seen = bytearray(self.safe)
        for write in self.unsafe:
            _apply(seen, write)
        return seen

    def after_power_loss(self, random: Random) -> bytearray:
        """What is left: any of the outstanding writes, in any order, some of them torn."""
        left = bytearray(self.safe)
        kept = random.choice((0.0, 0.5, 0.9))
        for offset, data in random.sample(self.unsafe, len(self.unsafe)):
            if random.random() >= kept:
                continue
            is_torn = data is not None and len(data) >= 2 * SECTOR and random.random() < TORN
            _apply(left, (offset, _torn(data, random) if is_torn and data is not None else data))
        return left


def _torn(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(1, len(data) // SECTOR) * SECTOR]


def _apply(contents: bytearray, write: Write) -> None:
    offset, data = write
    if data is None:
        del contents[offset:]
        return
    contents.extend(bytes(max(0, offset + len(data) - len(contents))))
    contents[offset : offset + len(data)] = data


class SimulatedDisk(apsw.VFS):
    """What SQLite opens its files through, in this process, while it is used as a context manager."""

    def __init__(self) -> None:
        self.real = apsw.vfs_names()[0]
        super().__init__(VFS_NAME, self.real, makedefault=True)
        self.files: dict[str, Contents] = {}
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
        """Copy a folder as another process would find it; with `lost_by`, as it is after a loss of power."""
        target.mkdir()
        for name, contents in list(self.files.items()):
            if Path(name).parent == folder:
                left = contents.now() if lost_by is None else contents.after_power_loss(lost_by)
                (target / Path(name).name).write_bytes(left)

    def forget(self, folder: Path, place: Path) -> None:
        """Remove a folder, which is at another place where it was moved."""
        for name in [name for name in self.files if Path(name).parent == folder]:
            del self.files[name]
        shutil.rmtree(place)


class _File(apsw.VFSFile):
    def __init__(self, disk: SimulatedDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        found = Path(path).read_bytes() if path and path not in disk.files and Path(path).exists() else b""
        super().__init__(disk.real, name, flags)
        self._disk = disk
        self._contents = disk.files.setdefault(path, Contents(found)) if path else Contents(b"")

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
