"""The worker: decides the requests that the queue delivers, and sweeps from time to time."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from msgspec import Struct

from partita import Session
from partita.errors import ItemMissing, PartitaError, PoisonMessage
from partita.queue import Acknowledge, Message, Postpone, Queue, Receive
from partita.runtime import OutageLog
from partita.service import WorkerContext
from partita_services.events.changes.notices import send_notices
from partita_services.events.model import Event, event_by_id
from partita_services.events.queueing.decisions import decide
from partita_services.events.queueing.failures import TRANSIENT, delay, give_up
from partita_services.events.queueing.messages import POLICY, arrivals_in
from partita_services.events.queueing.sweeper import Sweeper
from partita_services.events.queueing.tools import Tools
from partita_services.events.terms import Reason, instant
from partita_services.events.transitions import Arrival, Attempt

logger: Final = logging.getLogger("partita.events")

MESSAGES: Final = 10
"""How many messages are received at once; each may contain many requests."""
WAIT_SECONDS: Final = 1.0
VISIBILITY_SECONDS: Final = 15.0
"""How long an event waits if its worker dies. A worker that takes longer is overtaken, and finds its work done."""
MAX_PAUSE_SECONDS: Final = 60.0
NOTICES_SECONDS: Final = 5.0
"""How often a worker looks for notices to be sent."""


def work(context: WorkerContext[Tools]) -> None:
    """Decide requests until it is time to stop; messages that were received are finished first."""
    tools = context.resources
    worker = Worker(context.session, tools.queue, context.name)
    sweeper = Sweeper(context.session, tools.queue, context.name)
    notices_due, outages = 0.0, OutageLog(logger)
    while not context.stop.is_set():
        try:
            worker.serve(wait=WAIT_SECONDS)
            sweeper.sweep_if_due()
            if not 0 < notices_due - context.session.context.clock() <= NOTICES_SECONDS:
                send_notices(context.session, tools.notices, tools.send)
                notices_due = context.session.context.clock() + NOTICES_SECONDS
        except TRANSIENT as error:
            outages.report(error.code, "The worker of events", error)
            context.stop.wait(WAIT_SECONDS)


class Delivery(Struct, frozen=True):
    """A message, and its decoded content."""

    message: Message
    event_id: str
    arrivals: Sequence[Arrival]


class Worker:
    """Decides the requests that the queue delivers."""

    def __init__(self, session: Session, queue: Queue, name: str) -> None:
        self._session = session
        self._queue = queue
        self._name = name
        self._known: dict[str, Event] = {}

    def serve(self, *, wait: float = 0.0) -> int:
        """Receive messages once and decide their requests. Return how many messages there were."""
        messages = self._queue.execute(Receive(MESSAGES, wait, VISIBILITY_SECONDS))
        groups: dict[str, list[Message]] = {}
        for message in messages:  # those of a group need not be next to each other
            groups.setdefault(message.group, []).append(message)
        for group in groups.values():
            self._serve_group(self._readable(group))
        return len(messages)

    def _readable(self, messages: Iterable[Message]) -> list[Delivery]:
        deliveries = []
        for message in messages:
            try:
                deliveries.append(Delivery(message, *arrivals_in(message)))
            except PoisonMessage as poison:
                # It is delivered again until it is a dead letter, which can be redriven to code that can read it.
                logger.warning("%s", poison)
                self._queue.execute(Postpone((message.receipt,), 0))
        return deliveries

    def _serve_group(self, deliveries: Sequence[Delivery]) -> None:
        if not deliveries:
            return
        arrivals = [arrival for delivery in deliveries for arrival in delivery.arrivals]
        try:
            self._decide(deliveries[0].event_id, arrivals)
        except TRANSIENT as trouble:
            self._put_off(deliveries, trouble)
        except PartitaError:
            for delivery in deliveries:
                self._serve_one_by_one(delivery)
        else:
            self._queue.execute(Acknowledge(tuple(delivery.message.receipt for delivery in deliveries)))

    def _decide(self, event_id: str, arrivals: Sequence[Arrival]) -> None:
        began = self._now()
        self._session.run(decide(self._event(event_id), arrivals, lambda: Attempt(self._name, began, self._now())))

    def _now(self) -> datetime:
        return instant(self._session.context.clock())

    def _event(self, event_id: str) -> Event:
        known = self._known.get(event_id) or self._session.run(event_by_id(event_id).consistent())
        if known is None:
            raise ItemMissing(f"There is no event {event_id}.")
        self._known[event_id] = known
        return known

    def _put_off(self, deliveries: Sequence[Delivery], trouble: PartitaError) -> None:
        """Postpone the whole group after a temporary error, longer each time."""
        receives = min(delivery.message.receives for delivery in deliveries)
        pause = pause_after(receives)
        self._queue.execute(Postpone(tuple(delivery.message.receipt for delivery in deliveries), pause))
        logger.warning("Requests for %s wait %g seconds: %s", deliveries[0].event_id, pause, trouble)
        with suppress(PartitaError):  # they wait even if the reason cannot be recorded
            for arrival in (arrival for delivery in deliveries for arrival in delivery.arrivals):
                self._delay(deliveries[0].event_id, arrival, trouble)

    def _serve_one_by_one(self, delivery: Delivery) -> None:
        """Decide each request separately, so that one that cannot be decided does not affect the others."""
        message = delivery.message
        are_done = [self._decide_one(delivery, arrival) for arrival in delivery.arrivals]
        if all(are_done):
            self._queue.execute(Acknowledge((message.receipt,)))
        else:
            self._queue.execute(Postpone((message.receipt,), pause_after(message.receives)))

    def _decide_one(self, delivery: Delivery, arrival: Arrival) -> bool:
        """Decide one request. Return whether it is done; if it is not, its message must be delivered again."""
        try:
            self._decide(delivery.event_id, [arrival])
        except TRANSIENT:
            raise
        except ItemMissing as missing:
            self._give_up(delivery.event_id, arrival, Reason.EVENT_MISSING, missing)
        except PartitaError as error:
            return self._delay_or_give_up(delivery, arrival, error)
        return True

    def _delay_or_give_up(self, delivery: Delivery, arrival: Arrival, error: PartitaError) -> bool:
        """Record why a request waits for the next delivery; after the last one, end it. Return whether it has ended."""
        logger.warning("The request %s cannot be decided: %s", arrival.request_id, error)
        try:
            if delivery.message.receives < POLICY.max_receives:
                self._delay(delivery.event_id, arrival, error)
                return False
            self._give_up(delivery.event_id, arrival, Reason.RETRIES_EXHAUSTED, error)
        except PartitaError:
            return False  # in the end the message becomes a dead letter, for people to inspect
        return True

    def _delay(self, event_id: str, arrival: Arrival, error: PartitaError) -> None:
        self._session.run(delay(self._event(event_id), arrival, error.code, error.message))

    def _give_up(self, event_id: str, arrival: Arrival, reason: Reason, error: PartitaError) -> None:
        attempt = Attempt(self._name, self._now(), self._now())
        self._session.run(give_up(event_id, arrival, reason, error.message, attempt, self._known.get(event_id)))


def pause_after(receives: int) -> float:
    """How many seconds a message waits after so many deliveries: twice as long each time."""
    return min(2.0 ** (receives - 1), MAX_PAUSE_SECONDS)
