"""A disk that loses unsynchronised writes when the power fails."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Self, TypeAlias

import apsw

Write: TypeAlias = tuple[int, bytes | None]
"""An offset and the data written there; None means that the file is truncated at the offset."""


class Contents:
    """One file: the bytes that are certainly on the disk, and the writes that may or may not have reached it."""

    def __init__(self, found: bytes = b"") -> None:
        self.safe = bytearray(found)
        self.unsafe: list[Write] = []

    def synchronise(self) -> None:
        """Make all outstanding writes safe."""
        write_all(self.safe, self.unsafe)
        self.unsafe.clear()

    def now(self) -> bytearray:
        """Return what a process sees: the file with every write."""
        return write_all(bytearray(self.safe), self.unsafe)

    def after_power_loss(self, rng: random.Random, kept: float) -> bytearray:
        """Return what a loss of power leaves: each outstanding write is kept with the probability `kept`."""
        return write_all(bytearray(self.safe), [write for write in self.unsafe if rng.random() < kept])


def write_all(contents: bytearray, writes: Iterable[Write]) -> bytearray:
    """Apply writes to the contents of a file, and return the contents."""
    for offset, data in writes:
        if data is None:
            del contents[offset:]
        else:
            contents.extend(bytes(max(0, offset + len(data) - len(contents))))
            contents[offset : offset + len(data)] = data
    return contents


class ForgetfulDisk(apsw.VFS):
    """The default VFS of SQLite in this process, until the `with` block ends.

    `kept` is the share of outstanding writes that survive a loss of power.
    """

    def __init__(self, kept: float) -> None:
        self.kept = kept
        self.real = apsw.vfs_names()[0]
        super().__init__("forgetful", self.real, makedefault=True)
        self.files: dict[str, Contents] = {}
        self.on_write: Callable[[str], None] = lambda _: None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802
        super().xDelete(filename, syncdir)
        self.files.pop(Path(filename).name, None)

    def lose_power(self, folder: Path, rng: random.Random) -> None:
        """Write the files to a new folder as a loss of power would leave them."""
        folder.mkdir()
        for name, contents in self.files.items():
            (folder / name).write_bytes(contents.after_power_loss(rng, self.kept))


class _File(apsw.VFSFile):
    def __init__(self, disk: ForgetfulDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__(disk.real, name, flags)
        self._disk = disk
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        self._name = Path(path).name
        self._contents = disk.files.setdefault(self._name, Contents())

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._contents.unsafe.append((offset, bytes(data)))
        self._disk.on_write(self._name)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._contents.unsafe.append((newsize, None))
        self._disk.on_write(self._name)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._contents.synchronise()
