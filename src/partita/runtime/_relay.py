"""Generators of requests: each yielded request is executed, and the generator is sent the response or the error.

A generator that yields requests does no I/O of its own, so it is written only once: `run` executes its requests with
blocking calls, `run_async` with `await`, `run_some` only requests of some types, and `relay` passes each one to another
generator.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Generator
from contextvars import copy_context
from typing import Any, Final, TypeVar, final

from msgspec import Struct

from partita.runtime._together import Outcome, Together, rounds

Q = TypeVar("Q")
S = TypeVar("S")
R = TypeVar("R")


@final
class Pause(Struct, frozen=True):
    """A request to wait, for example between two tries."""

    seconds: float


@final
class Blocking(Struct, frozen=True):
    """A request to make a call that may block; the response is its result."""

    call: Callable[[], Any]


MAX_AT_ONCE: Final = 8
"""The most requests that are executed concurrently if they are requested together."""


def relay(requests: Generator[Q, Any, R], respond: Callable[[Q], Generator[S, Any, Any]]) -> Generator[S, Any, R]:
    """Answer each request with what `respond` returns or raises; yield what `respond` yields."""
    try:
        request: Any = next(requests)
        while True:
            try:
                if type(request) is Together:
                    parts: Any = Together(tuple(relay(part, respond) for part in request.parts))
                    response = yield parts
                else:
                    response = yield from respond(request)
            except Exception as error:  # noqa: BLE001 - the generator decides what to do with it
                request = requests.throw(error)
            else:
                request = requests.send(response)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


def run_some(
    requests: Generator[Q, Any, R], execute: Callable[[Q], Any], kinds: Container[type]
) -> Generator[Q, Any, R]:
    """Execute each request of these types with a blocking call; yield the others."""
    try:
        request = next(requests)
        while True:
            try:
                response = execute(request) if type(request) in kinds else (yield request)
            except Exception as error:  # noqa: BLE001 - the generator decides what to do with it
                request = requests.throw(error)
            else:
                request = requests.send(response)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


def run(requests: Generator[Q, Any, R], execute: Callable[[Q], Any]) -> R:
    """Execute each request with a blocking call, and return the generator's result."""
    try:
        request: Any = next(requests)
        while True:
            try:
                response = _run_together(request, execute) if type(request) is Together else execute(request)
            except Exception as error:  # noqa: BLE001 - the generator decides what to do with it
                request = requests.throw(error)
            else:
                request = requests.send(response)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


async def run_async(
    requests: Generator[Q, Any, R], execute: Callable[[Q], Awaitable[Any]], first: Q | None = None
) -> R:
    """Execute each request with `await`. `first` is a request that the generator has already yielded."""
    try:
        request: Any = next(requests) if first is None else first
        while True:
            try:
                if type(request) is Together:
                    response = await _run_together_async(request, execute)
                else:
                    response = await execute(request)
            except Exception as error:  # noqa: BLE001 - the generator decides what to do with it
                request = requests.throw(error)
            else:
                request = requests.send(response)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


async def in_thread(call: Callable[[], R]) -> R:
    """Make a call in another thread, and return its result."""
    import asyncio  # noqa: PLC0415 - only programs with an event loop need it

    return await asyncio.to_thread(call)


def _run_together(together: Together, execute: Callable[[Any], Any]) -> list[Any]:
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - most programs never need it

    def outcome(request: Any) -> Outcome:
        try:
            response = _run_together(request, execute) if type(request) is Together else execute(request)
        except Exception as error:  # noqa: BLE001 - the requesting generator decides what to do with it
            return Outcome(error=error)
        return Outcome(response)

    with ThreadPoolExecutor(min(len(together.parts), MAX_AT_ONCE) or 1) as pool:

        def outcomes(requests: list[Any]) -> list[Outcome]:
            futures = [pool.submit(copy_context().run, outcome, request) for request in requests]
            return [future.result() for future in futures]

        return run(rounds(together.parts), outcomes)


async def _run_together_async(together: Together, execute: Callable[[Any], Awaitable[Any]]) -> list[Any]:
    import asyncio  # noqa: PLC0415 - only programs with an event loop need it

    free = asyncio.Semaphore(MAX_AT_ONCE)

    async def outcome(request: Any) -> Outcome:
        try:
            if type(request) is Together:
                return Outcome(await _run_together_async(request, execute))
            async with free:
                return Outcome(await execute(request))
        except Exception as error:  # noqa: BLE001 - the requesting generator decides what to do with it
            return Outcome(error=error)

    async def outcomes(requests: list[Any]) -> list[Outcome]:
        return await asyncio.gather(*map(outcome, requests))

    return await run_async(rounds(together.parts), outcomes)
