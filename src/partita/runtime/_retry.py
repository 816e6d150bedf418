"""When to try again: exponential pauses, capped, with full jitter.

Three layers retry, each around the one above it in this table:

| who | what |
| --- | --- |
| `partita._aws` | one call: throttled, a conflict, no connection; after a lost response only what is safe to repeat |
| `partita.session` | one request: throttled, a conflict; after a lost response only what is safe to repeat |
| `partita.operations` | what the store left unprocessed of a batch |

Business code that loses a race against another writer runs again with `retry_on_conflict`.
"""

from __future__ import annotations

from random import Random

from msgspec import Struct

from partita.runtime._relay import Pause


class RetryPolicy(Struct, frozen=True):
    """How often one thing is tried, and how long to wait in between."""

    tries: int = 8
    base_seconds: float = 0.025
    cap_seconds: float = 5.0

    def pause_before(self, attempt: int, random: Random) -> Pause:
        """The pause before try number `attempt`, counting the first as 0."""
        return Pause(random.uniform(0, min(self.cap_seconds, self.base_seconds * 2**attempt)))
