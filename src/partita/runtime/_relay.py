"""Generators of requests: each request is responded to, and the generator gets the response or the error.

A generator that yields requests does no input or output of its own. It is written once: `run` executes its requests
with blocking calls, `run_async` with `await`, `run_some` only those of some kinds, and `relay` lets another generator
stand in between.
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
    """A request to wait, as between two tries."""

    seconds: float


@final
class Blocking(Struct, frozen=True):
    """A request to make a call that may block: the response is what it gives."""

    call: Callable[[], Any]


MAX_AT_ONCE: Final = 8
"""As many requests are executed at the same time, where they are asked for together."""


def relay(requests: Generator[Q, Any, R], respond: Callable[[Q], Generator[S, Any, Any]]) -> Generator[S, Any, R]:
    """Respond to each request with what `respond` returns or raises; what `respond` yields is yielded on."""
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
    """Execute each request of these kinds with a blocking call; yield the others on."""
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
    """Execute each request with a blocking call, and give what the generator returns."""
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
    """The same with `await`. `first` is a request that the generator has yielded already."""
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
    """What a call returns that another thread makes, while this task waits."""
    import asyncio  # noqa: PLC0415 - only who runs an event loop needs it

    return await asyncio.to_thread(call)


def _run_together(together: Together, execute: Callable[[Any], Any]) -> list[Any]:
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - most programs never need it

    def outcome(request: Any) -> Outcome:
        try:
            response = _run_together(request, execute) if type(request) is Together else execute(request)
        except Exception as error:  # noqa: BLE001 - the generator that asked for it decides what to do with it
            return Outcome(error=error)
        return Outcome(response)

    with ThreadPoolExecutor(min(len(together.parts), MAX_AT_ONCE) or 1) as pool:

        def outcomes(requests: list[Any]) -> list[Outcome]:
            futures = [pool.submit(copy_context().run, outcome, request) for request in requests]
            return [future.result() for future in futures]

        return run(rounds(together.parts), outcomes)


async def _run_together_async(together: Together, execute: Callable[[Any], Awaitable[Any]]) -> list[Any]:
    import asyncio  # noqa: PLC0415 - only who runs an event loop needs it

    free = asyncio.Semaphore(MAX_AT_ONCE)

    async def outcome(request: Any) -> Outcome:
        try:
            if type(request) is Together:
                return Outcome(await _run_together_async(request, execute))
            async with free:
                return Outcome(await execute(request))
        except Exception as error:  # noqa: BLE001 - the generator that asked for it decides what to do with it
            return Outcome(error=error)

    async def outcomes(requests: list[Any]) -> list[Outcome]:
        return await asyncio.gather(*map(outcome, requests))

    return await run_async(rounds(together.parts), outcomes)
