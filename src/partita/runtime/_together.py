"""Running several generators of requests concurrently: each round executes the next request of every generator."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, TypeVar, final

from msgspec import Struct

Q = TypeVar("Q")


@final
class Together(Struct, frozen=True):
    """A request to run generators of requests concurrently; the response is the list of their results, in order."""

    parts: tuple[Generator[Any, Any, Any], ...]


@final
class Outcome(Struct, frozen=True):
    """The outcome of one request: its response, or an error."""

    response: Any = None
    error: Exception | None = None


def rounds(parts: Sequence[Generator[Q, Any, Any]]) -> Generator[list[Q], list[Outcome], list[Any]]:
    """Yield the next requests of all parts, receive their outcomes in the same order, and return the parts' results.

    All parts run in the thread of this generator. If a part fails, the others are closed.

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
    """The next request of a part; None if the part is done, and its result is stored."""
    try:
        return (part.send(outcome.response) if outcome.error is None else part.throw(outcome.error),)
    except StopIteration as stop:
        results[place] = stop.value
        return None
