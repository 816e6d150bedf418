"""The interface between operations and their runner, which a server without buckets does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from partita.errors import OperationError, ValidationFailed
from partita.wire._parameters import Parameters


class _Waking(Protocol):
    def wake(self, region: str) -> None: ...


R = TypeVar("R", bound=_Waking)


class Runner(Generic[R]):
    """Wraps a runner, which may be missing."""

    def __init__(self, runner: R | None) -> None:
        self._runner = runner

    def check(self, call: Callable[[R], Any]) -> None:
        """Refuse a request that this server cannot run.

        Raises:
            ValidationFailed: the server has no buckets, or the runner refuses the request.
        """
        if self._runner is None:
            raise ValidationFailed("This server has no buckets: start it with --buckets")
        try:
            call(self._runner)
        except OperationError as error:
            raise ValidationFailed(error.message) from None

    def wake(self, call: Parameters) -> None:
        """Resume unfinished work in the region of a call."""
        if self._runner is not None:
            self._runner.wake(call.region)
