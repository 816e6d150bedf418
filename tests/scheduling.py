"""Which worker runs which test: one worker runs all tests of an `xdist_group`; other tests go to any worker.

So a fixture of a group, such as a server, is created once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Protocol

import pytest

ENOUGH = 4
"""The number of tests that a worker has in advance. It starts a test when it knows the next, so at least two."""


class Runner(Protocol):
    """The interface of a worker that the scheduling uses."""

    def run(self, tests: Sequence[int]) -> None:
        """Run these tests, after those that the worker already has."""

    def finish(self) -> None:
        """End after the tests that the worker already has."""


class GroupScheduling:
    """Assigns tests to workers in units; each unit goes to one worker as a whole."""

    def __init__(self, units: Sequence[Sequence[int]]) -> None:
        self._waiting = deque(units)
        self._pending: dict[Runner, dict[int, None]] = {}
        self._finishing: set[Runner] = set()
        self._stopped = False

    @property
    def is_waiting(self) -> bool:
        """Whether there are tests that no worker has."""
        return bool(self._waiting)

    def begin(self, worker: Runner) -> None:
        """Give a worker its first tests."""
        self._pending[worker] = {}
        self._hand_out(worker)

    def complete(self, worker: Runner, test: int) -> None:
        """Give a worker its next tests, after it has run one."""
        del self._pending[worker][test]
        self._hand_out(worker)

    def end(self, worker: Runner) -> int | None:
        """Take back the remaining tests of a worker that ended, as a unit. Return the test that it was in, or None."""
        died_of, *left = list(self._pending.pop(worker)) or (None,)
        if left and not self._stopped:
            self._waiting.appendleft([test for test in left if test is not None])
        return died_of

    def stop(self) -> None:
        """Assign no more tests."""
        self._stopped = True
        self._waiting.clear()

    def _hand_out(self, worker: Runner) -> None:
        own = self._pending[worker]
        if worker in self._finishing:
            return
        while self._waiting and len(own) < ENOUGH:
            unit = self._waiting.popleft()
            own.update(dict.fromkeys(unit))
            worker.run(unit)
        if not self._waiting:
            self._finishing.add(worker)
            worker.finish()


def units_of(items: Sequence[pytest.Item]) -> list[list[int]]:
    """Return the indexes of the tests in units: one for each group, and one for each other test.

    The largest groups come first, then slow tests, so that no worker has to wait for them at the end.
    """
    units: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        mark = item.get_closest_marker("xdist_group")
        units.setdefault(item.nodeid if mark is None else mark.args[0], []).append(index)
    return sorted(units.values(), key=lambda unit: (-len(unit), items[unit[0]].get_closest_marker("slow") is None))
