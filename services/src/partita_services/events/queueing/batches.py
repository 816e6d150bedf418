"""Batches: requests that are accepted at about the same time, with one item that records that the queue has them.

    joined ── stored ── sent to the queue ── left
      │  a message is sent: a request that joins from now on is in the next batch
      └─ all have left, and the queue has each: one item records it

A request names its batch from the start. As long as its status is `RECEIVED`, the item of its batch shows whether it is
queued. If the queue has not accepted one of them, or that is unknown, there is no item, and the sweeper sends them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from partita import Procedure, new_ulid
from partita.errors import RequestError
from partita.runtime import chunks
from partita_services.events.model import Request
from partita_services.events.queueing.model import sent_batches
from partita_services.events.terms import Status

MAX_BATCHES: Final = 100
"""The maximum number of batches that are read at once."""


class Batch:
    """The requests of a batch that are on their way, each within `with batch:`. A batch belongs to one event loop."""

    __slots__ = ("_is_full", "_is_whole", "_joined", "_on_sent", "batch_id", "queued_at")

    def __init__(self, on_sent: Callable[[Batch], None]) -> None:
        """`on_sent` is called once, when the queue has all requests of the batch."""
        self.batch_id = new_ulid()
        self.queued_at: float | None = None
        """When the queue accepted the latest request so far, in seconds."""
        self._on_sent = on_sent
        self._joined = 0
        self._is_full = False
        self._is_whole = True

    def fill(self) -> None:
        """Record that no more requests join."""
        self._is_full = True

    def sent(self, at: float) -> None:
        """Record that the queue has one of the requests."""
        self.queued_at = at

    def lose(self) -> None:
        """Record that the queue does not have one of the requests."""
        self._is_whole = False

    def __enter__(self) -> str:
        self._joined += 1
        return self.batch_id

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # A request that the store refused is not stored. After any other error, it may be stored but not sent.
        if kind is not None and not issubclass(kind, RequestError):
            self._is_whole = False
        self._joined -= 1
        if self._is_full and self._is_whole and not self._joined and self.queued_at is not None:
            self._on_sent(self)


def as_queued(requests: Sequence[Request]) -> Procedure[list[Request]]:
    """Return the requests; those whose batch is in the queue have the status `QUEUED`."""
    unsure = [each.batch for each in requests if each.status is Status.RECEIVED and each.batch is not None]
    if not unsure:
        return list(requests)
    known: dict[str | None, datetime] = {}
    for some in chunks(list(dict.fromkeys(unsure)), MAX_BATCHES):
        found = yield from sent_batches(some)
        known |= {batch.batch_id: batch.queued_at for batch in found if batch is not None}
    return [_queued(each, known.get(each.batch)) for each in requests]


def _queued(request: Request, queued_at: datetime | None) -> Request:
    if queued_at is None or request.status is not Status.RECEIVED:
        return request
    return request.model_copy(update={"status": Status.QUEUED, "queued_at": queued_at})
