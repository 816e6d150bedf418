"""A store that is filled once, and of which every test gets its own branch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from partita.folder import copy_databases
from partita.runtime import Clock
from partita.session import Session
from partita.store.embedded import EmbeddedStore
from partita.testing._clock import FakeClock


class PreparedStore:
    """The initial data of all tests. A branch is a copy of the file, which shares blocks if the file system can."""

    def __init__(self, folder: Path, prepare: Callable[[Session], object], *, clock: Clock | None = None) -> None:
        """Fill a store.

        Args:
            folder: the folder of the store and its branches.
            prepare: creates the tables and fills them, once.
            clock: the time during `prepare`; by default a clock that stands still.
        """
        self._folder = folder
        self._file = folder / "prepared.db"
        self._made = 0
        clock = clock or FakeClock()
        with EmbeddedStore(self._file, clock=clock, durable=False, sweep_every=None) as store:
            prepare(Session(store, clock=clock, secret=b"fake"))

    @contextmanager
    def branch(self, *, clock: Clock | None = None) -> Iterator[EmbeddedStore]:
        """A store with all prepared data. Writes to it are discarded when the block ends."""
        self._made += 1
        path = self._folder / f"branch-{self._made}.db"
        copy_databases({self._file: path})
        try:
            with EmbeddedStore(path, clock=clock or FakeClock(), durable=False, sweep_every=None) as store:
                yield store
        finally:
            for part in self._folder.glob(f"{path.name}*"):
                part.unlink()
