"""The worker: writes reminders that are due, and sends them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Final

from msgspec import Struct

from partita import Session
from partita.queue import Create, Queue, QueuePolicy
from partita.recipes.outbox import OutboxMessage, deliver, forward, open_sender
from partita.service import Installation, WorkerContext
from partita_services.todo.model import REMINDERS
from partita_services.todo.reminders import remind_all
from partita_services.todo.settings import reminder_sender

QUEUE: Final = "todo-reminders"
POLICY: Final = QueuePolicy(max_receives=20)
"""A reminder that cannot be sent is tried for some hours, and then becomes a dead letter."""
POLL_SECONDS: Final = 10.0
BY_QUEUE: Final = "queue"
"""The value of the setting if another program reads the queue."""


class Tools(Struct, frozen=True):
    """The resources with which the worker sends. Routes do not use them, and open no queue."""

    installation: Installation
    sender: str | Callable[[OutboxMessage], None] | None
    """The address of a sender, or a sender; None if reminders are not configured."""


@contextmanager
def open_tools(installation: Installation) -> Iterator[Tools]:
    """Open the resources that the operator has configured."""
    yield Tools(installation, reminder_sender())


def run(context: WorkerContext[Tools]) -> None:
    """Send reminders until it is time to stop."""
    sender = context.resources.sender
    if sender is None:
        context.stop.wait()
        return
    send = _sender(sender)
    with closing(context.resources.installation.open_queue(QUEUE, POLICY)) as queue:
        queue.execute(Create())
        while not context.stop.is_set():
            work_once(context.session, queue, send)
            context.stop.wait(POLL_SECONDS)


def work_once(db: Session, queue: Queue, send: Callable[[OutboxMessage], None] | None) -> int:
    """Write reminders that are due, and send them. Return how many were sent, or put in the queue for others."""
    remind_all(db, db.context.clock())
    forwarded = forward(REMINDERS, db, queue)
    return forwarded if send is None else deliver(queue, send)


def _sender(given: str | Callable[[OutboxMessage], None]) -> Callable[[OutboxMessage], None] | None:
    if not isinstance(given, str):
        return given
    return None if given == BY_QUEUE else open_sender(given)
