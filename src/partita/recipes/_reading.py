"""Procedures that only read: what they decide is written later, in a transaction of someone else's."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

from partita.errors import OperationError, PartitaError
from partita.operations._operation import Context, Operation, Pause, Procedure, Steps
from partita.store._requests import (
    BatchWriteItem,
    DeleteItem,
    PutItem,
    Request,
    TransactWriteItems,
    UpdateItem,
)

R = TypeVar("R")

_WRITES: Final = (PutItem, UpdateItem, DeleteItem, BatchWriteItem, TransactWriteItems)


def reading(procedure: Procedure[R]) -> Procedure[R]:
    """The same procedure; a write among its operations is refused before it is sent."""
    try:
        operation = next(procedure)
        while True:
            try:
                result = yield _Reading(operation, pattern=operation.pattern)
            except PartitaError as error:
                operation = procedure.throw(error)
            else:
                operation = procedure.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


class _Reading(Operation[R], Generic[R], frozen=True):
    """An operation that may read, and nothing else."""

    operation: Operation[R]

    def default_name(self) -> str:
        """The name of the operation itself."""
        return self.operation.default_name()

    def steps(self, context: Context) -> Steps[R]:
        """The operation's own steps, until one would write."""
        steps = self.operation.steps(context)
        try:
            step = next(steps)
            while True:
                self._check(step)
                try:
                    answer = yield step
                except PartitaError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]

    def _check(self, step: Request[Any] | Pause) -> None:
        if isinstance(step, _WRITES):
            hint = "Return the write as an action of the Plan, so that it commits together with the record."
            raise OperationError(f"{self.name} writes while a plan is being made.", hint=hint)
