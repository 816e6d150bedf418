"""The interface that every store implements, embedded or remote."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

from partita.errors import RecoveryDisabled, StoreError
from partita.store._requests import Request

R = TypeVar("R")


class Store(Protocol):
    """Executes requests. Safe for concurrent use by any number of threads and event loops.

    Contract:
    - A write that returned is durable. A write that raised a `RequestError` did not happen.
      After `StoreUnavailable`, it is unknown whether the write happened.
    - A read that starts after a write returned sees that write: always on an embedded store,
      and on a remote store if the read is consistent.
    - Items in responses belong to the caller, who may change them.
    - A missing item is returned as None; a missing table raises `TableNotFound`.
    """

    def execute(self, request: Request[R]) -> R:
        """Execute the request.

        Raises:
            RequestError: the request was refused and changed nothing.
            StoreError: the store itself failed.
        """
        ...

    async def execute_async(self, request: Request[R]) -> R:
        """Execute the request without blocking the event loop."""
        ...

    def close(self) -> None:
        """Release files and connections. Closing twice does nothing."""
        ...


@runtime_checkable
class KeepsPast(Protocol):
    """A store whose past states can be read."""

    def as_of(self, instant: float) -> Store:
        """The store as it was at an instant, in seconds since the epoch; it only executes reads of items.

        Raises:
            InstantOutOfRange: the instant is in the future.
        """
        ...


@runtime_checkable
class KnowsDisk(Protocol):
    """A store that knows whether its disk accepts writes."""

    def why_unwritable(self) -> StoreError | None:
        """Why writes fail, if they do."""
        ...


def write_troubles(store: Store) -> dict[str, str]:
    """Return the code of the error with which a store that can be read refuses writes, as `writes`; else nothing."""
    error = store.why_unwritable() if isinstance(store, KnowsDisk) else None
    return {} if error is None else {"writes": error.code}


def past_of(store: Store, instant: float) -> Store:
    """A store as it was at an instant.

    Raises:
        RecoveryDisabled: the store does not keep past states. InstantOutOfRange: the instant is in the future.
    """
    if not isinstance(store, KeepsPast):
        hint = "Restore the table to a point in time, then read the new table."
        raise RecoveryDisabled(f"The past states of a {type(store).__name__} cannot be read.", hint=hint)
    return store.as_of(instant)
