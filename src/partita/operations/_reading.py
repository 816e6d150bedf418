"""Procedures that may only read: the caller writes their result later, in its own transaction."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

from partita.errors import OperationError
from partita.operations._operation import Context, Operation, Procedure, Requests
from partita.operations._unclaimed import UnclaimedItems
from partita.runtime import Pause, Together, relay
from partita.store import BatchWriteItem, DeleteItem, PutItem, Request, TransactWriteItems, UpdateItem

R = TypeVar("R")

_WRITES: Final = (PutItem, UpdateItem, DeleteItem, BatchWriteItem, TransactWriteItems)


def reading(procedure: Procedure[R]) -> Procedure[R]:
    """The same procedure, in which a write raises `OperationError` before it is sent."""
    return relay(procedure, lambda operation: iter(_Reading(operation, pattern=operation.pattern)))


class _Reading(Operation[R], Generic[R], frozen=True):
    """An operation that may only read."""

    operation: Operation[R]

    def default_name(self) -> str:
        """The name of the operation itself."""
        return self.operation.default_name()

    def requests(self, context: Context) -> Requests[R]:
        """The requests of the operation; one that writes is refused."""
        return relay(self.operation.requests(context), self._pass_on)

    def _pass_on(self, request: Request[Any] | Pause | UnclaimedItems | Together) -> Requests[Any]:
        if isinstance(request, _WRITES):
            hint = "Return the write as an action of the Plan, so that it commits together with the record."
            raise OperationError(f"{self.name} writes while a plan is being made.", hint=hint)
        return (yield request)
