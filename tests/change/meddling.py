"""A store in which others write whenever a consumer asks for something."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from partita.store import Request, Store

R = TypeVar("R")


class MeddlingStore:
    """Another store; before and after each request, `meddle` has its turn."""

    def __init__(self, store: Store, meddle: Callable[[], object]) -> None:
        self._store = store
        self._meddle = meddle

    def execute(self, request: Request[R]) -> R:
        self._meddle()
        response = self._store.execute(request)
        self._meddle()
        return response

    async def execute_async(self, request: Request[R]) -> R:
        return self.execute(request)

    def close(self) -> None:
        self._store.close()
