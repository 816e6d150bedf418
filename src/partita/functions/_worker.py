"""A function that runs a service's worker: on the messages of an event, or, on a schedule, without messages."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from partita.errors import EventRefused
from partita.functions._event_queue import EventQueue
from partita.functions._http import FunctionContext
from partita.queue import Message, Queue, QueuePolicy
from partita.service import Installation, Service, WorkerContext
from partita.session import Session

logger: Final = logging.getLogger("partita.functions")

RESERVED_SECONDS: Final = 5.0
"""How long before the function's timeout a worker stops starting new work."""
_MILLISECONDS: Final = 1000


class _Attributes(Struct, rename="pascal", frozen=True):
    approximate_receive_count: str
    sent_timestamp: str
    message_group_id: str
    sequence_number: str


class _Record(Struct, rename="camel", frozen=True):
    message_id: str
    receipt_handle: str
    body: str
    attributes: _Attributes
    event_source: str = msgspec.field(name="eventSourceARN")

    def message(self) -> Message:
        """Return the message, as a queue returns it.

        Raises:
            ValueError: a number cannot be parsed.
        """
        return Message(
            id=self.message_id,
            receipt=self.receipt_handle,
            body=self.body,
            group=self.attributes.message_group_id,
            sequence=int(self.attributes.sequence_number),
            sent_at=int(self.attributes.sent_timestamp) / _MILLISECONDS,
            receives=int(self.attributes.approximate_receive_count),
        )


class Round(threading.Event):
    """Ends a worker's loop when it has nothing more to do, would wait, or has no time left."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._ends = None if seconds is None else clock() + seconds - RESERVED_SECONDS

    def is_set(self) -> bool:
        """Whether the round is over."""
        return super().is_set() or (self._ends is not None and self._clock() >= self._ends)

    def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002 - it never waits
        """End the round, because a worker waits only if it has nothing to do."""
        self.set()
        return True


class WorkerHandler:
    """Runs the worker of a service on the messages of an event.

    handler = WorkerHandler(SERVICE, session, installation)
    """

    def __init__(
        self,
        service: Service,
        session: Session,
        installation: Installation,
        *,
        name: str = "function",
        queue_name: Callable[[str], str] = str,
        after: Callable[[], object] | None = None,
    ) -> None:
        """Open the resources of the worker.

        Args:
            service: a service with a worker.
            session: the session that the worker uses.
            installation: opens its queues.
            name: unique to this execution environment.
            queue_name: returns the stored name of a queue of the service.
            after: called after each event, even if it failed.

        Raises:
            EventRefused: the service has no worker.
        """
        if service.worker is None:
            raise EventRefused(f"{service.name} has no worker.")
        self._service = service
        self._work = service.worker
        self._after = after
        self._session = session.of_service(service.name)
        self._name = name
        self._installation = installation
        self._policies: Mapping[str, QueuePolicy] = service.queues
        self._names = {f"{queue_name(each)}.fifo": each for each in service.queues}
        self._queues: dict[str, EventQueue] = {}
        self._opened = ExitStack()
        own = replace(installation, open_queue=self._queue)
        self._resources = None if service.resources is None else self._opened.enter_context(service.resources(own))

    def __call__(self, event: Any, context: FunctionContext | None = None) -> dict[str, Any]:
        """Work on the messages of an event, or without messages, and return the messages to deliver again.

        Raises:
            EventRefused: the event is neither from a queue of the service nor from a schedule.
        """
        seconds = None if context is None else context.get_remaining_time_in_millis() / _MILLISECONDS
        current = Round(seconds)
        if not isinstance(event, Mapping):
            raise EventRefused("This is not an event from a queue.")
        if "Records" not in event:
            self._run({}, current)
            return {}
        messages, unreadable = self._read(event["Records"])
        self._run(messages, current)
        failed = [*unreadable, *(each for name in messages for each in self._queues[name].unfinished)]
        return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}

    def close(self) -> None:
        """Close the opened resources."""
        self._opened.close()

    def _run(self, messages: Mapping[str, list[Message]], current: Round) -> None:
        for name in messages:
            self._queue(name, self._policies[name])
        for name, queue in self._queues.items():
            is_source = name in messages or not messages
            queue.begin(messages.get(name, []), current.set if is_source else _go_on)
        try:
            self._work(WorkerContext(self._session, self._resources, self._name, current))
        except Exception:
            if not messages:
                raise
            logger.exception("The worker of %s failed; its unfinished messages come again.", self._service.name)
        finally:
            if self._after is not None:
                self._after()

    def _queue(self, name: str, policy: QueuePolicy) -> Queue:
        if name not in self._queues:
            queue = self._installation.open_queue(name, policy)
            self._opened.callback(queue.close)
            self._queues[name] = EventQueue(queue)
        return self._queues[name]

    def _read(self, records: Any) -> tuple[dict[str, list[Message]], list[str]]:
        """Return the messages of each queue, and the ids of the first unreadable message and all after it."""
        if not isinstance(records, list) or not records:
            raise EventRefused("This event has no messages.")
        messages: dict[str, list[Message]] = {}
        for number, record in enumerate(records):
            try:
                found = msgspec.convert(record, _Record)
                message = found.message()
            except ValueError as error:  # includes msgspec's errors
                return messages, [_message_id(each, error) for each in records[number:]]
            messages.setdefault(self._name_of(found.event_source), []).append(message)
        return messages, []

    def _name_of(self, source: str) -> str:
        name = self._names.get(source.rpartition(":")[2])
        if name is None:
            known = ", ".join(self._names) or "none"
            raise EventRefused(f"{source!r} is not a queue of {self._service.name}; its queues are: {known}.")
        return name


def _go_on() -> None:
    """Do nothing for a queue without messages: the queue with messages decides when the round is over."""


def _message_id(record: Any, error: ValueError) -> str:
    identifier = record.get("messageId") if isinstance(record, Mapping) else None
    if not isinstance(identifier, str):
        raise EventRefused(f"This event is not from a FIFO queue: {error}.") from error
    logger.warning("A message cannot be read: %s.", error)
    return identifier
