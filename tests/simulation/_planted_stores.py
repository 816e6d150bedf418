"""Stores with one bug each, which affects some requests."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from msgspec.structs import replace

from partita import EmbeddedStore
from partita.store import (
    GetItem,
    ReadStream,
    Request,
    StreamPage,
    TransactGetItems,
    TransactWriteItems,
    TransactWriteResponse,
)

R = TypeVar("R")

EVERY: Final = 7
"""One in this number of requests of the kind is executed wrongly."""


class _Wrong:
    """A store that executes most requests correctly, and some of certain kinds wrongly."""

    kinds: tuple[type, ...]

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store
        self._count = 0

    def execute(self, request: Request[R]) -> R:
        """Execute a request, in some cases wrongly."""
        if isinstance(request, self.kinds):
            self._count += 1
            if self._count % EVERY == 0:
                return self.wrong(request)  # type: ignore[no-any-return]
        return self._store.execute(request)

    async def execute_async(self, request: Request[R]) -> R:
        """Like `execute`."""
        return self.execute(request)

    def wrong(self, request: Any) -> Any:
        """Execute a request wrongly."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the store."""
        self._store.close()


class StaleReads(_Wrong):
    """Some reads return the response of the first read of the same item."""

    kinds = (GetItem,)

    def __init__(self, store: EmbeddedStore) -> None:
        super().__init__(store)
        self._before: dict[str, Any] = {}

    def execute(self, request: Request[R]) -> R:
        """Execute a request, and remember the first response for each key."""
        response = super().execute(request)
        if isinstance(request, GetItem):
            self._before.setdefault(str(request.key), response)
        return response

    def wrong(self, request: Any) -> Any:
        """Return the response of the first read."""
        return self._before.get(str(request.key)) or self._store.execute(request)


class LostUpdates(_Wrong):
    """Some transactions are acknowledged, but not executed."""

    kinds = (TransactWriteItems,)

    def wrong(self, request: Any) -> Any:  # noqa: ARG002 - the same signature for all stores
        """Return a successful response without executing the transaction."""
        return TransactWriteResponse(())


class PartialTransactions(_Wrong):
    """Some transactions are executed in two parts, and a read may run in between."""

    kinds = (TransactWriteItems, TransactGetItems)

    def __init__(self, store: EmbeddedStore) -> None:
        super().__init__(store)
        self._left: list[Any] = []

    def execute(self, request: Request[R]) -> R:
        """Execute a request, and then the remaining writes of an earlier transaction."""
        left, self._left = self._left, []
        try:
            return super().execute(request)
        finally:
            for action in left:
                self._store.execute(action)

    def wrong(self, request: Any) -> Any:
        """Execute the first write, and leave the others for later."""
        if isinstance(request, TransactGetItems):
            return self._store.execute(request)
        first, *self._left = request.actions
        return self._store.execute(replace(request, actions=(first,)))


class ReorderedStream(_Wrong):
    """Some pages have their records in reverse order."""

    kinds = (ReadStream,)

    def wrong(self, request: Any) -> Any:
        """Return the page with its records in reverse order."""
        page = self._store.execute(request)
        return StreamPage(page.records[::-1], page.closed)
