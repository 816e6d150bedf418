"""The network between processes and the server: requests and responses are lost, late or duplicated, or cut off."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from msgspec.structs import replace
from tests.simulation._faults import Faults
from tests.simulation._kernel import Kernel, Outcome, Process, Resume, outcome_of
from tests.simulation._server import STORE, Server

from partita.errors import Reason, StoreUnavailable, Throttled, TransactionCancelled, TransactionConflict
from partita.queue import Acknowledge, Postpone, QueueRequest, Receive, Send
from partita.store import (
    BatchGetItem,
    GetItem,
    QueryTable,
    Request,
    ScanTable,
    TransactGetItems,
    TransactWriteItems,
)

R = TypeVar("R")

TIMEOUT: Final = 2.0
AHEAD_SECONDS: Final = 20 * 3_600.0
"""How far the server's clock is set ahead: longer than any visibility timeout, shorter than commands are remembered."""
_LATENCY: Final = (0.0005, 0.02)
_READS: Final = (GetItem, QueryTable, BatchGetItem, TransactGetItems)
_REPEATABLE: Final = (*_READS, Send, Acknowledge, Postpone)
POLL_SECONDS: Final = 0.5


class Network:
    """Carries requests to the server and responses back, and injects faults."""

    def __init__(self, kernel: Kernel, faults: Faults, server: Server) -> None:
        self._kernel = kernel
        self._faults = faults
        self._server = server
        self._cut_off: dict[str, float] = {}
        """The time until which each process cannot reach the server."""
        self.executed = 0

    def heal(self) -> None:
        """Reconnect all processes that are cut off."""
        self._cut_off.clear()

    def send(self, process: Process, target: str, request: Any) -> Any:
        """Send a request for the current task, and wait for its response.

        Raises:
            StoreUnavailable: no response arrived in time; whether the request was executed is unknown.
        """
        return self._kernel.wait(lambda resume: self._send(process, target, request, resume))

    def _send(self, process: Process, target: str, request: Any, resume: Resume) -> None:
        where = f"{process.name} {type(request).__name__}"
        if self._happens("partition", where):
            self._cut_off[process.name] = self._kernel.now + self._faults.between(1.0, 20.0)
        if self._cut_off.get(process.name, 0.0) > self._kernel.now or self._is_lost("lose request", request, where):
            self._time_out(resume)
            return
        if target == STORE and (error := self._refusal(request, where)) is not None:
            self._kernel.later(self._delay(), f"{where} refused", lambda: resume(Outcome(error=error)))
            return
        late = self._is_lost("late request", request, where)
        lost = late or self._is_lost("lose response", request, where)
        delay = TIMEOUT + self._faults.between(0.0, 5.0) if late else self._delay()
        if lost:
            self._time_out(resume)
        self._kernel.later(delay, where, lambda: self._deliver(target, request, where, None if lost else resume))

    def _deliver(self, target: str, request: Any, where: str, resume: Resume | None) -> None:
        """Execute a request at the server, and schedule the delivery of the response."""
        self.executed += 1
        for kind in ("power loss", "kill server"):
            if self._server.is_up and self._happens(kind, where):
                self._crash(target, request, loses_power=kind == "power loss")
                if resume is not None:
                    self._time_out(resume)
                return
        self._change_server(where)
        if self._server.is_up and self._happens("disk full", where):
            self._server.disk.is_full = True
            self._kernel.later(self._faults.between(0.1, 5.0), "disk has room", self._empty_disk)
        self._server.disk.cannot_read = self._happens("read error", where)
        outcome = outcome_of(lambda: self._server.execute(target, request))
        self._server.disk.cannot_read = False
        self._kernel.trace.add(f"  {type(outcome.error or outcome.value).__name__}")
        if outcome.error is None and self._is_repeatable(request) and self._happens("duplicate", where):
            again = self._faults.between(0.0, 1.0)
            self._kernel.later(again, f"{where} again", lambda: self._deliver(target, request, where, None))
        if resume is not None:
            slow = self._faults.between(0.5, 3.0) if self._happens("slow sync", where) else 0.0
            self._kernel.later(self._delay() + slow, f"{where} response", lambda: resume(outcome))

    def _change_server(self, where: str) -> None:
        """Set the server's clock ahead for a while, or move its folder away while it runs, if such a fault happens."""
        if self._happens("clock step", where) and not self._server.process.skew:
            self._server.process.skew = AHEAD_SECONDS
            self._kernel.later(self._faults.between(0.5, 10.0), "clock set back", self._set_back)
        if self._server.is_up and self._happens("folder moved", where):
            self._server.move_away()
            self._kernel.later(self._faults.between(0.1, 3.0), "restored", self._server.restore)

    def _set_back(self) -> None:
        self._server.process.skew = 0.0

    def _crash(self, target: str, request: Any, *, loses_power: bool) -> None:
        self._server.execute_and_crash(target, request, self._faults.random, loses_power=loses_power)
        self._server.is_up = False
        self._kernel.later(self._faults.between(0.1, 8.0), "server up", self._start)

    def _start(self) -> None:
        self._server.is_up = True

    def _empty_disk(self) -> None:
        self._server.disk.is_full = False

    def _refusal(self, request: Any, where: str) -> Exception | None:
        if self._is_lost("throttle", request, where):
            return Throttled("Throughput exceeds the current capacity.")
        if not self._happens("conflict", where):
            return None
        reason = Reason("TransactionConflict", "Transaction is ongoing for the item")
        if isinstance(request, TransactWriteItems):
            return TransactionCancelled([reason for _ in request.actions])
        if isinstance(request, TransactGetItems):
            return TransactionCancelled([reason for _ in request.gets])
        return TransactionConflict(reason.message) if hasattr(request, "condition") else None

    def _is_lost(self, kind: str, request: Any, where: str) -> bool:
        """Whether a request has this fault; never a scan, because retry delays of snapshots do not follow the seed."""
        return not isinstance(request, ScanTable) and self._happens(kind, where)

    def _is_repeatable(self, request: Any) -> bool:
        return isinstance(request, _REPEATABLE) or (isinstance(request, TransactWriteItems) and bool(request.token))

    def _happens(self, kind: str, where: str) -> bool:
        return self._faults.happens(kind, self._kernel.steps, where)

    def _delay(self) -> float:
        slow = self._faults.happens("slow", self._kernel.steps, "a message")
        return self._faults.between(0.1, 1.5) if slow else self._faults.between(*_LATENCY)

    def _time_out(self, resume: Resume) -> None:
        error = StoreUnavailable("There was no response in time.")
        self._kernel.later(TIMEOUT, "timeout", lambda: resume(Outcome(error=error)))


class NetworkStore:
    """The store as one process reaches it over the network."""

    def __init__(self, network: Network, process: Process) -> None:
        self._network = network
        self._process = process

    def execute(self, request: Request[R]) -> R:
        """Send the request, and wait for its response."""
        return self._network.send(self._process, STORE, request)  # type: ignore[no-any-return]

    async def execute_async(self, request: Request[R]) -> R:
        """Like `execute`, because there is no event loop here."""
        return self.execute(request)

    def close(self) -> None:
        """Do nothing, because there is nothing to release."""


class NetworkQueue:
    """A queue as one process reaches it over the network."""

    def __init__(self, network: Network, kernel: Kernel, process: Process, name: str) -> None:
        self.name = name
        self._network = network
        self._kernel = kernel
        self._process = process

    def execute(self, request: QueueRequest[R]) -> R:
        """Send the request, and wait for its response. A `Receive` with a wait polls from here instead."""
        if not isinstance(request, Receive):
            return self._network.send(self._process, self.name, request)  # type: ignore[no-any-return]
        ends, at_once = self._kernel.now + request.wait, replace(request, wait=0.0)
        while not (found := self._network.send(self._process, self.name, at_once)) and self._kernel.now < ends:
            self._kernel.sleep(POLL_SECONDS)
        return found  # type: ignore[no-any-return]

    async def execute_async(self, request: QueueRequest[R]) -> R:
        """Like `execute`, because there is no event loop here."""
        return self.execute(request)

    def close(self) -> None:
        """Do nothing, because there is nothing to release."""
