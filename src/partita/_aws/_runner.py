"""Runs generators of API calls, blocking or with `await`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from partita._aws._credentials import CredentialSource
from partita._aws._failures import UNKNOWN
from partita._aws._transport import HttpRequest, Transport
from partita.errors import StoreUnavailable
from partita.runtime import Pause, run, run_async

R = TypeVar("R")

_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""Decoding errors for a body that is not JSON of the expected shape, not UTF-8, or nested too deeply."""


class LoadCredentials(Struct, frozen=True):
    """Load the credentials, which may take a while."""


Effect: TypeAlias = HttpRequest | Pause | LoadCredentials
"""An effect that a generator of calls requests from its runner."""

Calls: TypeAlias = Generator[Effect, Any, R]
"""Makes calls without I/O of its own: it yields effects, is sent their results, and returns an `R`."""


class Runner:
    """Executes the effects that generators of calls yield; `sleep`, if given, replaces waiting in real time."""

    def __init__(
        self, transport: Transport, credentials: CredentialSource, sleep: Callable[[float], None] | None
    ) -> None:
        self._transport = transport
        self._credentials = credentials
        self._sleep = sleep

    def run(self, calls: Calls[R]) -> R:
        """Make the calls and return their result.

        Raises:
            StoreUnavailable: a response cannot be read.
        """
        try:
            return run(calls, self._execute)
        except _UNREADABLE as error:
            raise _unreadable(error) from error

    async def run_async(self, calls: Calls[R]) -> R:
        """Do the same without blocking the event loop."""
        try:
            return await run_async(calls, self._execute_async)
        except _UNREADABLE as error:
            raise _unreadable(error) from error

    def _execute(self, effect: Effect) -> Any:
        if isinstance(effect, HttpRequest):
            return self._transport.send(effect)
        if isinstance(effect, Pause):
            return (self._sleep or time.sleep)(effect.seconds)
        return self._credentials.load()

    async def _execute_async(self, effect: Effect) -> Any:
        if isinstance(effect, HttpRequest):
            return await self._transport.send_async(effect)
        if isinstance(effect, Pause):
            return await asyncio.sleep(effect.seconds) if self._sleep is None else self._sleep(effect.seconds)
        return await asyncio.to_thread(self._credentials.load)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


def _unreadable(error: Exception) -> StoreUnavailable:
    return StoreUnavailable(f"The store's response cannot be read: {error}.", hint=UNKNOWN)
