"""From a stored request to one that waits in the queue.

Requests that arrive while a message is being sent go together into the next one, so a burst needs few messages. Once
the queue has a request, its place is fixed. That it is queued is recorded afterwards, once for the whole batch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from partita import AsyncSession, Procedure
from partita.errors import ItemMissing, PartitaError, TransactionCancelled
from partita.queue import Queue, SentMessage
from partita_services.events.model import Event, Request, event_by_id, mark_queued
from partita_services.events.queueing.batches import Batch
from partita_services.events.queueing.messages import MAX_IN_MESSAGE, sending
from partita_services.events.queueing.model import SentBatch, note_sent
from partita_services.events.terms import instant
from partita_services.events.transitions import queued

MAX_MARKED: Final = 100
MAX_KNOWN: Final = 1_000
KNOWN_SECONDS: Final = 1.0
"""How long another server may accept requests under the old terms of an event. The decision uses the current terms."""
NOTED_SECONDS: Final = 7 * 24 * 3_600
"""How long the record of a sent batch is kept. A request undecided after that is sent again, which is harmless."""
_TICK: Final = timedelta(microseconds=1)


def mark(requests: Sequence[Request], accepted: SentMessage) -> Procedure[None]:
    """Mark requests as accepted by the queue; those that have advanced in the meantime stay as they are."""
    first = instant(accepted.at)
    left = [(request, first + number * _TICK) for number, request in enumerate(requests)]
    while left:
        left = [*(yield from _mark_some(left[:MAX_MARKED])), *left[MAX_MARKED:]]


def _mark_some(marked: Sequence[tuple[Request, datetime]]) -> Procedure[list[tuple[Request, datetime]]]:
    """Mark all requests, or none if some have advanced. Return those that are left to be marked."""
    try:
        yield from mark_queued(*(queued(request, queued_at) for request, queued_at in marked))
    except TransactionCancelled as cancelled:
        if cancelled.cause is None:
            raise
        return [one for one, reason in zip(marked, cancelled.reasons, strict=True) if reason.error is None]
    return []


class QueueSender:
    """Sends the requests of a server to the queue. A sender belongs to one event loop."""

    def __init__(self, db: AsyncSession, queue: Queue) -> None:
        self.queue = queue
        self._db = db
        self._known: dict[str, tuple[float, Event]] = {}
        """Events, and until when each is assumed to be current."""
        self._batch = Batch(self._note)
        self._waiting: dict[str, list[tuple[Request, Batch, asyncio.Future[None]]]] = {}
        """For each event that is being sent, its requests in order, and the futures that their routes wait for."""
        self._tasks: set[asyncio.Task[None]] = set()
        self.unsent = 0
        """How many requests the queue did not accept; they are stored, and the sweeper sends them."""

    async def event(self, event_id: str) -> Event:
        """An event, read up to a second ago, because many users apply at once and its terms change rarely.

        Raises:
            ItemMissing: there is no such event.
        """
        now = self._db.context.clock()
        until, event = self._known.get(event_id, (now, None))
        if event is None or not now < until <= now + KNOWN_SECONDS:
            event = await self._db.run(event_by_id(event_id))
            if event is None:
                raise ItemMissing("There is no such event.")
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[event_id] = now + KNOWN_SECONDS, event
        return event

    def forget(self, event_id: str) -> None:
        """Read an event again on its next use, because it has changed."""
        self._known.pop(event_id, None)

    @property
    def batch(self) -> Batch:
        """The batch that a request joins now: `with sender.batch as batch_id`."""
        return self._batch

    async def hand_over(self, request: Request, batch: Batch) -> None:
        """Send a stored request; return when the queue has it. If the queue refuses it, the sweeper sends it later."""
        finished = asyncio.get_running_loop().create_future()
        waiting = self._waiting.get(request.event_id)
        if waiting is None:
            self._waiting[request.event_id] = [(request, batch, finished)]
            self._keep(asyncio.create_task(self._send_waiting(request.event_id)))
        else:
            waiting.append((request, batch, finished))
        await finished

    async def _send_waiting(self, event_id: str) -> None:
        waiting = self._waiting[event_id]
        while waiting:
            together, waiting[:] = waiting[:MAX_IN_MESSAGE], waiting[MAX_IN_MESSAGE:]
            self._batch.fill()
            self._batch = Batch(self._note)
            await self._send([request for request, _, _ in together], {batch for _, batch, _ in together})
            for _, _, finished in together:
                if not finished.done():
                    finished.set_result(None)
        del self._waiting[event_id]

    async def _send(self, requests: Sequence[Request], batches: set[Batch]) -> None:
        try:
            accepted = await self.queue.execute_async(sending(requests))
        except PartitaError:
            self.unsent += len(requests)
            for batch in batches:
                batch.lose()
        else:
            for batch in batches:
                batch.sent(accepted.at)

    def _note(self, batch: Batch) -> None:
        self._keep(asyncio.create_task(self._write_note(batch.batch_id, batch.queued_at or 0.0)))

    async def _write_note(self, batch_id: str, at: float) -> None:
        expires = int(self._db.context.clock()) + NOTED_SECONDS
        with suppress(PartitaError):  # if it fails, the sweeper sends them again, and workers skip decided ones
            await self._db.run(note_sent(SentBatch(batch_id=batch_id, queued_at=instant(at), ttl=expires)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
