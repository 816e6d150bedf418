"""The way of every request, in one place: guardrails, then metering, then retries, then the store.

Written once as generators that yield requests and pauses; a session drives them with blocking calls or with `await`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final, TypeVar

from msgspec import Struct

from partita._guardrails import REQUEST_PATH, Guardrail
from partita._meter import Consumption, Meter
from partita.errors import (
    BudgetExceeded,
    PartitaError,
    StoreUnavailable,
    Throttled,
    TokenInProgress,
    TransactionCancelled,
    TransactionConflict,
)
from partita.operations._backoff import pause_before
from partita.operations._operation import Context, Operation, Pause, Procedure, Steps
from partita.store._requests import (
    BatchGetItem,
    Capacity,
    GetItem,
    QueryTable,
    Request,
    ScanTable,
    TransactGetItems,
    TransactWriteItems,
)

R = TypeVar("R")

_READS: Final = (GetItem, QueryTable, ScanTable, BatchGetItem, TransactGetItems)
_PASSING_REASONS: Final = frozenset(("None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"))


class Pipeline(Struct, frozen=True):
    """How one session sends the requests of operations."""

    context: Context
    meter: Meter
    guardrails: tuple[Guardrail, ...] = REQUEST_PATH
    strict_budgets: bool = False
    max_tries: int = 8

    def run(self, work: Operation[R] | Procedure[R]) -> Steps[R]:
        """Perform an operation, or each operation that a procedure yields."""
        if isinstance(work, Operation):
            return self.perform(work)
        return self.follow(work)

    def follow(self, procedure: Procedure[R]) -> Steps[R]:
        """Perform each operation that a procedure yields, and give it the result or the error."""
        advance: Generator[Operation[Any], Any, R] = procedure
        try:
            operation = next(advance)
            while True:
                try:
                    result = yield from self.perform(operation)
                except PartitaError as error:
                    operation = advance.throw(error)
                else:
                    operation = advance.send(result)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]

    def perform(self, operation: Operation[R]) -> Steps[R]:
        """Send each request of one operation on its way, and add up what it consumed."""
        steps = operation.steps(self.context)
        spent = _Spent()
        try:
            step = next(steps)
            while True:
                if isinstance(step, Pause):
                    answer = yield step
                    step = steps.send(answer)
                    continue
                try:
                    answer = yield from self._send(operation, step)
                except PartitaError as error:
                    step = steps.throw(error)
                else:
                    spent.add(step, answer)
                    step = steps.send(answer)
        except StopIteration as stop:
            self._settle(operation, spent)
            return stop.value  # type: ignore[no-any-return]
        except PartitaError:
            self.meter.record_failure(operation.name)
            raise

    def _send(self, operation: Operation[Any], request: Request[Any]) -> Steps[Any]:
        for guardrail in self.guardrails:
            guardrail(operation, request)
        for attempt in range(1, self.max_tries):
            try:
                return (yield request)
            except PartitaError as error:
                if not may_retry(request, error):
                    raise
            self.meter.record_retry(operation.name)
            yield pause_before(attempt, self.context)
        return (yield request)

    def _settle(self, operation: Operation[Any], spent: _Spent) -> None:
        budget = operation.pattern.budget if operation.pattern is not None else None
        consumption = Consumption(operation.name, tuple(spent.requests), spent.read, spent.write, budget)
        self.meter.record(consumption)
        if self.strict_budgets and consumption.over_budget:
            used = f"{spent.read:g} RCU and {spent.write:g} WCU"
            message = f"{operation.name} consumed {used}; its budget is {budget}."
            raise BudgetExceeded(message, hint="Mend the access pattern, or declare what it truly costs.")


class _Spent:
    """What one run of an operation consumed so far."""

    __slots__ = ("read", "requests", "write")

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.read = 0.0
        self.write = 0.0

    def add(self, request: Request[Any], response: Any) -> None:
        self.requests.append(type(request).__name__)
        capacity = getattr(response, "capacity", None)
        if type(capacity) is Capacity:
            self._add(capacity)
        elif capacity:
            for part in capacity:
                self._add(part)

    def _add(self, capacity: Capacity) -> None:
        self.read += capacity.total_read if capacity.indexes else capacity.read
        self.write += capacity.total_write if capacity.indexes else capacity.write


def may_retry(request: Request[Any], error: PartitaError) -> bool:
    """Whether the same request may be sent again: it did not happen, or happening twice does no harm."""
    if isinstance(error, Throttled | TransactionConflict | TokenInProgress):
        return True
    if isinstance(error, TransactionCancelled):
        return all(reason.code in _PASSING_REASONS for reason in error.reasons)
    if isinstance(error, StoreUnavailable):
        return isinstance(request, _READS) or (isinstance(request, TransactWriteItems) and request.token is not None)
    return False
