"""Batches sends: SQS accepts 300 calls per second for one group, but 3,000 messages, so ten messages share a call.

Up to `MAX_CALLS` calls are in flight, and further sends wait. When a call returns, the first ten waiting sends go out.
"""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from partita.errors import PartitaError
from partita.queue._interface import MAX_BODY_BYTES, Send, SentMessage
from partita.queue.sqs._messages import BATCH

MAX_CALLS: Final = 8
"""With fewer, a single sender would wait for others; with more, calls are not full."""

SendMany: TypeAlias = Callable[[Sequence[Send]], Awaitable[Sequence[SentMessage | PartitaError]]]
PendingSend: TypeAlias = tuple[Send, "Future[SentMessage]"]


class _LoopState:
    """The waiting sends of one event loop, and its calls in flight."""

    def __init__(self) -> None:
        self.pending: deque[PendingSend] = deque()
        self.calls: set[asyncio.Task[None]] = set()


class SendBatcher:
    """Combines the sends of an event loop's tasks into shared calls."""

    def __init__(self, send_many: SendMany) -> None:
        self._send_many = send_many
        self._states: WeakKeyDictionary[AbstractEventLoop, _LoopState] = WeakKeyDictionary()

    async def send(self, request: Send) -> SentMessage:
        """Send a message, together with those of other waiting tasks.

        Raises:
            PartitaError: the message was refused, or SQS failed.
        """
        loop = asyncio.get_running_loop()
        state = self._states.setdefault(loop, _LoopState())
        accepted: Future[SentMessage] = loop.create_future()
        state.pending.append((request, accepted))
        loop.call_soon(self._start_call, state)  # deferred, so that other sends of this loop iteration may join
        return await accepted

    def _start_call(self, state: _LoopState) -> None:
        if len(state.calls) < MAX_CALLS and (batch := _next_batch(state.pending)):
            call = asyncio.ensure_future(self._call(batch))
            state.calls.add(call)
            call.add_done_callback(state.calls.discard)
            call.add_done_callback(lambda _: self._start_call(state))

    async def _call(self, batch: list[PendingSend]) -> None:
        results: Sequence[SentMessage | Exception]
        try:
            results = await self._send_many([request for request, _ in batch])
        except Exception as error:  # noqa: BLE001 - each waiting send raises it
            results = [error] * len(batch)
        for (_, accepted), result in zip(batch, results, strict=True):
            if accepted.done():  # the task was cancelled
                continue
            if isinstance(result, SentMessage):
                accepted.set_result(result)
            else:
                accepted.set_exception(result)


def _next_batch(pending: deque[PendingSend]) -> list[PendingSend]:
    """Take the first waiting sends that fit into one call, without those of cancelled tasks."""
    batch: list[PendingSend] = []
    size = 0
    while pending and len(batch) < BATCH:
        request, accepted = pending[0]
        if not accepted.done():
            size += len(request.body.encode())
            if batch and size > MAX_BODY_BYTES:
                break
            batch.append(pending[0])
        pending.popleft()
    return batch
