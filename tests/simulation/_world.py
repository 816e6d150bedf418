"""One simulated world: a server, processes around it, and the scenario that says what they do."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, Protocol

from tests.simulation._disk import SimulatedDisk
from tests.simulation._faults import Faults
from tests.simulation._kernel import Kernel, Process
from tests.simulation._network import Network, NetworkQueue, NetworkStore
from tests.simulation._server import Server

from partita import EmbeddedStore, Session, Table
from partita.queue import Queue, QueuePolicy
from partita.store import ScanTable, Store
from partita.values import Item

RESTART_SECONDS: Final = 3.0
SWEEP_SECONDS: Final = 30.0
SKEW_SECONDS: Final = 20.0
"""How far the clock of a worker is off: the services allow for half a minute."""
AHEAD_SECONDS: Final = 86_400.0
"""How far it is ahead where somebody has set it wrongly, for a while."""


class Violated(AssertionError):
    """Something does not hold that must hold."""


class Scenario(Protocol):
    """What runs in a world, and what must hold there."""

    tables: Sequence[Table]
    queues: Mapping[str, QueuePolicy]
    spared: Container[str]
    """Kinds of faults that it cannot bear by its own contract."""

    def start(self, world: World) -> None:
        """Begin: spawn clients and workers."""
        ...

    def check(self, world: World) -> None:
        """Look at the server's data between any two steps; what is wrong is `Violated`."""
        ...

    def is_settled(self, world: World) -> bool:
        """Whether all that was begun is done, now that nothing goes wrong any more."""
        ...

    def check_end(self, world: World) -> None:
        """Look at everything once it is settled."""
        ...


class World:
    """Everything there is in one run, made from its seed."""

    def __init__(
        self,
        seed: int,
        faults: Faults,
        disk: SimulatedDisk,
        folders: tuple[Path, Path],
        scenario: Scenario,
        wrap: Callable[[EmbeddedStore], Store],
        *,
        keep_trace: bool = False,
    ) -> None:
        self.kernel = Kernel(keep_trace=keep_trace)
        self.faults = faults
        self.random = Random(f"work of {seed}")
        self.is_calm = False
        """Whether clients begin nothing new."""
        self.server = Server(self.kernel, disk, *folders, scenario.queues, wrap)
        self.folder = folders[1]
        self.network = Network(self.kernel, faults, self.server)
        self.clients: list[Process] = []
        self._workers: dict[str, Process] = {}
        self._lives = 0
        self.kernel.later(SWEEP_SECONDS, "sweep", self._sweep)

    def client(self, name: str, work: Callable[[Process], object]) -> None:
        """A process that does something and ends."""
        process = Process(self.kernel, name)
        self.clients.append(process)
        process.spawn(lambda: work(process))

    def worker(self, name: str, work: Callable[[Process], object]) -> None:
        """A process that works for ever. It is killed now and then, and started again."""
        self._lives += 1
        process = self._workers[name] = Process(self.kernel, f"{name}.{self._lives}")
        process.spawn(lambda: work(process))
        if self._happens("clock skew", process.name):
            process.skew = self.faults.between(-SKEW_SECONDS, SKEW_SECONDS)
        if self._happens("clock ahead", process.name):
            process.skew = AHEAD_SECONDS
            self.kernel.later(self.faults.between(5.0, 40.0), f"{process.name} set right", lambda: _set_right(process))
        self.kernel.later(1.0, f"look at {process.name}", lambda: self._look_at(name, process, work))

    def _look_at(self, name: str, process: Process, work: Callable[[Process], object]) -> None:
        if all(task.is_done for task in process.tasks) or self._happens("kill worker", process.name):
            process.kill()
            self.kernel.later(RESTART_SECONDS, f"restart {name}", lambda: self.worker(name, work))
        else:
            self.kernel.later(1.0, f"look at {process.name}", lambda: self._look_at(name, process, work))

    def _happens(self, kind: str, where: str) -> bool:
        return self.faults.happens(kind, self.kernel.steps, where)

    def _sweep(self) -> None:
        if self.server.is_whole and not self.server.disk.is_full:
            self.server.sweep()
        self.kernel.later(SWEEP_SECONDS, "sweep", self._sweep)

    def session(self, process: Process) -> Session:
        """A session of a process, with its clock and its way to the server."""
        store = NetworkStore(self.network, process)
        random = Random(f"{process.name} pauses")
        return Session(store, clock=process.clock, secret=b"sim", random=random, sleep=self.kernel.sleep)

    def store(self, process: Process) -> Store:
        """The store, as a process reaches it."""
        return NetworkStore(self.network, process)

    def queue(self, process: Process, name: str) -> Queue:
        """A queue, as a process reaches it."""
        return NetworkQueue(self.network, self.kernel, process, name)

    def calm(self) -> None:
        """Nothing goes wrong any more, and nobody begins anything new."""
        self.is_calm = True
        self.faults.heal()
        self.network.heal()
        self.server.restore()
        self.server.process.skew = 0.0
        self.server.is_up, self.server.disk.is_full = True, False

    def end(self) -> None:
        """End every process, so that it closes its files, and close those of the server."""
        self.server.disk.is_full = False
        for process in (*self.clients, *self._workers.values()):
            process.kill()
        self.server.close()

    def clients_are_done(self) -> bool:
        """Whether every client has ended."""
        return all(task.is_done for process in self.clients for task in process.tasks)

    @property
    def truth(self) -> Session:
        """A session straight to the server's store, where nothing is lost."""
        return Session(self.server.store, clock=self.kernel.clock, secret=b"truth", random=Random(0))

    def items(self, table: Table) -> list[Item]:
        """All items of a table, straight from the server."""
        return all_items(self.server.front, table.name)


def _set_right(process: Process) -> None:
    process.skew = 0.0


def all_items(store: Store, table: str, index: str | None = None) -> list[Item]:
    """All items of a table, or of an index."""
    page = store.execute(ScanTable(table, index=index))
    items = page.items
    while page.last_key is not None:
        page = store.execute(ScanTable(table, index=index, start=page.last_key))
        items += page.items
    return items


def expect(holds: object, message: str, *values: Any) -> None:
    """Something that must hold.

    Raises:
        Violated: it does not.
    """
    if not holds:
        raise Violated(message.format(*values))
