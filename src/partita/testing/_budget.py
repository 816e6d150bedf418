"""Asserting that an access pattern consumes no more than its budget."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from partita.cost import Explanation, explain
from partita.errors import BudgetExceeded
from partita.operations import Operation
from partita.session import Consumption, Session

R = TypeVar("R")


def assert_budget(session: Session, operation: Operation[R]) -> R:
    """Run the operation, and fail unless it stayed within the budget of its access pattern.

    Raises:
        AssertionError: it consumed more, or declares no budget; the message explains the request.
    """
    explanation = explain(operation)
    if explanation.budget is None:
        raise AssertionError(f"{operation.name} declares no budget.\n{explanation}")
    with session.meter.watch() as seen:
        try:
            result = session.run(operation)
        except BudgetExceeded as error:
            raise _over_budget(explanation, seen[-1]) from error
    if seen[-1].over_budget:
        raise _over_budget(explanation, seen[-1])
    return result


def _over_budget(explanation: Explanation, consumption: Consumption) -> AssertionError:
    afterwards = replace(explanation, consumed=consumption.consumed, requests_sent=len(consumption.requests))
    return AssertionError(f"{explanation.name} exceeded its budget.\n{afterwards}")
