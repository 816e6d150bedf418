"""Batches: requests that are accepted at about the same time, of which one item says that the queue has them.

    joined ── stored ── sent to the queue ── left
      │  a message goes: who joins from now on is in the next batch
      └─ all have left, and the queue has each: one item says so

A request names its batch from the first. As long as it says `RECEIVED`, the item of its batch says whether it is
queued. Where the queue has not taken one of them, or nobody knows, there is no item: then the sweeper sends them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from partita import Procedure, new_ulid
from partita.errors import RequestError
from partita.operations import chunks
from partita_services.events.model import Request
from partita_services.events.queueing.model import sent_batches
from partita_services.events.terms import Status

MAX_BATCHES: Final = 100
"""As many are read at once."""


class Batch:
    """The requests that are in a batch and on their way, each within `with batch:`. It belongs to one event loop."""

    __slots__ = ("_is_full", "_is_whole", "_joined", "_on_sent", "batch_id", "queued_at")

    def __init__(self, on_sent: Callable[[Batch], None]) -> None:
        """`on_sent` is called once, when the queue has all of them."""
        self.batch_id = new_ulid()
        self.queued_at: float | None = None
        """When the queue accepted the last one so far, in seconds."""
        self._on_sent = on_sent
        self._joined = 0
        self._is_full = False
        self._is_whole = True

    def fill(self) -> None:
        """Nobody joins any more."""
        self._is_full = True

    def sent(self, at: float) -> None:
        """The queue has one of them."""
        self.queued_at = at

    def lose(self) -> None:
        """The queue does not have one of them."""
        self._is_whole = False

    def __enter__(self) -> str:
        self._joined += 1
        return self.batch_id

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # What the store refused is not stored. After any other error nobody knows what is stored and not sent.
        if kind is not None and not issubclass(kind, RequestError):
            self._is_whole = False
        self._joined -= 1
        if self._is_full and self._is_whole and not self._joined and self.queued_at is not None:
            self._on_sent(self)


def as_queued(requests: Sequence[Request]) -> Procedure[list[Request]]:
    """The same requests; those say that they are queued of which their batch says it."""
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
