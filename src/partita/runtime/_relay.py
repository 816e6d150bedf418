"""Generators of requests: each request is responded to, and the generator gets the response or the error.

A generator that yields requests does no input or output of its own. It is written once: `run` executes its requests
with blocking calls, `run_async` with `await`, and `relay` lets another generator stand in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar, final

from msgspec import Struct

Q = TypeVar("Q")
S = TypeVar("S")
R = TypeVar("R")


@final
class Pause(Struct, frozen=True):
    """A request to wait, as between two tries."""

    seconds: float


def relay(requests: Generator[Q, Any, R], respond: Callable[[Q], Generator[S, Any, Any]]) -> Generator[S, Any, R]:
    """Respond to each request with what `respond` returns or raises; what `respond` yields is yielded on."""
    try:
        request = next(requests)
        while True:
            try:
                response = yield from respond(request)
            except Exception as error:  # noqa: BLE001 - the generator decides what to do with it
                request = requests.throw(error)
            else:
                request = requests.send(response)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


def run(requests: Generator[Q, Any, R], execute: Callable[[Q], Any]) -> R:
    """Execute each request with a blocking call, and give what the generator returns."""
    try:
        request = next(requests)
        while True:
            try:
                response = execute(request)
            except Exception as error:  # noqa: BLE001 - the generator decides what to do with it
                request = requests.throw(error)
            else:
                request = requests.send(response)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


async def run_async(
    requests: Generator[Q, Any, R], execute: Callable[[Q], Awaitable[Any]], first: Q | None = None
) -> R:
    """The same with `await`. `first` is a request that the generator has yielded already."""
    try:
        request = next(requests) if first is None else first
        while True:
            try:
                response = await execute(request)
            except Exception as error:  # noqa: BLE001 - the generator decides what to do with it
                request = requests.throw(error)
            else:
                request = requests.send(response)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
