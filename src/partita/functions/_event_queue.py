"""A queue whose messages come from an event: a worker receives from it as from any other queue, unaware of AWS Lambda.

| request of a worker | effect |
| --- | --- |
| receive | returns the messages of the event, in order; no more of a group that has failed |
| acknowledge | the message is not among the failures, so AWS deletes it |
| postpone | the message is among the failures, and is delivered again after that time |
| send, and all others | sent to the queue itself |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from partita.queue import Acknowledge, Create, Message, Postpone, Queue, QueueRequest, Receive

R = TypeVar("R")


class EventQueue:
    """A queue, with the messages of one event instead of its own."""

    def __init__(self, queue: Queue) -> None:
        self.name = queue.name
        self._queue = queue
        self._waiting: list[Message] = []
        self._open: dict[str, Message] = {}
        self._on_empty: Callable[[], None] = lambda: None

    def begin(self, messages: Sequence[Message], on_empty: Callable[[], None]) -> None:
        """Set the messages of an event; `on_empty` is called when a worker requests more than there are."""
        self._waiting = list(messages)
        self._open = {message.receipt: message for message in messages}
        self._on_empty = on_empty

    @property
    def unfinished(self) -> list[str]:
        """The ids of the messages that were not acknowledged, in order."""
        return [message.id for message in self._open.values()]

    def execute(self, request: QueueRequest[R]) -> R:
        """Execute a request: on the event's messages if it is about messages, otherwise on the queue itself."""
        if isinstance(request, _OF_EVENT):
            response: R = self._of_event(request)
            return response
        return self._queue.execute(request)

    async def execute_async(self, request: QueueRequest[R]) -> R:
        """The same, without blocking the event loop if the queue itself executes the request."""
        if isinstance(request, _OF_EVENT):
            response: R = self._of_event(request)
            return response
        return await self._queue.execute_async(request)

    def close(self) -> None:
        """Do nothing: the next event needs the queue again."""

    def _of_event(self, request: Any) -> Any:
        if isinstance(request, Receive):
            return self._receive(request.limit)
        if isinstance(request, Acknowledge):
            return tuple(receipt for receipt in request.receipts if self._open.pop(receipt, None) is None)
        if isinstance(request, Postpone):
            known = tuple(receipt for receipt in request.receipts if receipt in self._open)
            late = self._queue.execute(Postpone(known, request.seconds)) if known else ()
            return (*late, *(receipt for receipt in request.receipts if receipt not in known))
        return None  # Create: the queue that brings messages was already deployed

    def _receive(self, limit: int) -> tuple[Message, ...]:
        """Receive as from a queue: no messages of a group while others of it are in flight or have failed."""
        waiting = {message.receipt for message in self._waiting}
        busy = {message.group for message in self._open.values() if message.receipt not in waiting}
        ready = [message for message in self._waiting if message.group not in busy][:limit]
        self._waiting = [message for message in self._waiting if message not in ready]
        if not ready:
            self._on_empty()
        return tuple(ready)


_OF_EVENT = (Acknowledge, Create, Postpone, Receive)
