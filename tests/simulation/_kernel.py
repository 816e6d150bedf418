"""The scheduler: tasks that run one at a time, a clock that jumps to the next event, and a trace.

A task is a greenlet: it is written with blocking calls, as in a normal program, and yields control only when it waits.
So everything runs in one thread, and the seed determines the order of all events.
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
"""The start time of every simulation: 2026-01-01T12:00:00Z."""

Resume: TypeAlias = Callable[["Outcome"], None]


class Outcome(Struct, frozen=True):
    """The result of a wait: a value, or an error to raise in the waiting task."""

    value: Any = None
    error: BaseException | None = None

    def get(self) -> Any:
        """Return the value.

        Raises:
            BaseException: the error, if there is one.
        """
        if self.error is not None:
            raise self.error
        return self.value


def outcome_of(call: Callable[[], Any]) -> Outcome:
    """Call the function, and return its value or its error."""
    try:
        return Outcome(call())
    except Exception as error:  # noqa: BLE001 - the waiting task decides what to do with it
        return Outcome(error=error)


class Trace:
    """The events of a run as a digest, and as lines if `keep` is set."""

    def __init__(self, *, keep: bool = False) -> None:
        self.lines: list[str] | None = [] if keep else None
        self._hash = hashlib.sha256()

    def add(self, line: str) -> None:
        """Add one event."""
        self._hash.update(line.encode())
        self._hash.update(b"\n")
        if self.lines is not None:
            self.lines.append(line)

    @property
    def digest(self) -> str:
        """The digest of all events, which is the same for two runs that did the same."""
        return self._hash.hexdigest()


class Process:
    """The tasks of one node, which are killed together. Its clock may be ahead or behind."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self.name = name
        self.alive = True
        self.skew = 0.0
        self.tasks: list[Task] = []
        self._kernel = kernel

    def clock(self) -> float:
        """Return the time according to the clock of this process."""
        return self._kernel.now + self.skew

    def spawn(self, work: Callable[[], object]) -> None:
        """Schedule the start of a new task."""
        task = Task(self._kernel, self, work)
        self.tasks.append(task)
        self._kernel.later(0.0, f"start {self.name}", task.begin)

    def kill(self) -> None:
        """End all tasks. Requests that they make during their cleanup are not sent."""
        self.alive = False
        for task in self.tasks:
            task.end()


class Task:
    """Blocking code that runs in a greenlet until it waits."""

    def __init__(self, kernel: Kernel, process: Process, work: Callable[[], object]) -> None:
        self.process = process
        self.is_done = False
        self._kernel = kernel
        self._work = work
        self._waits = 0
        self._greenlet = greenlet(self._main, kernel.greenlet)

    def begin(self) -> None:
        """Run the task up to its first wait."""
        if self.process.alive:
            self._switch(None)

    def wait(self, arrange: Callable[[Resume], None]) -> Any:
        """Yield control until the function passed to `arrange` resumes this task; a second call of it is ignored."""
        if not self.process.alive:
            raise Crash(self.process.name)
        self._waits += 1
        number = self._waits
        arrange(lambda outcome: self._resume(number, outcome))
        outcome: Outcome = self._kernel.greenlet.switch()
        return outcome.get()

    def end(self) -> None:
        """Raise `Crash` in the task."""
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
        except Exception as error:  # noqa: BLE001 - any error ends the simulation
            self._kernel.fail(error)
        self.is_done = True


class Kernel:
    """Runs scheduled actions one after another; the clock shows the time for which the last one was scheduled."""

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
        """Return the true time."""
        return self.now

    def later(self, seconds: float, label: str, action: Callable[[], None]) -> None:
        """Schedule an action in the given number of seconds."""
        self._number += 1
        heapq.heappush(self._due, (self.now + seconds, self._number, label, action))

    def sleep(self, seconds: float) -> None:
        """Suspend the current task for the given number of seconds."""
        self.wait(lambda resume: self.later(max(seconds, 0.0), "wake", lambda: resume(Outcome())))

    def wait(self, arrange: Callable[[Resume], None]) -> Any:
        """Suspend the current task until the function passed to `arrange` resumes it."""
        assert self.current is not None, "only a task can wait"
        return self.current.wait(arrange)

    def fail(self, error: Exception) -> None:
        """End the run with an error."""
        if self.failure is None:
            self.failure = error

    def step(self) -> bool:
        """Run the next action. Return False if there is none, or if the run has failed."""
        if not self._due or self.failure is not None:
            return False
        self.now, _, label, action = heapq.heappop(self._due)
        self.steps += 1
        self.trace.add(f"{self.now - START:.6f} {label}")
        action()
        return True
