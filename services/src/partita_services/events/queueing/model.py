"""The record that the queue has requests: one item for all that were accepted together, not a change of each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, ClassVar

from pydantic import Field

from partita import BatchGet, Entity, Key, Put, Rcu, Wcu, batch_get, get, pattern, put
from partita_services.events.model import TABLE


class SentBatch(Entity, table=TABLE):
    """A batch of requests that are all in the queue."""

    in_lake: ClassVar = False
    primary: ClassVar = Key("SENT#{batch_id}", "META")

    batch_id: Annotated[str, Field(alias="batchId")]
    queued_at: Annotated[datetime, Field(alias="queuedAt")]
    """When the queue accepted the last of them."""
    ttl: int


@get(SentBatch, budget=Rcu(0.5))
def sent_batch(batch_id: str) -> None:
    """Whether the queue has all requests of a batch."""


@pattern(budget=Rcu(50))
def sent_batches(batch_ids: Sequence[str]) -> BatchGet[SentBatch]:
    """Which of up to 100 batches the queue has."""
    return batch_get([sent_batch(batch_id) for batch_id in batch_ids])


@pattern(budget=Wcu(1))
def note_sent(batch: SentBatch) -> Put[SentBatch]:
    """Record that the queue has all requests of a batch."""
    return put(batch)
