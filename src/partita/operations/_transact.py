"""Transactions: up to 100 writes and checks, all or nothing; up to 100 gets of one instant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, overload

from msgspec.structs import replace
from pydantic import BaseModel

from partita.errors import ConditionFailed, OperationError, TransactionCancelled
from partita.model import Budget
from partita.operations._get import Get
from partita.operations._operation import Context, Operation, Requests
from partita.store import GetItem, TransactAction, TransactGetItems, TransactGetResponse, TransactWriteItems

A = TypeVar("A", bound=BaseModel)
B = TypeVar("B", bound=BaseModel)
C = TypeVar("C", bound=BaseModel)
D = TypeVar("D", bound=BaseModel)

MAX_ACTIONS = 100
"""As many writes and checks as one transaction may have."""


def _epoch() -> float:
    return 0.0


class Action(Protocol):
    """What can be part of a transaction: a put, update, delete or check, or a recipe's own write."""

    def action(self, context: Context) -> TransactAction:
        """The action that is sent."""
        ...

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """A failed condition in the action's own terms."""
        ...


class Transaction(Operation[None], frozen=True):
    """All of the writes and checks, or none of them."""

    actions: tuple[Action, ...]
    token: str | None = None

    def default_name(self) -> str:
        """The names of its writes, each once, where no access pattern was declared."""
        names = dict.fromkeys(action.name for action in self.actions if isinstance(action, Operation))
        return "+".join(names) or "Transaction"

    def default_budget(self) -> Budget | None:
        """Twice what its parts may consume, where each says so: in a transaction, a write costs no more than that."""
        return in_transaction(self.actions)

    def request(self, context: Context) -> TransactWriteItems:
        """The request that is sent.

        With a token it must be the same whenever it is sent, so its conditions leave out the time: an expired item
        counts as stored until it is swept.
        """
        if self.token is not None:
            context = replace(context, clock=_epoch)
        return TransactWriteItems(tuple(action.action(context) for action in self.actions), self.token)

    def requests(self, context: Context) -> Requests[None]:
        """Send the request; a cancellation is mapped back to the operations that caused it."""
        try:
            yield self.request(context)
        except TransactionCancelled as error:
            for reason, action in zip(error.reasons, self.actions, strict=True):
                reason.operation = action
                if reason.code == "ConditionalCheckFailed":
                    reason.error = action.explain(ConditionFailed(reason.message, item=reason.item), context)
            raise


class TransactGet(Operation[tuple[Any, ...]], frozen=True):
    """Several items as they were at one instant."""

    sends = (GetItem,)

    gets: tuple[Get[Any], ...]

    def request(self) -> TransactGetItems:
        """The request that is sent."""
        return TransactGetItems(tuple(get.request() for get in self.gets))

    def requests(self, context: Context) -> Requests[tuple[Any, ...]]:
        """Send the request; the results align with the gets."""
        response: TransactGetResponse = yield self.request()
        return tuple(get.result(item, context) for get, item in zip(self.gets, response.items, strict=True))


def in_transaction(actions: Sequence[object]) -> Budget | None:
    """What actions may consume as parts of a transaction; None unless all of them have a budget."""
    total = Budget()
    for action in actions:
        budget: Budget | None = getattr(action, "budget", None)
        if budget is None:
            return None
        total += budget + budget
    return total


def transact(*actions: Action, token: str | None = None) -> Transaction:
    """All of the writes and checks, or none. With a `token`, the same call within ten minutes runs once.

    Raises:
        OperationError: no action, or more than 100, or something that is neither a write nor a check.
    """
    _check_count(actions)
    for action in actions:
        if not callable(getattr(action, "action", None)):
            message = f"{type(action).__name__} is neither a write nor a check, and cannot be part of a transaction."
            raise OperationError(message, hint="Write an entity with put(); read items with transact_get().")
    return Transaction(actions, token)


@overload
def transact_get(first: Get[A], /) -> Operation[tuple[A | None]]: ...
@overload
def transact_get(first: Get[A], second: Get[B], /) -> Operation[tuple[A | None, B | None]]: ...
@overload
def transact_get(first: Get[A], second: Get[B], third: Get[C], /) -> Operation[tuple[A | None, B | None, C | None]]: ...
@overload
def transact_get(
    first: Get[A], second: Get[B], third: Get[C], fourth: Get[D], /, *more: Get[Any]
) -> Operation[tuple[A | None, B | None, C | None, D | None, *tuple[Any, ...]]]: ...
def transact_get(*gets: Get[Any]) -> Operation[Any]:
    """Several items as they were at one instant; the results align with the gets.

    Raises:
        OperationError: no get, or more than 100, or something else than a get.
    """
    _check_count(gets)
    check_gets(gets)
    return TransactGet(gets)


def check_gets(gets: Sequence[object]) -> None:
    """Refuse what does not read one item by its key."""
    for get in gets:
        if not isinstance(get, Get):
            message = f"{type(get).__name__} does not get one item by its key."
            raise OperationError(message, hint="Run queries by themselves.")


def _check_count(actions: Sequence[object]) -> None:
    if not 1 <= len(actions) <= MAX_ACTIONS:
        raise OperationError(f"A transaction has 1 to {MAX_ACTIONS} actions, not {len(actions)}.")
