"""Concurrent units of work that run a request at a time: to the store, to Strava, to the queue."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

from partita import Operation, Session
from partita.errors import PartitaError
from partita.queue import Send
from partita.runtime import Pause, relay
from partita.store import Request
from partita_services.commitcollect.strava.interface import StravaError, StravaRequest
from partita_services.commitcollect.strava.tokens import ConnectionLost
from partita_services.commitcollect.work import Notify, Tools, TryLater, Work

ENDS = (PartitaError, StravaError, TryLater, ConnectionLost)


def requests_of(work: Work[Any], db: Session) -> Generator[Any, Any, Any]:
    """Yield every request of a unit of work, including those of its operations."""

    def respond(request: Any) -> Generator[Any, Any, Any]:
        return (yield from db._pipeline.run(request)) if isinstance(request, Operation) else (yield request)

    return relay(work, respond)


class Player:
    """A unit of work in progress, and the next request that it will send."""

    def __init__(self, work: Work[Any], db: Session, tools: Tools) -> None:
        self.db = db
        self.tools = tools
        self.result: Any = None
        self.done = False
        self.next: Any = None
        self._requests = requests_of(work, db)
        self._advance(lambda: next(self._requests))

    def move(self) -> None:
        """Execute the next request, and continue to the one after it."""
        try:
            response = self._execute()
        except ENDS as error:
            problem = error
            self._advance(lambda: self._requests.throw(problem))
        else:
            self._advance(lambda: self._requests.send(response))

    def crash(self, *, after: bool = False) -> None:
        """Stop for good before the next request, or after its execution and before its response."""
        if after:
            with suppress(*ENDS):  # nobody receives the error
                self._execute()
        self._requests.close()
        self.result, self.done = "crashed", True

    def finish(self) -> Any:
        """Execute all remaining requests, and return the result."""
        while not self.done:
            self.move()
        return self.result

    def _execute(self) -> Any:
        if isinstance(self.next, Pause):
            return None
        if isinstance(self.next, Notify):
            return self.tools.notices.execute(self.next.send)
        if isinstance(self.next, Send):
            return self.tools.queue.execute(self.next)
        if isinstance(self.next, StravaRequest):
            return self.tools.strava.execute(self.next)
        assert isinstance(self.next, Request)
        return self.db.store.execute(self.next)

    def _advance(self, resume: Callable[[], Any]) -> None:
        try:
            self.next = resume()
        except StopIteration as stop:
            self.result, self.done = stop.value, True
        except ENDS as error:
            self.result, self.done = error, True
