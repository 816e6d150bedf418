"""The scheduler: tasks that wait for each other's turns, a clock that jumps to what happens next, and a trace.

A task is a greenlet: it is written with blocking calls, as users write, and gives way only where it waits. So whatever
runs here runs in one thread, and the order of all that happens follows from the seed.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from greenlet import getcurrent, greenlet
from msgspec import Struct

from partita.testing import Crash

START: Final = 1_767_268_800.0
"""When every simulation begins: 2026-01-01T12:00:00Z."""

Resume: TypeAlias = Callable[["Outcome"], None]


class Outcome(Struct, frozen=True):
    """What a task has waited for: a value, or an error that is raised in it."""

    value: Any = None
    error: BaseException | None = None

    def get(self) -> Any:
        """The value.

        Raises:
            BaseException: the error, where it is one.
        """
        if self.error is not None:
            raise self.error
        return self.value


def outcome_of(call: Callable[[], Any]) -> Outcome:
    """What comes of a call, kept for later."""
    try:
        return Outcome(call())
    except Exception as error:  # noqa: BLE001 - whoever waits for it decides what to do with it
        return Outcome(error=error)


class Trace:
    """What happened, as a digest; and as lines, where somebody wants to read them."""

    def __init__(self, *, keep: bool = False) -> None:
        self.lines: list[str] | None = [] if keep else None
        self._hash = hashlib.sha256()

    def add(self, line: str) -> None:
        """Note one thing that happened."""
        self._hash.update(line.encode())
        self._hash.update(b"\n")
        if self.lines is not None:
            self.lines.append(line)

    @property
    def digest(self) -> str:
        """Two runs with the same digest did the same."""
        return self._hash.hexdigest()


class Process:
    """What is killed as a whole: tasks on one node. Its clock may be ahead or behind."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self.name = name
        self.alive = True
        self.skew = 0.0
        self.tasks: list[Task] = []
        self._kernel = kernel

    def clock(self) -> float:
        """The time, as this process knows it."""
        return self._kernel.now + self.skew

    def spawn(self, work: Callable[[], object]) -> None:
        """Begin a task soon."""
        task = Task(self._kernel, self, work)
        self.tasks.append(task)
        self._kernel.later(0.0, f"start {self.name}", task.begin)

    def kill(self) -> None:
        """End all of its tasks where they are. What they do on their way out reaches nobody."""
        self.alive = False
        for task in self.tasks:
            task.end()


class Task:
    """A line of work; it runs until it waits."""

    def __init__(self, kernel: Kernel, process: Process, work: Callable[[], object]) -> None:
        self.process = process
        self.is_done = False
        self._kernel = kernel
        self._work = work
        self._waits = 0
        self._greenlet = greenlet(self._main, kernel.greenlet)

    def begin(self) -> None:
        """Run it up to its first wait."""
        if self.process.alive:
            self._switch(None)

    def wait(self, arrange: Callable[[Resume], None]) -> Any:
        """Give way until what is arranged resumes this task; a second resumption of the same wait is ignored."""
        if not self.process.alive:
            raise Crash(self.process.name)
        self._waits += 1
        number = self._waits
        arrange(lambda outcome: self._resume(number, outcome))
        outcome: Outcome = self._kernel.greenlet.switch()
        return outcome.get()

    def end(self) -> None:
        """Raise `Crash` in it."""
        if self._greenlet.dead or not self._greenlet:
            self.is_done = True
            return
        self._kernel.current, before = self, self._kernel.current
        try:
            self._greenlet.throw(Crash(self.process.name))
        finally:
            self._kernel.current = before

    def _resume(self, number: int, outcome: Outcome) -> None:
        if number == self._waits and self.process.alive and not self.is_done:
            self._waits += 1
            self._switch(outcome)

    def _switch(self, outcome: Outcome | None) -> None:
        self._kernel.current = self
        try:
            self._greenlet.switch(*(() if outcome is None else (outcome,)))
        finally:
            self._kernel.current = None

    def _main(self) -> None:
        try:
            self._work()
        except Crash:
            pass
        except Exception as error:  # noqa: BLE001 - the simulation ends with it
            self._kernel.fail(error)
        self.is_done = True


class Kernel:
    """Runs what is due, one thing after another; the clock stands where the last one was due."""

    def __init__(self, *, keep_trace: bool = False) -> None:
        self.now = START
        self.steps = 0
        self.current: Task | None = None
        self.greenlet = getcurrent()
        self.failure: Exception | None = None
        self.trace = Trace(keep=keep_trace)
        self._due: list[tuple[float, int, str, Callable[[], None]]] = []
        self._number = 0

    def clock(self) -> float:
        """The true time."""
        return self.now

    def later(self, seconds: float, label: str, action: Callable[[], None]) -> None:
        """Have something done in so many seconds."""
        self._number += 1
        heapq.heappush(self._due, (self.now + seconds, self._number, label, action))

    def sleep(self, seconds: float) -> None:
        """Let the current task wait."""
        self.wait(lambda resume: self.later(max(seconds, 0.0), "wake", lambda: resume(Outcome())))

    def wait(self, arrange: Callable[[Resume], None]) -> Any:
        """Let the current task wait for what is arranged."""
        assert self.current is not None, "only a task can wait"
        return self.current.wait(arrange)

    def fail(self, error: Exception) -> None:
        """End the run with an error."""
        if self.failure is None:
            self.failure = error

    def step(self) -> bool:
        """Do the next thing; False where there is nothing left to do."""
        if not self._due or self.failure is not None:
            return False
        self.now, _, label, action = heapq.heappop(self._due)
        self.steps += 1
        self.trace.add(f"{self.now - START:.6f} {label}")
        action()
        return True
