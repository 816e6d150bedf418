"""Notices: what users are told without asking, for a sender of the operator's choosing."""

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
"""The environment variable that says who sends notices."""
QUEUE_ALONE: Final = "queue"
"""Its value where somebody else reads the queue of notices."""
PROMOTED: Final = "PROMOTED"


def drop(message: OutboxMessage) -> None:
    """The sender of an installation that tells nobody."""


def sender_of(environment: Mapping[str, str]) -> Sender | None:
    """Who sends notices; None where somebody else reads their queue.

    Raises:
        OperationError: there is no such sender.
    """
    said = environment.get(SENDER, "")
    if not said:
        return drop
    return None if said == QUEUE_ALONE else open_sender(said)


def promotion_notice(event: Event, request: Request, now: datetime) -> Put[Notice]:
    """A user who waited has a seat."""
    return _notice(event, request, PROMOTED, "A seat was freed, and the first on the waiting list has it.", now)


def cancellation_notice(event: Event, request: Request, message: str, now: datetime) -> Put[Notice]:
    """The event that a user applied for was cancelled."""
    return _notice(event, request, Reason.EVENT_CANCELLED, message, now)


def _notice(event: Event, request: Request, news: str, message: str, now: datetime) -> Put[Notice]:
    body = RequestNews(request.user_id, event.event_id, event.name, request.request_id, news, message)
    return NOTICES.message(body, group=request.user_id, now=now.timestamp())


def send_notices(db: Session, queue: Queue, send: Sender | None) -> int:
    """Move notices to their queue, and from there to the sender; how many were sent."""
    forward(NOTICES, db, queue)
    return 0 if send is None else deliver(queue, send)
