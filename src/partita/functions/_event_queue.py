"""A queue whose messages an event brought: a worker receives from it as from any other, without knowing of AWS Lambda.

| a worker's | becomes |
| --- | --- |
| receive | the messages of the event, in order; of a group that has failed, no more |
| acknowledge | the message is not among the failures, so AWS deletes it |
| postpone | it is among them, and comes again after that time |
| send, and all else | asked of the queue itself |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from partita.queue import Acknowledge, Create, Message, Postpone, Queue, QueueRequest, Receive

R = TypeVar("R")


class EventQueue:
    """A queue, with the messages of one event in the place of its own."""

    def __init__(self, queue: Queue) -> None:
        self.name = queue.name
        self._queue = queue
        self._waiting: list[Message] = []
        self._open: dict[str, Message] = {}
        self._on_empty: Callable[[], None] = lambda: None

    def begin(self, messages: Sequence[Message], on_empty: Callable[[], None]) -> None:
        """Take the messages of an event; `on_empty` is called when a worker asks for more than there are."""
        self._waiting = list(messages)
        self._open = {message.receipt: message for message in messages}
        self._on_empty = on_empty

    @property
    def unfinished(self) -> list[str]:
        """The ids of messages that were not acknowledged, in order."""
        return [message.id for message in self._open.values()]

    def execute(self, request: QueueRequest[R]) -> R:
        """Execute a request, with the event's messages where it is about messages."""
        if isinstance(request, _OF_EVENT):
            response: R = self._of_event(request)
            return response
        return self._queue.execute(request)

    async def execute_async(self, request: QueueRequest[R]) -> R:
        """The same, without blocking the event loop where the queue itself is asked."""
        if isinstance(request, _OF_EVENT):
            response: R = self._of_event(request)
            return response
        return await self._queue.execute_async(request)

    def close(self) -> None:
        """Do nothing: the next event needs it again."""

    def _of_event(self, request: Any) -> Any:
        if isinstance(request, Receive):
            return self._receive(request.limit)
        if isinstance(request, Acknowledge):
            return tuple(receipt for receipt in request.receipts if self._open.pop(receipt, None) is None)
        if isinstance(request, Postpone):
            known = tuple(receipt for receipt in request.receipts if receipt in self._open)
            late = self._queue.execute(Postpone(known, request.seconds)) if known else ()
            return (*late, *(receipt for receipt in request.receipts if receipt not in known))
        return None  # Create: what brings messages was deployed

    def _receive(self, limit: int) -> tuple[Message, ...]:
        """As a queue does: while some of a group are with a worker, or have failed, no others of it are handed out."""
        waiting = {message.receipt for message in self._waiting}
        busy = {message.group for message in self._open.values() if message.receipt not in waiting}
        ready = [message for message in self._waiting if message.group not in busy][:limit]
        self._waiting = [message for message in self._waiting if message not in ready]
        if not ready:
            self._on_empty()
        return tuple(ready)


_OF_EVENT = (Acknowledge, Create, Postpone, Receive)
