"""The one interface that every store implements; embedded and remote are siblings behind it."""

from __future__ import annotations

from typing import Protocol, TypeVar

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
