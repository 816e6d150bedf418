"""Sends of many tasks at once, ten to a call: SQS takes 300 calls a second for one group, but 3,000 messages.

a few calls are on their way; whoever sends meanwhile waits in line
a call returns ── the first ten of the line go out together
"""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from partita.errors import PartitaError
from partita.queue._interface import MAX_BODY_BYTES, Accepted, Send
from partita.queue.sqs._messages import BATCH

CALLS: Final = 8
"""So many are on their way at once; with fewer, a lone sender would wait for others, with more, calls are not full."""

SendMany: TypeAlias = Callable[[Sequence[Send]], Awaitable[Sequence[Accepted | PartitaError]]]
Waiting: TypeAlias = tuple[Send, "Future[Accepted]"]


class _Line:
    """The sends of one event loop that wait, and the calls that are on their way."""

    def __init__(self) -> None:
        self.waiting: deque[Waiting] = deque()
        self.calls: set[asyncio.Task[None]] = set()


class Together:
    """Lets the tasks of an event loop share calls."""

    def __init__(self, send_many: SendMany) -> None:
        self._send_many = send_many
        self._lines: WeakKeyDictionary[AbstractEventLoop, _Line] = WeakKeyDictionary()

    async def send(self, request: Send) -> Accepted:
        """Send a message, with those of other tasks that wait.

        Raises:
            PartitaError: it was refused, or SQS is in trouble.
        """
        loop = asyncio.get_running_loop()
        line = self._lines.setdefault(loop, _Line())
        accepted: Future[Accepted] = loop.create_future()
        line.waiting.append((request, accepted))
        loop.call_soon(self._send_off, line)  # not at once: others of this turn may come along
        return await accepted

    def _send_off(self, line: _Line) -> None:
        if line.waiting and len(line.calls) < CALLS:
            call = asyncio.ensure_future(self._call(_batch(line.waiting)))
            line.calls.add(call)
            call.add_done_callback(line.calls.discard)
            call.add_done_callback(lambda _: self._send_off(line))

    async def _call(self, batch: list[Waiting]) -> None:
        answers: Sequence[Accepted | Exception]
        try:
            answers = await self._send_many([request for request, _ in batch])
        except Exception as error:  # noqa: BLE001 - it is the answer of each
            answers = [error] * len(batch)
        for (_, accepted), answer in zip(batch, answers, strict=True):
            if accepted.done():  # its task was cancelled
                continue
            if isinstance(answer, Accepted):
                accepted.set_result(answer)
            else:
                accepted.set_exception(answer)


def _batch(waiting: deque[Waiting]) -> list[Waiting]:
    """The first in line that fit into one call."""
    batch = [waiting.popleft()]
    size = len(batch[0][0].body.encode())
    while waiting and len(batch) < BATCH:
        size += len(waiting[0][0].body.encode())
        if size > MAX_BODY_BYTES:
            break
        batch.append(waiting.popleft())
    return batch
