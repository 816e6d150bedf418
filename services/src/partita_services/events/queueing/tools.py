"""What the routes and the workers of events have besides the store."""

from __future__ import annotations

from msgspec import Struct

from partita.queue import Queue
from partita.recipes.outbox import Sender
from partita_services.events.changes.notices import drop


class Tools(Struct, frozen=True):
    """The queues, and who sends notices."""

    queue: Queue
    """Requests that wait for their decision."""
    notices: Queue
    """What users are told without asking."""
    send: Sender | None = drop
    """Takes the notices; None where somebody else reads their queue."""
