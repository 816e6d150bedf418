"""Which worker gets which tests."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from tests.scheduling import GroupScheduling, units_of


class Recorder:
    """A worker that records the tests that it gets."""

    def __init__(self) -> None:
        self.given: list[int] = []
        self.finishes = False

    def run(self, tests: Sequence[int]) -> None:
        assert not self.finishes
        self.given.extend(tests)

    def finish(self) -> None:
        assert not self.finishes
        self.finishes = True


def scheduled(*workers: Recorder) -> GroupScheduling:
    """Return a scheduling in which tests 1, 2 and 4 are a group, the largest unit."""
    scheduling = GroupScheduling([[1, 2, 4], [0], [3], [5], [6], [7], [8], [9], [10], [11]])
    for worker in workers:
        scheduling.begin(worker)
    return scheduling


def test_groups_come_first_and_what_is_over_goes_where_there_is_room() -> None:
    first, second = Recorder(), Recorder()
    scheduling = scheduled(first, second)
    assert (first.given, second.given) == ([1, 2, 4, 0], [3, 5, 6, 7])
    assert scheduling.is_waiting
    for index in second.given[:4]:
        scheduling.complete(second, index)
    assert second.given == [3, 5, 6, 7, 8, 9, 10, 11]
    assert (first.finishes, second.finishes) == (False, True)
    scheduling.complete(first, 1)
    assert first.finishes
    assert not scheduling.is_waiting


def test_what_a_worker_left_when_it_died_is_done_by_another_as_one_unit() -> None:
    first, second, third = Recorder(), Recorder(), Recorder()
    scheduling = scheduled(first, second)
    assert scheduling.end(first) == 1
    scheduling.begin(third)
    assert third.given == [2, 4, 0, 8]


def test_a_worker_that_was_told_the_last_is_given_no_more() -> None:
    first, second = Recorder(), Recorder()
    scheduling = scheduled(first, second)
    for index in (3, 5, 6, 7):
        scheduling.complete(second, index)
    scheduling.end(first)
    assert scheduling.is_waiting
    scheduling.complete(second, 8)
    assert second.given == [3, 5, 6, 7, 8, 9, 10, 11]


def test_one_that_ended_by_itself_died_of_nothing() -> None:
    first = Recorder()
    scheduling = GroupScheduling([[0]])
    scheduling.begin(first)
    scheduling.complete(first, 0)
    assert scheduling.end(first) is None
    assert not scheduling.is_waiting


def test_after_a_stop_nothing_is_handed_out_nor_taken_back() -> None:
    first, second = Recorder(), Recorder()
    scheduling = scheduled(first, second)
    scheduling.stop()
    scheduling.complete(first, 1)
    scheduling.end(first)
    scheduling.end(second)
    assert not scheduling.is_waiting


def item(name: str, **marks: str) -> Any:
    def get_closest_marker(mark: str) -> SimpleNamespace | None:
        return SimpleNamespace(args=(marks[mark],)) if mark in marks else None

    return SimpleNamespace(nodeid=name, get_closest_marker=get_closest_marker)


def test_groups_are_units_and_what_is_slow_comes_before_other_single_tests() -> None:
    grouped = [item("a", xdist_group="one"), item("b"), item("c", slow=""), item("d", xdist_group="one")]
    assert units_of(grouped) == [[0, 3], [2], [1]]
