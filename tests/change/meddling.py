"""A store to which others write whenever a consumer sends a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from partita.store import DescribeStream, ReadStream, Request, Store

R = TypeVar("R")


class MeddlingStore:
    """Another store; `meddle` is called before and after each request."""

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
    """A store whose stream lags, and does not report its newest sequence number, like DynamoDB's."""

    delivered = 0

    def execute(self, request: Request[R]) -> R:
        """Execute the request, but omit records that are not delivered yet."""
        response: Any = super().execute(request)
        if isinstance(request, DescribeStream):
            return replace(response, shards=tuple(replace(shard, newest=None) for shard in response.shards))  # type: ignore[no-any-return]
        if isinstance(request, ReadStream):
            return replace(response, records=[r for r in response.records if r.sequence <= self.delivered])  # type: ignore[no-any-return]
        return response  # type: ignore[no-any-return]

    def deliver(self, seconds: float) -> None:  # noqa: ARG002 - the time does not matter
        """Deliver all existing records."""
        (shard,) = self._store.execute(DescribeStream("things")).shards
        self.delivered = shard.newest or 0
