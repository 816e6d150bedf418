"""The server with the store and the queues: it executes requests, crashes, and restarts from what is left."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.simulation._disk import SimulatedDisk
from tests.simulation._kernel import Kernel, Process

from partita import EmbeddedStore
from partita.errors import PartitaError, StoreUnavailable
from partita.queue import QueuePolicy
from partita.queue.embedded import EmbeddedQueue
from partita.store import Store

STORE: Final = "store"


class Server:
    """A process with one store and some queues, on one simulated disk. `wrap` may wrap the store."""

    def __init__(
        self,
        kernel: Kernel,
        disk: SimulatedDisk,
        template: Path,
        root: Path,
        queues: Mapping[str, QueuePolicy],
        wrap: Callable[[EmbeddedStore], Store],
    ) -> None:
        self.process = Process(kernel, "server")
        self.is_up = True
        self.disk = disk
        self.crashes = 0
        self._root = root
        self._policies = queues
        self._wrap = wrap
        self._kept: Path | None = None
        """The copy to restart from, if the folder was moved away."""
        self._folders = 0
        self._folder = root / "0"
        shutil.copytree(template, self._folder)
        self._open()

    def _open(self) -> None:
        clock = self.process.clock
        self.store = EmbeddedStore(self._folder / f"{STORE}.db", clock=clock)
        self.front = self._wrap(self.store)
        self.queues = {
            name: EmbeddedQueue(self._folder / f"{name}.db", name, policy=policy, clock=clock)
            for name, policy in self._policies.items()
        }

    def execute(self, target: str, request: Any) -> Any:
        """Execute a request at the store, or at the queue with this name."""
        if not self.is_up:
            raise StoreUnavailable("The server is down.")
        return self.front.execute(request) if target == STORE else self.queues[target].execute(request)

    def execute_and_crash(self, target: str, request: Any, random: Random, *, loses_power: bool) -> None:
        """Execute a request, and crash at one of its writes to the disk, or after the last; the response is lost."""
        left = self._new_folder()
        countdown = random.randrange(1, 12)

        def perhaps_crash() -> None:
            nonlocal countdown
            countdown -= 1
            if countdown == 0:
                self.disk.copy(self._folder, left, lost_by=random if loses_power else None)

        self.disk.on_write = perhaps_crash
        try:
            with suppress(PartitaError):
                self.execute(target, request)
        finally:
            self.disk.on_write = None
        if countdown > 0:
            self.disk.copy(self._folder, left, lost_by=random if loses_power else None)
        self._go_on_with(left)

    def move_away(self) -> None:
        """Move the folder away while the server runs; a copy in its place is used by the next start."""
        if self._kept is not None:
            return
        self._kept = self._new_folder()
        self.disk.copy(self._folder, self._kept)
        self._folder.rename(self._folder.with_name(f"{self._folder.name}-moved"))

    def restore(self) -> None:
        """Restart from the copy, if the folder was moved away."""
        if self._kept is not None:
            self._go_on_with(self._kept)

    def _go_on_with(self, left: Path) -> None:
        if self._kept is not None and left != self._kept:  # it crashed in the moved folder: the copy is used
            self.disk.forget(left, left)
            left = self._kept
        before = self._folder
        self.crashes += 1
        self.disk.is_full = False  # space is freed before the restart
        self.close()
        self._folder = left
        self.disk.forget(before, before if self._kept is None else before.with_name(f"{before.name}-moved"))
        self._kept = None
        self._open()

    def _new_folder(self) -> Path:
        self._folders += 1
        return self._root / str(self._folders)

    @property
    def is_whole(self) -> bool:
        """Whether the data can be checked: the server is up, and its folder was not moved away."""
        return self.is_up and self._kept is None

    def sweep(self) -> None:
        """Delete expired items, trim streams, and checkpoint the log."""
        self.store.sweep()

    def verify(self) -> None:
        """Check the files of the store and the queues for damage."""
        self.store.verify()
        for queue in self.queues.values():
            queue.verify()

    def close(self) -> None:
        """Close the files."""
        self.store.close()
        for queue in self.queues.values():
            queue.close()


def make_template(folder: Path, tables: Callable[[EmbeddedStore], None], queues: Mapping[str, QueuePolicy]) -> None:
    """Create the initial files of every simulation of a scenario: tables, and empty queues."""
    with EmbeddedStore(folder / f"{STORE}.db", clock=lambda: 0.0) as store:
        tables(store)
    for name, policy in queues.items():
        EmbeddedQueue(folder / f"{name}.db", name, policy=policy).close()
