"""A function that lets a service's worker work: on the messages of an event, or, on a schedule, without any."""

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
"""So long before the end of its time a worker begins nothing new."""
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
        """The message, as a queue hands it out.

        Raises:
            ValueError: a number is not one.
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
    """Ends a worker's loop: where it has nothing more to do, would wait, or has no time left."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._ends = None if seconds is None else clock() + seconds - RESERVED_SECONDS

    def is_set(self) -> bool:
        """Whether the round is over."""
        return super().is_set() or (self._ends is not None and self._clock() >= self._ends)

    def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002 - it never waits
        """End the round: whoever waits has nothing to do."""
        self.set()
        return True


class WorkerHandler:
    """Lets the worker of a service work on what an event brings.

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
        """Open what the worker needs.

        Args:
            service: one that has a worker.
            session: what it runs with.
            installation: opens its queues.
            name: unique to this environment of the function.
            queue_name: what a queue of the service is called where it is.
            after: called when an event was worked on, or failed.

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
        """Work on the messages of an event, or without any; gives the messages that are to come again.

        Raises:
            EventRefused: it is not an event of a queue of the service, and not of a schedule either.
        """
        seconds = None if context is None else context.get_remaining_time_in_millis() / _MILLISECONDS
        current = Round(seconds)
        if not isinstance(event, Mapping):
            raise EventRefused("This is not an event of a queue.")
        if "Records" not in event:
            self._run({}, current)
            return {}
        messages, unreadable = self._read(event["Records"])
        self._run(messages, current)
        failed = [*unreadable, *(each for name in messages for each in self._queues[name].unfinished)]
        return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}

    def close(self) -> None:
        """Close what was opened."""
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
            logger.exception("The worker of %s failed; what it has not finished comes again.", self._service.name)
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
        """The messages of each queue, and the ids of those that cannot be read and of what is behind them."""
        if not isinstance(records, list) or not records:
            raise EventRefused("This event has no messages.")
        messages: dict[str, list[Message]] = {}
        for number, record in enumerate(records):
            try:
                found = msgspec.convert(record, _Record)
                message = found.message()
            except ValueError as error:  # msgspec's are, too
                return messages, [_message_id(each, error) for each in records[number:]]
            messages.setdefault(self._name_of(found.event_source), []).append(message)
        return messages, []

    def _name_of(self, source: str) -> str:
        name = self._names.get(source.rpartition(":")[2])
        if name is None:
            known = ", ".join(self._names) or "none"
            raise EventRefused(f"{source!r} is not a queue of {self._service.name}, which has: {known}.")
        return name


def _go_on() -> None:
    """A queue that brought nothing is empty: the one that did decides when the round is over."""


def _message_id(record: Any, error: ValueError) -> str:
    identifier = record.get("messageId") if isinstance(record, Mapping) else None
    if not isinstance(identifier, str):
        raise EventRefused(f"This event is not of a FIFO queue: {error}.") from error
    logger.warning("A message cannot be read: %s.", error)
    return identifier
