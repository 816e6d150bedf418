"""A store in which others write whenever a consumer asks for something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from partita.store import DescribeStream, ReadStream, Request, Store

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


class LateStore(MeddlingStore):
    """A store whose stream lags, and does not say how far it reaches, as DynamoDB's."""

    delivered = 0

    def execute(self, request: Request[R]) -> R:
        """Answer the request, without the records that are still on their way."""
        response: Any = super().execute(request)
        if isinstance(request, DescribeStream):
            return replace(response, shards=tuple(replace(shard, newest=None) for shard in response.shards))  # type: ignore[no-any-return]
        if isinstance(request, ReadStream):
            return replace(response, records=[r for r in response.records if r.sequence <= self.delivered])  # type: ignore[no-any-return]
        return response  # type: ignore[no-any-return]

    def deliver(self, seconds: float) -> None:  # noqa: ARG002 - however long that takes
        """Bring all records that there are."""
        (shard,) = self._store.execute(DescribeStream("things")).shards
        self.delivered = shard.newest or 0
