"""The one interface that every store implements; embedded and remote are siblings behind it."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

from partita.errors import RecoveryDisabled
from partita.store._requests import Request

R = TypeVar("R")


class Store(Protocol):
    """Executes requests. Safe for any number of threads and event loops at once.

    Contract:
    - A write that returned is durable. One that raised a `RequestError` did not happen.
      After `StoreUnavailable` it is unknown whether it happened.
    - A read that starts after a write returned sees it, on an embedded store always,
      on a remote store when the request is consistent.
    - Items in responses belong to the caller, who may change them.
    - A missing item is None, a missing table is `TableNotFound`.
    """

    def execute(self, request: Request[R]) -> R:
        """Execute the request.

        Raises:
            RequestError: the request was refused and changed nothing.
            StoreError: the store itself is in trouble.
        """
        ...

    async def execute_async(self, request: Request[R]) -> R:
        """The same, without blocking the event loop."""
        ...

    def close(self) -> None:
        """Release files and connections. Closing twice does nothing."""
        ...


@runtime_checkable
class KeepsPast(Protocol):
    """A store that can be read as it was."""

    def as_of(self, instant: float) -> Store:
        """The store as it was at an instant, in seconds since the epoch; it executes reads of items.

        Raises:
            InstantOutOfRange: it is in the future.
        """
        ...


def past_of(store: Store, instant: float) -> Store:
    """A store as it was at an instant.

    Raises:
        RecoveryDisabled: it does not keep its past. InstantOutOfRange: the instant is in the future.
    """
    if not isinstance(store, KeepsPast):
        hint = "Restore the table to a point in time, and read the new table."
        raise RecoveryDisabled(f"{type(store).__name__} cannot be read as it was.", hint=hint)
    return store.as_of(instant)
