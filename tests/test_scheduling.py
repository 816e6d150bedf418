"""Tests of a group run in one worker, whatever the versions of pytest and its plugins."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.scheduling import GroupScheduling

ROOT = Path(__file__).parents[1]
GROUPED = """
import pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("n", range(6))
def test_grouped(n):
    pass

@pytest.mark.parametrize("n", range(6))
def test_single(n):
    pass
"""


class Recorder:
    """A worker that notes what it is given."""

    def __init__(self) -> None:
        self.given: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        self.given.extend(indices)

    def shutdown(self) -> None:
        self.shutting_down = True


def test_a_group_of_several_files_runs_in_one_worker(tmp_path: Path) -> None:
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(GROUPED)
    command = ["pytest", "-p", "tests.scheduling", "-n2", "--dist=loadgroup", "-v", "-p", "no:cacheprovider"]
    said = subprocess.run(
        [sys.executable, "-m", *command, "--rootdir", tmp_path, tmp_path],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    ran = re.findall(r"\[(gw\d)\] .* PASSED test_([ab]).py::test_(grouped|single)", said)
    assert len(ran) == 24, said
    assert len({worker for worker, _, kind in ran if kind == "grouped"}) == 1


def scheduled(*workers: Recorder) -> GroupScheduling:
    """Tests 1, 2 and 4 are a group; the largest."""
    tests = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]
    scheduling = GroupScheduling(len(workers), lambda: {"1": "g", "2": "g", "4": "g"})
    for worker in workers:
        scheduling.add_node(worker)
        scheduling.add_node_collection(worker, tests)
    scheduling.schedule()
    return scheduling


def test_groups_come_first_and_what_is_over_goes_where_there_is_room() -> None:
    first, second = Recorder(), Recorder()
    scheduling = scheduled(first, second)
    assert (first.given, second.given) == ([1, 2, 4, 0], [3, 5, 6, 7])
    for index in second.given[:4]:
        scheduling.mark_test_complete(second, index)
    assert second.given == [3, 5, 6, 7, 8, 9, 10, 11]
    assert second.shutting_down
    assert scheduling.has_pending
    assert not scheduling.tests_finished
    for worker in (first, second):
        for index in worker.given:
            if index not in {3, 5, 6, 7}:
                scheduling.mark_test_complete(worker, index)
    assert not scheduling.has_pending
    assert scheduling.tests_finished


def test_what_a_worker_left_when_it_died_is_done_by_the_others() -> None:
    first, second = Recorder(), Recorder()
    scheduling = scheduled(first, second)
    assert scheduling.remove_node(first) == "1"
    for index in (3, 5, 6, 7):
        scheduling.mark_test_complete(second, index)
    assert second.given[4:] == [2, 4, 0, 8]
    (left,) = scheduling.nodes
    assert left is second
