"""How long to wait before the next try: exponential, capped, with full jitter."""

from __future__ import annotations

from partita.operations._operation import Context, Pause

BASE_SECONDS = 0.025
CAP_SECONDS = 5.0


def pause_before(attempt: int, context: Context) -> Pause:
    """The pause before try number `attempt`, counting the first try as 0."""
    return Pause(context.random.uniform(0, min(CAP_SECONDS, BASE_SECONDS * 2**attempt)))
