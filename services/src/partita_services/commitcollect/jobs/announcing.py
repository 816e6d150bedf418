"""Announcing awards: a worker moves notices from the table to their queue, and passes them to the sender."""

from __future__ import annotations

from collections.abc import Generator
from datetime import timedelta
from typing import Any, Final

from partita import Operation, Session
from partita.queue import Send
from partita.recipes.outbox import deliver
from partita.runtime import relay
from partita_services.commitcollect.milestones.notices import NOTICES
from partita_services.commitcollect.work import Notify, Tools, Work, WorkRequest, do

EVERY: Final = timedelta(seconds=10)
"""How often an idle worker looks for notices of awards that a request has made."""


def forward_notices() -> Work[int]:
    """Move all waiting notices to their queue, and return how many there were. This can be repeated."""

    def respond(request: Operation[Any] | Send) -> Generator[WorkRequest, Any, Any]:
        return (yield Notify(request) if isinstance(request, Send) else request)

    return (yield from relay(NOTICES.forwarding(), respond))


class Announcer:
    """Announces awards after each job, and at intervals."""

    def __init__(self, db: Session, tools: Tools) -> None:
        self._db = db
        self._tools = tools
        self._due = 0.0

    def announce(self, *, is_due: bool = False) -> int:
        """Forward and send waiting notices, if that is due; return how many were sent."""
        now = self._tools.application.clock()
        if not is_due and now < self._due <= now + EVERY.total_seconds():  # beyond that, the clock was set back
            return 0
        self._due = now + EVERY.total_seconds()
        do(forward_notices(), self._db, self._tools)
        return deliver(self._tools.notices, self._tools.send) if self._tools.send is not None else 0
