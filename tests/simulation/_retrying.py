"""What a careful client does when it does not know what became of its request: it asks again, a few times."""

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
"""Trouble that passes. After some of it nobody knows whether the request happened."""


class GaveUp(Exception):
    """A client has asked often enough; whether the request happened is unknown."""


def ask_again(world: World, ask: Callable[[], Any], *, tries: int = 5) -> Any:
    """Ask until there is a response.

    Raises:
        GaveUp: there was none.
    """
    for attempt in range(tries):
        try:
            return ask()
        except PASSING:
            world.kernel.sleep(0.3 * 2**attempt)
    raise GaveUp
