"""Several generators of requests at once: in each round, all that they ask for next is executed together."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, TypeVar, final

from msgspec import Struct

Q = TypeVar("Q")


@final
class Together(Struct, frozen=True):
    """A request to run generators of requests at once; the response is the list of what they return, in their order."""

    parts: tuple[Generator[Any, Any, Any], ...]


@final
class Outcome(Struct, frozen=True):
    """What came of one request: its response, or an error."""

    response: Any = None
    error: Exception | None = None


def rounds(parts: Sequence[Generator[Q, Any, Any]]) -> Generator[list[Q], list[Outcome], list[Any]]:
    """Yield what the parts ask for next, is sent the outcomes in the same order, and returns what the parts return.

    No part runs in another thread than this generator does. Where a part fails, the others are closed.

    Raises:
        Exception: the error of the first part that failed.
    """
    results: list[Any] = [None] * len(parts)
    outcomes = dict.fromkeys(range(len(parts)), Outcome())
    try:
        while True:
            steps = {place: _step(parts[place], outcome, results, place) for place, outcome in outcomes.items()}
            asked = {place: step for place, step in steps.items() if step is not None}
            if not asked:
                return results
            responses = yield [each[0] for each in asked.values()]
            outcomes = dict(zip(asked, responses, strict=True))
    finally:
        for part in parts:
            part.close()


def _step(part: Generator[Q, Any, Any], outcome: Outcome, results: list[Any], place: int) -> tuple[Q] | None:
    """What a part asks for next; None where it is done, and then its result is kept."""
    try:
        return (part.send(outcome.response) if outcome.error is None else part.throw(outcome.error),)
    except StopIteration as stop:
        results[place] = stop.value
        return None
