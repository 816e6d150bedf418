"""A store that fails on demand: throttling, conflicts, lost responses, unfinished batches, and crashes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from partita.errors import (
    PartitaError,
    Reason,
    StoreUnavailable,
    Throttled,
    TransactionCancelled,
    TransactionConflict,
)
from partita.store import (
    BatchGetItem,
    BatchGetResponse,
    BatchWriteItem,
    BatchWriteResponse,
    Request,
    Store,
    TransactGetItems,
    TransactWriteItems,
)

R = TypeVar("R")

RequestTypes: TypeAlias = type[Request[Any]] | tuple[type[Request[Any]], ...]


class Crash(BaseException):
    """A simulated crash of the process. It is not an `Exception`, so `except Exception` does not catch it."""


class Fault:
    """A fault of one request: which part of the request reaches the store, and what the caller gets."""

    def part(self, request: Request[Any]) -> Request[Any] | None:
        """The part that is sent to the store; None for nothing."""
        raise NotImplementedError

    def respond(self, request: Request[Any], response: Any) -> Any:
        """Return what the caller gets for the store's response, or raise an error."""
        raise NotImplementedError


class Failing(Fault):
    """An error instead of a response; with `happens`, the store executes the request nevertheless."""

    def __init__(self, error: Callable[[Request[Any]], BaseException], *, happens: bool) -> None:
        self._error = error
        self._happens = happens

    def part(self, request: Request[Any]) -> Request[Any] | None:
        """The whole request, or nothing."""
        return request if self._happens else None

    def respond(self, request: Request[Any], response: Any) -> Any:  # noqa: ARG002 - the response is lost
        """Raise the error."""
        raise self._error(request)


class LeavingOut(Fault):
    """The last gets or writes of a batch are left unprocessed."""

    def __init__(self, count: int) -> None:
        self._count = count

    def part(self, request: Request[Any]) -> Request[Any] | None:
        """The batch without its last parts; None if no part remains."""
        if isinstance(request, BatchGetItem):
            return BatchGetItem(request.gets[: -self._count]) if len(request.gets) > self._count else None
        if isinstance(request, BatchWriteItem):
            return BatchWriteItem(request.writes[: -self._count]) if len(request.writes) > self._count else None
        raise TypeError(f"{type(request).__name__} is not a batch.")

    def respond(self, request: Request[Any], response: Any) -> Any:
        """The response to the part that was sent, with the rest as unprocessed."""
        capacity = () if response is None else response.capacity
        if isinstance(request, BatchGetItem):
            left = request.gets[-self._count :]
            found = [] if response is None else response.items
            return BatchGetResponse([*found, *[None] * len(left)], left, capacity)
        assert isinstance(request, BatchWriteItem)  # noqa: S101 - `part` refused all others
        return BatchWriteResponse(request.writes[-self._count :], capacity)


class _Rule(Struct):
    """A fault, the requests it applies to, how many of those pass first, and how often the fault happens."""

    fault: Fault
    on: RequestTypes
    passing: int
    times: int

    def strikes(self, request: Request[Any]) -> bool:
        if not self.times or not isinstance(request, self.on):
            return False
        if self.passing:
            self.passing -= 1
            return False
        self.times -= 1
        return True


class FaultyStore:
    """Wraps another store and injects planned faults. Safe for threads and event loops.

    store = FaultyStore(EmbeddedStore(":memory:"))
    store.throttle(2, on=PutItem)       # the next two puts are throttled, later ones succeed
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()
        self.requests: list[Request[Any]] = []
        """Every request that was made, in order, whether or not it succeeded."""

    def throttle(self, times: int = 1, *, on: RequestTypes = Request) -> None:
        """Refuse the next requests for lack of capacity; they are not executed."""
        self._plan(Failing(lambda _: Throttled("Throughput exceeds the current capacity."), happens=False), on, times)

    def conflict(self, times: int = 1, *, on: RequestTypes = Request) -> None:
        """Refuse the next requests because a transaction holds their items; they are not executed."""
        self._plan(Failing(_conflict, happens=False), on, times)

    def unavailable(self, times: int = 1, *, on: RequestTypes = Request, happens: bool = False) -> None:
        """Raise `StoreUnavailable` for the next requests; with `happens`, the store executes them nevertheless."""
        self._plan(Failing(lambda _: StoreUnavailable("The store did not respond."), happens=happens), on, times)

    def unprocessed(self, times: int = 1, *, count: int = 1, on: RequestTypes = (BatchGetItem, BatchWriteItem)) -> None:
        """Leave the last `count` parts of the next batches unprocessed."""
        if count < 1:
            raise ValueError(f"At least one part of a batch must be left unprocessed, not {count}.")
        self._plan(LeavingOut(count), on, times)

    def crash_before(self, nth: int, *, on: RequestTypes = Request) -> None:
        """Raise `Crash` when the nth request from now, counting from 1, is made; it is not executed."""
        self._plan(Failing(lambda _: Crash(f"before request {nth}"), happens=False), on, 1, passing=nth - 1)

    def crash_after(self, nth: int, *, on: RequestTypes = Request) -> None:
        """Raise `Crash` after the nth request from now, counting from 1, was executed and before its response."""
        self._plan(Failing(lambda _: Crash(f"after request {nth}"), happens=True), on, 1, passing=nth - 1)

    @property
    def pending(self) -> int:
        """How many of the planned faults have not happened yet."""
        with self._lock:
            return sum(rule.times for rule in self._rules)

    def execute(self, request: Request[R]) -> R:
        """Execute the request on the store, unless a fault is due."""
        fault = self._meet(request)
        if fault is None:
            return self._store.execute(request)
        part = fault.part(request)
        return fault.respond(request, None if part is None else self._store.execute(part))  # type: ignore[no-any-return]

    async def execute_async(self, request: Request[R]) -> R:
        """Execute the request likewise, without blocking the event loop."""
        fault = self._meet(request)
        if fault is None:
            return await self._store.execute_async(request)
        part = fault.part(request)
        response = None if part is None else await self._store.execute_async(part)
        return fault.respond(request, response)  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close the wrapped store."""
        self._store.close()

    def _plan(self, fault: Fault, on: RequestTypes, times: int, *, passing: int = 0) -> None:
        if times < 1 or passing < 0:
            raise ValueError("A fault happens at least once, and requests are counted from 1.")
        with self._lock:
            self._rules.append(_Rule(fault, on, passing, times))

    def _meet(self, request: Request[Any]) -> Fault | None:
        with self._lock:
            self.requests.append(request)
            return next((rule.fault for rule in self._rules if rule.strikes(request)), None)


def _conflict(request: Request[Any]) -> PartitaError:
    reason = ("TransactionConflict", "Transaction is ongoing for the item")
    if isinstance(request, TransactWriteItems):
        return TransactionCancelled([Reason(*reason) for _ in request.actions])
    if isinstance(request, TransactGetItems):
        return TransactionCancelled([Reason(*reason) for _ in request.gets])
    return TransactionConflict(reason[1])
