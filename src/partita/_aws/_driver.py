"""Does the steps of procedures: with blocking calls, or with `await`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from partita._aws._credentials import CredentialSource
from partita._aws._failures import UNKNOWN
from partita._aws._steps import Step, Steps
from partita._aws._transport import HttpCall, Transport
from partita.errors import StoreUnavailable
from partita.runtime import Pause, run, run_async

R = TypeVar("R")


class Driver:
    """Sends the calls that procedures yield; `sleep` waits in place of real time."""

    def __init__(
        self, transport: Transport, credentials: CredentialSource, sleep: Callable[[float], None] | None
    ) -> None:
        self._transport = transport
        self._credentials = credentials
        self._sleep = sleep

    def run(self, steps: Steps[R]) -> R:
        """Run a procedure to its end.

        Raises:
            StoreUnavailable: an answer cannot be read.
        """
        try:
            return run(steps, self._take)
        except msgspec.MsgspecError as error:
            raise _unreadable(error) from error

    async def run_async(self, steps: Steps[R]) -> R:
        """The same, without blocking the event loop."""
        try:
            return await run_async(steps, self._take_async)
        except msgspec.MsgspecError as error:
            raise _unreadable(error) from error

    def _take(self, step: Step) -> Any:
        if isinstance(step, HttpCall):
            return self._transport.send(step)
        if isinstance(step, Pause):
            return (self._sleep or time.sleep)(step.seconds)
        return self._credentials.load()

    async def _take_async(self, step: Step) -> Any:
        if isinstance(step, HttpCall):
            return await self._transport.send_async(step)
        if isinstance(step, Pause):
            return await asyncio.sleep(step.seconds) if self._sleep is None else self._sleep(step.seconds)
        return await asyncio.to_thread(self._credentials.load)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


def _unreadable(error: msgspec.MsgspecError) -> StoreUnavailable:
    return StoreUnavailable(f"The store's answer cannot be read: {error}.", hint=UNKNOWN)
