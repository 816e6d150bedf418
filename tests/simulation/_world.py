"""One simulated world: a server, client and worker processes, and the scenario that defines their work."""

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
"""The maximum error of a worker's clock; the services tolerate half a minute."""
AHEAD_SECONDS: Final = 86_400.0
"""How far the clock of a worker is ahead while it is set wrongly."""


class Violated(AssertionError):
    """An invariant does not hold."""


class Scenario(Protocol):
    """The work of the processes in a world, and its invariants."""

    tables: Sequence[Table]
    queues: Mapping[str, QueuePolicy]
    spared: Container[str]
    """Kinds of faults that do not happen in this scenario, because the code under test need not tolerate them."""

    def start(self, world: World) -> None:
        """Spawn clients and workers."""
        ...

    def check(self, world: World) -> None:
        """Check the invariants of the server's data between two steps.

        Raises:
            Violated: an invariant does not hold.
        """
        ...

    def is_settled(self, world: World) -> bool:
        """Whether all work is complete; asked when no more faults happen."""
        ...

    def check_end(self, world: World) -> None:
        """Check the final data, once everything is settled.

        Raises:
            Violated: an invariant does not hold.
        """
        ...


class World:
    """All parts of one run, created from its seed."""

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
        """Whether the faults are over, and clients start nothing new."""
        self.server = Server(self.kernel, disk, *folders, scenario.queues, wrap)
        self.folder = folders[1]
        self.network = Network(self.kernel, faults, self.server)
        self.clients: list[Process] = []
        self._workers: dict[str, Process] = {}
        self._lives = 0
        self.kernel.later(SWEEP_SECONDS, "sweep", self._sweep)

    def client(self, name: str, work: Callable[[Process], object]) -> None:
        """Start a process that does its work and ends."""
        process = Process(self.kernel, name)
        self.clients.append(process)
        process.spawn(lambda: work(process))

    def worker(self, name: str, work: Callable[[Process], object]) -> None:
        """Start a process that works for ever. It is occasionally killed, and then restarted."""
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
        """Return a session of a process, with its clock and its network connection to the server."""
        store = NetworkStore(self.network, process)
        random = Random(f"{process.name} pauses")
        return Session(store, clock=process.clock, secret=b"sim", random=random, sleep=self.kernel.sleep)

    def store(self, process: Process) -> Store:
        """Return the store as a process reaches it over the network."""
        return NetworkStore(self.network, process)

    def queue(self, process: Process, name: str) -> Queue:
        """Return a queue as a process reaches it over the network."""
        return NetworkQueue(self.network, self.kernel, process, name)

    def calm(self) -> None:
        """Stop all faults, and let clients start nothing new."""
        self.is_calm = True
        self.faults.heal()
        self.network.heal()
        self.server.restore()
        self.server.process.skew = 0.0
        self.server.is_up, self.server.disk.is_full = True, False

    def end(self) -> None:
        """Kill every process, so that it closes its files, and close the files of the server."""
        self.server.disk.is_full = False
        for process in (*self.clients, *self._workers.values()):
            process.kill()
        self.server.close()

    def clients_are_done(self) -> bool:
        """Whether every client has ended."""
        return all(task.is_done for process in self.clients for task in process.tasks)

    @property
    def truth(self) -> Session:
        """A session directly on the server's store, without network and faults."""
        return Session(self.server.store, clock=self.kernel.clock, secret=b"truth", random=Random(0))

    def items(self, table: Table) -> list[Item]:
        """Return all items of a table, directly from the server."""
        return all_items(self.server.front, table.name)


def _set_right(process: Process) -> None:
    process.skew = 0.0


def all_items(store: Store, table: str, index: str | None = None) -> list[Item]:
    """Return all items of a table, or of an index."""
    page = store.execute(ScanTable(table, index=index))
    items = page.items
    while page.last_key is not None:
        page = store.execute(ScanTable(table, index=index, start=page.last_key))
        items += page.items
    return items


def expect(holds: object, message: str, *values: Any) -> None:
    """Check an invariant.

    Raises:
        Violated: the invariant does not hold.
    """
    if not holds:
        raise Violated(message.format(*values))
