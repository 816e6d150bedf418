"""The pipeline: the path of every request of every operation, implemented once, in `Pipeline.send`.

It consists of generators that yield requests and pauses. A session executes these with blocking calls or with `await`.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from inspect import GEN_CREATED, getgeneratorstate
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita import encryption
from partita.errors import BudgetExceeded, OperationError, PartitaError
from partita.operations import Context, Operation, Procedure, UnclaimedItems
from partita.runtime import Pause, Together, relay
from partita.session._guardrails import Guardrails
from partita.session._meter import Meter, MeteredRun
from partita.session._retries import StoreRequests, retried
from partita.store import Request

R = TypeVar("R")


class Pipeline(Struct, frozen=True):
    """Sends the requests of operations for one session."""

    context: Context
    meter: Meter
    guardrails: Guardrails
    strict_budgets: bool = False
    service: str = ""
    keys: encryption.FieldKeys | None = None

    def send(self, run: MeteredRun, request: Request[Any] | Pause | UnclaimedItems) -> StoreRequests[Any]:
        """The path of every request: guardrails, encryption of fields, the store, retries, metering."""
        for guardrail in self.guardrails.get(type(request), ()):
            guardrail(run.operation, request)
        if type(request) is UnclaimedItems:
            return run.count_unclaimed(request)
        if self.keys is not None and type(request) is not Pause:
            return (yield from self._send_sealed(run, request, self.keys))
        try:
            response = yield request  # the session executes it on the store
        except PartitaError as error:
            response = yield from retried(request, error, self.context, run.count_retry)
        run.count(request, response)
        return response

    def _send_sealed(self, run: MeteredRun, request: Request[Any], keys: encryption.FieldKeys) -> StoreRequests[Any]:
        """Encrypt fields before the request reaches the store, and decrypt them in the response."""
        sealed = yield from keys.seal(request)
        try:
            response = yield from replace(self, keys=None, guardrails={}).send(run, sealed)
        except PartitaError as error:
            yield from keys.open_error(request, error)
            raise
        return (yield from keys.open(request, sealed, response))

    def run(self, work: Operation[R] | Procedure[R]) -> StoreRequests[R]:
        """Run an operation, or each operation that a procedure yields."""
        if isinstance(work, Operation):
            return self.run_operation(work)
        return self.run_procedure(work)

    def run_procedure(self, procedure: Procedure[R]) -> StoreRequests[R]:
        """Run each operation that a procedure yields, and send it the result or throw the error into it."""
        if not isinstance(procedure, Generator):
            raise _not_runnable(procedure)
        if getgeneratorstate(procedure) != GEN_CREATED:
            raise OperationError("This procedure has already run.", hint="Call its function again for each run.")
        return relay(procedure, lambda yielded: self.run_operation(_checked(yielded)))

    def run_operation(self, operation: Operation[R]) -> StoreRequests[R]:
        """Send each request of an operation, and meter their total consumption."""
        run = MeteredRun(self.meter, self.service, operation)
        requests = operation.requests(self.context)
        try:
            request = next(requests)
            while True:  # inlined from `relay`, which would add a generator to every operation
                try:
                    if type(request) is Together:
                        parts: Any = Together(tuple(relay(part, partial(self.send, run)) for part in request.parts))
                        response = yield parts
                    else:
                        response = yield from self.send(run, request)
                except Exception as error:  # noqa: BLE001 - the operation decides what to do with it
                    request = requests.throw(error)
                else:
                    request = requests.send(response)
        except StopIteration as stop:
            result: R = stop.value
        except PartitaError as error:
            run.fail(error)
            raise
        if run.end() and self.strict_budgets:
            raise _over_budget(run)
        return result


def _not_runnable(given: object) -> OperationError:
    name = getattr(given, "__name__", type(given).__name__)
    hint = "Call it with its arguments." if callable(given) else "Run operations, one at a time, or a procedure."
    return OperationError(f"{name} is neither an operation nor a procedure.", hint=hint)


def _checked(yielded: object) -> Operation[Any]:
    if not isinstance(yielded, Operation):
        message = f"A procedure yielded {type(yielded).__name__}, which is not an operation."
        raise OperationError(message, hint="Write `yield from` before operations and procedures.")
    return yielded


def _over_budget(run: MeteredRun) -> BudgetExceeded:
    budget, name = run.operation.budget, run.operation.name
    message = f"{name} consumed {run.read:g} RCU and {run.write:g} WCU; its budget is {budget}."
    return BudgetExceeded(message, hint="Fix the access pattern, or declare its actual cost.")
