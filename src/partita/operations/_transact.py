"""Transactions: up to 100 writes and checks, all or nothing; up to 100 gets at one instant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
"""The most writes and checks that one transaction may have."""


def _epoch() -> float:
    return 0.0


class Action(Protocol):
    """Part of a transaction: a put, update, delete or check, or a recipe's own write."""

    def action(self, context: Context) -> TransactAction:
        """The action to send."""
        ...

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in the action's own terms."""
        ...


class Transaction(Operation[None], frozen=True):
    """All of the writes and checks, or none of them."""

    actions: tuple[Action, ...]
    token: str | None = None

    def default_name(self) -> str:
        """The names of its writes, each once, if no access pattern was declared."""
        names = dict.fromkeys(action.name for action in self.actions if isinstance(action, Operation))
        return "+".join(names) or "Transaction"

    def default_budget(self) -> Budget | None:
        """Twice the budgets of its parts, if each has one: in a transaction, a write costs no more than that."""
        return transaction_budget(self.actions)

    def request(self, context: Context) -> TransactWriteItems:
        """The request to send.

        With a token, the request must be the same each time it is sent, so its conditions omit the time: an expired
        item counts as stored until it is deleted.
        """
        if self.token is not None:
            context = replace(context, clock=_epoch)
        return TransactWriteItems(tuple(action.action(context) for action in self.actions), self.token)

    def requests(self, context: Context) -> Requests[None]:
        """Send the request; map a cancellation back to the operations that caused it."""
        try:
            yield self.request(context)
        except TransactionCancelled as error:
            for reason, action in zip(error.reasons, self.actions, strict=True):
                reason.operation = action
                if reason.code == "ConditionalCheckFailed":
                    reason.error = action.explain(ConditionFailed(reason.message, item=reason.item), context)
            if error.cause is not None:
                error.hint = f"The first action that failed: {error.cause}"
            raise


class TransactGet(Operation[tuple[Any, ...]], frozen=True):
    """Several items as they were at one instant."""

    sends = (GetItem,)

    gets: tuple[Get[Any], ...]

    def request(self) -> TransactGetItems:
        """The request to send."""
        return TransactGetItems(tuple(get.request() for get in self.gets))

    def requests(self, context: Context) -> Requests[tuple[Any, ...]]:
        """Send the request; the results align with the gets."""
        response: TransactGetResponse = yield self.request()
        return tuple(get.result(item, context) for get, item in zip(self.gets, response.items, strict=True))


def transaction_budget(actions: Sequence[object]) -> Budget | None:
    """The budget of actions as parts of a transaction; None unless all of them have a budget."""
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
        OperationError: there is no action, there are more than 100, or one is neither a write nor a check.
    """
    _check_count(actions)
    for action in actions:
        if not callable(getattr(action, "action", None)):
            message = f"{type(action).__name__} is neither a write nor a check, and cannot be part of a transaction."
            hint = "Write an entity with put(); read items with transact_get()."
            if isinstance(action, Iterable) and not isinstance(action, BaseModel | Operation):
                hint = "Pass each action as an argument of its own: transact(*actions)."
            raise OperationError(message, hint=hint)
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
        OperationError: there is no get, there are more than 100, or one of the arguments is not a get.
    """
    _check_count(gets)
    check_gets(gets)
    return TransactGet(gets)


def check_gets(gets: Sequence[object]) -> None:
    """Refuse operations that do not read one item by its key."""
    for get in gets:
        if not isinstance(get, Get):
            message = f"{type(get).__name__} does not get one item by its key."
            raise OperationError(message, hint="Run queries on their own.")


def _check_count(actions: Sequence[object]) -> None:
    if not 1 <= len(actions) <= MAX_ACTIONS:
        raise OperationError(f"A transaction has 1 to {MAX_ACTIONS} actions, not {len(actions)}.")
