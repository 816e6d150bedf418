"""Several pieces of work at once, a step at a time: requests to the store, questions to Strava, sends to the queue."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

from partita import Operation, Session
from partita.errors import PartitaError
from partita.queue import Send
from partita.runtime import Pause
from partita.store._requests import Request
from partita_services.commitcollect.strava.interface import Ask, StravaError
from partita_services.commitcollect.strava.tokens import ConnectionLost
from partita_services.commitcollect.work import Tools, TryLater, Work

ENDS = (PartitaError, StravaError, TryLater, ConnectionLost)


def steps_of(work: Work[Any], db: Session) -> Generator[Any, Any, Any]:
    """Every single step of a piece of work, the requests of its operations too."""
    step = next(work)
    while True:
        try:
            answer = (yield from db._pipeline.run(step)) if isinstance(step, Operation) else (yield step)
        except (PartitaError, StravaError) as error:
            advance: Callable[[], Any] = lambda error=error: work.throw(error)  # type: ignore[misc]  # noqa: E731
        else:
            advance = lambda answer=answer: work.send(answer)  # type: ignore[misc]  # noqa: E731
        try:
            step = advance()
        except StopIteration as stop:
            return stop.value


class Player:
    """One piece of work on its way, with the step that it wants to take next."""

    def __init__(self, work: Work[Any], db: Session, tools: Tools) -> None:
        self.db = db
        self.tools = tools
        self.result: Any = None
        self.done = False
        self.next: Any = None
        self._steps = steps_of(work, db)
        self._advance(lambda: next(self._steps))

    def move(self) -> None:
        """Take the step, and go on to the next one."""
        try:
            answer = self._take()
        except ENDS as error:
            problem = error
            self._advance(lambda: self._steps.throw(problem))
        else:
            self._advance(lambda: self._steps.send(answer))

    def crash(self, *, after: bool = False) -> None:
        """Be cut off before the step, or when it was taken and before it was answered."""
        if after:
            with suppress(*ENDS):  # nobody is there to hear of it
                self._take()
        self._steps.close()
        self.result, self.done = "crashed", True

    def finish(self) -> Any:
        """Take all steps that are left."""
        while not self.done:
            self.move()
        return self.result

    def _take(self) -> Any:
        if isinstance(self.next, Pause):
            return None
        if isinstance(self.next, Send):
            return self.tools.queue.execute(self.next)
        if isinstance(self.next, Ask):
            return self.tools.strava.ask(self.next)
        assert isinstance(self.next, Request)
        return self.db.store.execute(self.next)

    def _advance(self, step: Callable[[], Any]) -> None:
        try:
            self.next = step()
        except StopIteration as stop:
            self.result, self.done = stop.value, True
        except ENDS as error:
            self.result, self.done = error, True
