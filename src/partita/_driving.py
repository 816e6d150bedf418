"""Driving generators: what one yields is done, and it is sent the outcome, until it returns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

S = TypeVar("S")
R = TypeVar("R")


def drive(steps: Generator[S, Any, R], take: Callable[[S], Any]) -> R:
    """Take each step with a blocking call, and give the steps its answer or its error."""
    try:
        step = next(steps)
        while True:
            try:
                answer = take(step)
            except Exception as error:  # noqa: BLE001 - the steps decide what to do with it
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


async def drive_async(steps: Generator[S, Any, R], take: Callable[[S], Awaitable[Any]]) -> R:
    """The same with `await`."""
    try:
        step = next(steps)
        while True:
            try:
                answer = await take(step)
            except Exception as error:  # noqa: BLE001 - the steps decide what to do with it
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
