"""The resources that the routes and the workers of events have in addition to the store."""

from __future__ import annotations

from msgspec import Struct

from partita.queue import Queue
from partita.recipes.outbox import Sender
from partita_services.events.changes.notices import drop


class Tools(Struct, frozen=True):
    """The queues, and the sender of notices."""

    queue: Queue
    """Requests that wait for their decision."""
    notices: Queue
    """Notices of changes that users did not request."""
    send: Sender | None = drop
    """Sends the notices; None if another program reads their queue."""
