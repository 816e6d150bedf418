"""Stores that break one promise each, now and then."""

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
"""One in so many requests of the kind is treated wrongly."""


class _Wrong:
    """A store that hands most requests on."""

    kinds: tuple[type, ...]

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store
        self._count = 0

    def execute(self, request: Request[R]) -> R:
        """Execute it, as the store does or not."""
        if isinstance(request, self.kinds):
            self._count += 1
            if self._count % EVERY == 0:
                return self.wrong(request)  # type: ignore[no-any-return]
        return self._store.execute(request)

    async def execute_async(self, request: Request[R]) -> R:
        """The same."""
        return self.execute(request)

    def wrong(self, request: Any) -> Any:
        """Treat a request wrongly."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the store."""
        self._store.close()


class StaleReads(_Wrong):
    """Some reads give what was there at an earlier read of the same item."""

    kinds = (GetItem,)

    def __init__(self, store: EmbeddedStore) -> None:
        super().__init__(store)
        self._before: dict[str, Any] = {}

    def execute(self, request: Request[R]) -> R:
        """Remember what is read."""
        response = super().execute(request)
        if isinstance(request, GetItem):
            self._before.setdefault(str(request.key), response)
        return response

    def wrong(self, request: Any) -> Any:
        """What was there at the first read."""
        return self._before.get(str(request.key)) or self._store.execute(request)


class LostUpdates(_Wrong):
    """Some transactions are acknowledged, and not done."""

    kinds = (TransactWriteItems,)

    def wrong(self, request: Any) -> Any:  # noqa: ARG002 - one signature
        """Nothing happens, and all is said to be well."""
        return TransactWriteResponse(())


class PartialTransactions(_Wrong):
    """Some transactions are done in two parts, and a reader may come in between."""

    kinds = (TransactWriteItems, TransactGetItems)

    def __init__(self, store: EmbeddedStore) -> None:
        super().__init__(store)
        self._left: list[Any] = []

    def execute(self, request: Request[R]) -> R:
        """What is left of an earlier transaction comes after the next request."""
        left, self._left = self._left, []
        try:
            return super().execute(request)
        finally:
            for action in left:
                self._store.execute(action)

    def wrong(self, request: Any) -> Any:
        """The first write now, the others later."""
        if isinstance(request, TransactGetItems):
            return self._store.execute(request)
        first, *self._left = request.actions
        return self._store.execute(replace(request, actions=(first,)))


class ReorderedStream(_Wrong):
    """Two records of a page change places."""

    kinds = (ReadStream,)

    def wrong(self, request: Any) -> Any:
        """The last one first."""
        page = self._store.execute(request)
        return StreamPage(page.records[::-1], page.closed)
