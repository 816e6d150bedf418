"""Retries: exponential backoff with a cap and full jitter.

Each layer retries the failures that only it can judge. The first three wait according to a `RetryPolicy`. The others
start again immediately, because another writer was first and is done. Layers nest: one try of a session on a remote
store is up to three calls.

| layer | what is retried | tries |
| --- | --- | --- |
| `partita._aws` | a call: not sent, throttled, in a transaction conflict, or repeatable and without a response | 3 |
| a session | a request: the store throttles, a transaction holds an item, or a read got no response | `retry`: 8 |
| `batch_get`, `batch_write` | the items that the store left unprocessed | `retry`: 8 |
| `update` | reading and writing an item, if an index key cannot be computed without reading | 5 |
| `upsert` | an upsert that meets an expired item, or one that lacks an index key | 5 |
| `VersionedTable.change` | reading, changing and writing an item | 2 |
| `backfill_page` | rewriting one old item | 3 |
| `retry_on_conflict` | a procedure of yours, from its start | `tries`: 20 |
"""

from __future__ import annotations

from random import Random

from msgspec import Struct

from partita.runtime._relay import Pause


class RetryPolicy(Struct, frozen=True):
    """The number of tries, and the pauses in between."""

    tries: int = 8
    base_seconds: float = 0.025
    cap_seconds: float = 5.0

    def pause_before(self, attempt: int, random: Random) -> Pause:
        """The pause before try number `attempt`, counting the first as 0."""
        return Pause(random.uniform(0, min(self.cap_seconds, self.base_seconds * 2**attempt)))
