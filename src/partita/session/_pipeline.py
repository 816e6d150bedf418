"""The way of every request, in one place: guardrails, then metering, then retries, then the store.

Written once as generators that yield requests and pauses; a session drives them with blocking calls or with `await`.
"""

from __future__ import annotations

from collections.abc import Generator
from inspect import GEN_CREATED, getgeneratorstate
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct

from partita.errors import (
    BudgetExceeded,
    OperationError,
    PartitaError,
    StoreUnavailable,
    Throttled,
    TokenInProgress,
    TransactionCancelled,
    TransactionConflict,
)
from partita.operations import Context, Operation, Procedure, Requests
from partita.runtime import Pause, RetryPolicy, relay
from partita.session._guardrails import REQUEST_PATH, Guardrails
from partita.session._meter import Consumption, Meter
from partita.store import (
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

Sent: TypeAlias = list[tuple["Request[Any] | Pause", Any]]
"""The requests of one operation that were answered, each with its response."""

_READS: Final = (GetItem, QueryTable, ScanTable, BatchGetItem, TransactGetItems)
_PASSING_REASONS: Final = frozenset(("None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"))


class Pipeline(Struct, frozen=True):
    """How one session sends the requests of operations."""

    context: Context
    meter: Meter
    guardrails: Guardrails = REQUEST_PATH
    strict_budgets: bool = False
    retry: RetryPolicy = RetryPolicy()
    service: str = ""

    def run(self, work: Operation[R] | Procedure[R]) -> Requests[R]:
        """Perform an operation, or each operation that a procedure yields."""
        if isinstance(work, Operation):
            return self.perform(work)
        return self.follow(work)

    def follow(self, procedure: Procedure[R]) -> Requests[R]:
        """Perform each operation that a procedure yields, and give it the result or the error."""
        if not isinstance(procedure, Generator):
            raise _no_work(procedure)
        if getgeneratorstate(procedure) != GEN_CREATED:
            raise OperationError("This procedure ran already.", hint="Call its function again for each run.")
        return relay(procedure, self._perform_yielded)

    def _perform_yielded(self, yielded: object) -> Requests[Any]:
        return self.perform(_checked(yielded))

    def perform(self, operation: Operation[R]) -> Requests[R]:
        """Send each request of one operation on its way, and add up what it consumed."""
        sent: Sent = []
        try:
            result = yield from relay(
                operation.requests(self.context), lambda request: self._send(operation, request, sent)
            )
        except PartitaError as error:
            self._record(operation, sent)
            self.meter.record_failure(self.service, operation.name, error)
            raise
        if self._record(operation, sent) and self.strict_budgets:
            raise over_budget(operation, sent)
        return result

    def _send(self, operation: Operation[Any], request: Request[Any] | Pause, sent: Sent) -> Requests[Any]:
        for guardrail in self.guardrails.get(type(request), ()):
            guardrail(operation, request)
        try:
            response = yield request
        except PartitaError as error:
            response = yield from self._retry(operation, request, error)
        if response is not None:
            sent.append((request, response))
        return response

    def _retry(self, operation: Operation[Any], step: Request[Any] | Pause, error: PartitaError) -> Requests[Any]:
        for attempt in range(1, self.retry.tries):
            if not may_retry(step, error):
                break
            self.meter.record_retry(self.service, operation.name, error)
            yield self.retry.pause_before(attempt, self.context.random)
            try:
                return (yield step)
            except PartitaError as again:
                error = again
        raise error

    def _record(self, operation: Operation[Any], sent: Sent) -> bool:
        read, write = consumed(sent)
        budget = operation.budget
        over = budget is not None and not budget.covers(read, write)
        requests = tuple([type(request).__name__ for request, _ in sent])
        self.meter.record(Consumption(operation.name, requests, read, write, over, self.service))
        return over


def _no_work(given: object) -> OperationError:
    name = getattr(given, "__name__", type(given).__name__)
    hint = "Call it with its arguments." if callable(given) else "Run operations, one at a time, or a procedure."
    return OperationError(f"{name} is neither an operation nor a procedure.", hint=hint)


def _checked(yielded: object) -> Operation[Any]:
    if not isinstance(yielded, Operation):
        message = f"A procedure yielded {type(yielded).__name__}, which is no operation."
        raise OperationError(message, hint="Write `yield from` before operations and procedures.")
    return yielded


def over_budget(operation: Operation[Any], sent: Sent) -> BudgetExceeded:
    """The error for an operation that consumed more than its access pattern declares."""
    read, write = consumed(sent)
    message = f"{operation.name} consumed {read:g} RCU and {write:g} WCU; its budget is {operation.budget}."
    return BudgetExceeded(message, hint="Mend the access pattern, or declare what it truly costs.")


def consumed(sent: Sent) -> tuple[float, float]:
    """Read and write units of all that was sent."""
    read = write = 0.0
    for _, response in sent:
        capacity = response.capacity
        for part in (capacity,) if type(capacity) is Capacity else capacity:
            read += part.total_read if part.indexes else part.read
            write += part.total_write if part.indexes else part.write
    return read, write


def may_retry(request: Request[Any] | Pause, error: PartitaError) -> bool:
    """Whether the same request may be sent again: it did not happen, or happening twice does no harm."""
    if isinstance(error, Throttled | TransactionConflict | TokenInProgress):
        return True
    if isinstance(error, TransactionCancelled):
        return all(reason.code in _PASSING_REASONS for reason in error.reasons)
    if isinstance(error, StoreUnavailable):
        return isinstance(request, _READS) or (isinstance(request, TransactWriteItems) and request.token is not None)
    return False
