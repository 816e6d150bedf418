"""Run procedures on one store in every possible order, with crashes at every request.

A procedure is a generator, so its requests can be sent one at a time: before each request, `play` chooses the procedure
that sends it, and `every_schedule` repeats a play until it has made every possible choice.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from random import Random
from typing import Any, Final, TypeAlias

from partita import EmbeddedStore, Operation, Procedure, Session, Table
from partita.errors import PartitaError
from partita.runtime import Pause
from partita.store import Request, Store
from partita.testing import FakeClock

Choose: TypeAlias = Callable[[int], int]
"""Returns the index of one of this number of options."""

CRASHED: Final = "crashed"
"""The result of a procedure that crashed."""


class _Player:
    """A running procedure, and the request that it will send next."""

    def __init__(self, requests: Generator[Any, Any, Any]) -> None:
        self.requests = requests
        self.result: Any = None
        self.done = False
        self.next: Any = None
        self._advance(lambda: next(requests))

    def move(self, db: Session) -> None:
        """Send the request, and run the procedure until its next one."""
        try:
            response = None if isinstance(self.next, Pause) else db.store.execute(self.next)
        except PartitaError as error:
            problem = error
            self._advance(lambda: self.requests.throw(problem))
        else:
            self._advance(lambda: self.requests.send(response))

    def crash(self) -> None:
        """Crash before the next request is sent."""
        self.requests.close()
        self.result, self.done = CRASHED, True

    def crash_after(self, db: Session) -> None:
        """Crash after the request was sent and before its response arrived."""
        try:
            if not isinstance(self.next, Pause):
                db.store.execute(self.next)
        except PartitaError:
            pass  # the crashed procedure does not see the error
        self.crash()

    def _advance(self, resume: Callable[[], Any]) -> None:
        try:
            self.next = resume()
        except StopIteration as stop:
            self.result, self.done = stop.value, True
        except PartitaError as error:
            self.result, self.done = error, True


def play(
    db: Session, works: Sequence[Operation[Any] | Procedure[Any]], choose: Choose, *, crashes: int = 0
) -> list[Any]:
    """Run the procedures in the chosen order; return their results, errors and crashes in the order of `works`.

    At most `crashes` of them crash, each before or after any of its requests.
    """
    players = [_Player(db._pipeline.run(work)) for work in works]
    while waiting := [player for player in players if not player.done]:
        options: list[Callable[[], None]] = [lambda player=player: player.move(db) for player in waiting]  # type: ignore[misc]
        if crashes:
            options += [player.crash for player in waiting]
            options += [lambda player=player: player.crash_after(db) for player in waiting]  # type: ignore[misc]
        chosen = choose(len(options)) if len(options) > 1 else 0
        crashes -= chosen >= len(waiting)
        options[chosen]()
    return [player.result for player in players]


def overtaken(
    db: Session,
    work: Operation[Any] | Generator[Any, Any, Any],
    other: Callable[[], object],
    nth: int = 1,
    on: type[Request[Any]] = Request,
) -> Any:
    """Run a procedure, and call `other` before its nth request of a type; return the procedure's result or error."""
    player = _Player(db._pipeline.run(work))
    met = 0
    while not player.done:
        met += (is_met := isinstance(player.next, on))
        if is_met and met == nth:
            other()
        player.move(db)
    assert met >= nth, f"It sends {met} such requests."
    return player.result


def every_schedule() -> Iterator[Choose]:
    """Yield one chooser per order, until all were tried. The plays must be identical except for the choices."""
    ahead: list[int] = []
    while True:
        trail: list[tuple[int, int]] = []

        def choose(options: int, ahead: list[int] = ahead, trail: list[tuple[int, int]] = trail) -> int:
            chosen = ahead[len(trail)] if len(trail) < len(ahead) else 0
            trail.append((chosen, options))
            return chosen

        yield choose
        while trail and trail[-1][0] + 1 == trail[-1][1]:
            trail.pop()
        if not trail:
            return
        ahead = [chosen for chosen, _ in trail]
        ahead[-1] += 1


@contextmanager
def empty_db(tables: Iterable[Table], clock: FakeClock | None = None) -> Iterator[Session]:
    """Open a session on a new in-memory store with these tables."""
    clock = clock or FakeClock()
    with EmbeddedStore(":memory:", clock=clock, sweep_every=None) as store:
        db = Session(store, clock=clock, secret=b"fake", strict_budgets=True, random=Random(0), sleep=clock.advance)
        db.create_tables(tables)
        yield db


def on_store(db: Session, store: Store) -> Session:
    """Return a copy of the session that uses another store."""
    other = copy(db)
    other.store = store
    return other
