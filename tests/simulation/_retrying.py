"""Retries of a careful client, which repeats a request a few times if it does not know whether it was executed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.simulation._world import World

from partita.errors import (
    IdempotencyInProgress,
    StoreError,
    Throttled,
    TransactionCancelled,
    TransactionConflict,
    Unprocessed,
)

PASSING: Final = (
    StoreError,
    Throttled,
    TransactionCancelled,
    TransactionConflict,
    Unprocessed,
    IdempotencyInProgress,
)
"""Transient errors. After some of them, it is unknown whether the request was executed."""


class GaveUp(Exception):
    """A client has used all its tries; whether the request was executed is unknown."""


def ask_again(world: World, ask: Callable[[], Any], *, tries: int = 5) -> Any:
    """Call `ask` until it succeeds, and wait longer after each transient error.

    Raises:
        GaveUp: every try failed with a transient error.
    """
    for attempt in range(tries):
        try:
            return ask()
        except PASSING:
            world.kernel.sleep(0.3 * 2**attempt)
    raise GaveUp
