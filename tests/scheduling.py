"""Which worker runs which test: those of one `xdist_group` in one, one after another; the others where there is room.

What is started for a group is so started once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Protocol

import pytest

ENOUGH = 4
"""Tests that a worker is given ahead. It begins one when it knows the next, so two are the least."""


class Runner(Protocol):
    """What the scheduling asks of a worker."""

    def run(self, tests: Sequence[int]) -> None:
        """Run these, after those that it has."""

    def finish(self) -> None:
        """End after those that it has."""


class GroupScheduling:
    """Hands tests to workers, as units: each goes to one worker as a whole."""

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
        """Give a worker that has run a test the next."""
        del self._pending[worker][test]
        self._hand_out(worker)

    def end(self, worker: Runner) -> int | None:
        """Take back what a worker has left undone, as a unit again; gives the test that it ended in."""
        died_of, *left = list(self._pending.pop(worker)) or (None,)
        if left and not self._stopped:
            self._waiting.appendleft([test for test in left if test is not None])
        return died_of

    def stop(self) -> None:
        """Hand out no more."""
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
    """The tests by their places in the list, each together with the others of its group.

    The largest groups come first, then what takes long, so that no worker waits for it in the end.
    """
    units: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        mark = item.get_closest_marker("xdist_group")
        units.setdefault(item.nodeid if mark is None else mark.args[0], []).append(index)
    return sorted(units.values(), key=lambda unit: (-len(unit), items[unit[0]].get_closest_marker("slow") is None))
