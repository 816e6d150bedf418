"""Notices: messages about changes that users did not request, for a sender that the operator chooses."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from partita import Put, Session
from partita.queue import Queue, QueuePolicy
from partita.recipes.outbox import OutboxMessage, Sender, deliver, forward, open_sender
from partita_services.events.changes.model import NOTICES, Notice, RequestNews
from partita_services.events.model import Event, Request
from partita_services.events.terms import Reason

QUEUE: Final = "events-notices"
POLICY: Final = QueuePolicy(max_receives=20)
SENDER: Final = "PARTITA_EVENTS_SENDER"
"""The environment variable that names the sender of notices."""
QUEUE_ALONE: Final = "queue"
"""Its value if another program reads the queue of notices."""
PROMOTED: Final = "PROMOTED"


def drop(message: OutboxMessage) -> None:
    """The sender of an installation that sends no notices."""


def sender_of(environment: Mapping[str, str]) -> Sender | None:
    """The sender of notices; None if another program reads their queue.

    Raises:
        OperationError: there is no such sender.
    """
    said = environment.get(SENDER, "")
    if not said:
        return drop
    return None if said == QUEUE_ALONE else open_sender(said)


def promotion_notice(event: Event, request: Request, now: datetime) -> Put[Notice]:
    """A notice that a waiting user has a seat."""
    return _notice(event, request, PROMOTED, "A seat was freed, and the first on the waiting list has it.", now)


def cancellation_notice(event: Event, request: Request, message: str, now: datetime) -> Put[Notice]:
    """A notice that the event for which a user applied was cancelled."""
    return _notice(event, request, Reason.EVENT_CANCELLED, message, now)


def _notice(event: Event, request: Request, news: str, message: str, now: datetime) -> Put[Notice]:
    body = RequestNews(request.user_id, event.event_id, event.name, request.request_id, news, message)
    return NOTICES.message(body, group=request.user_id, now=now.timestamp())


def send_notices(db: Session, queue: Queue, send: Sender | None) -> int:
    """Move notices to their queue, and from there to the sender. Return how many were sent."""
    forward(NOTICES, db, queue)
    return 0 if send is None else deliver(queue, send)
