"""A pytest plugin: tests of one `xdist_group` run in one worker, one after another; the others where there is room.

What is started for a group is so started once. pytest-xdist has `--dist=loadgroup` for this, but its 3.8 does it by
changing the identifiers of tests, which pytest 9.2 no longer lets it do: every group is then spread over all workers,
without a word. Here the first worker writes down the groups, and the controller reads them.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

ENOUGH = 4
"""Tests that a worker is given ahead. It begins one when it knows the next, so two are the least."""
FOLDER = pytest.StashKey[Path]()


class Worker(Protocol):
    """What the scheduler asks of a worker."""

    @property
    def shutting_down(self) -> bool: ...
    def send_runtest_some(self, indices: Sequence[int]) -> None: ...
    def shutdown(self) -> None: ...


class GroupScheduling:
    """Hands tests to workers: the groups first, each as a whole and the largest first, then single tests."""

    def __init__(self, workers: int, groups: Callable[[], Mapping[str, str]]) -> None:
        self._workers = workers
        self._groups = groups
        self._collected: dict[Worker, list[str]] = {}
        self._pending: dict[Worker, dict[int, None]] = {}
        self._waiting: deque[list[int]] | None = None

    @property
    def nodes(self) -> list[Worker]:
        return list(self._pending)

    @property
    def collection_is_completed(self) -> bool:
        return len(self._collected) >= self._workers

    @property
    def tests_finished(self) -> bool:
        return self._waiting is not None and not self._waiting and all(len(own) < 2 for own in self._pending.values())

    @property
    def has_pending(self) -> bool:
        return bool(self._waiting) or any(self._pending.values())

    def add_node(self, node: Worker) -> None:
        self._pending[node] = {}

    def add_node_collection(self, node: Worker, collection: Sequence[str]) -> None:
        first = next(iter(self._collected.values()), collection)
        if first != collection:
            different = sorted(set(first).symmetric_difference(collection)) or ["their order"]
            raise RuntimeError(f"The workers collected different tests: {', '.join(different[:10])}")
        self._collected[node] = list(collection)

    def schedule(self) -> None:
        """Begin, or give work to a worker that came in place of one that died."""
        if self._waiting is None:
            self._waiting = deque(_units(next(iter(self._collected.values())), self._groups()))
        for node in self._pending:
            self._hand_out(node)

    def mark_test_complete(self, node: Worker, item_index: int, _duration: float = 0) -> None:
        del self._pending[node][item_index]
        self._hand_out(node)

    def remove_node(self, node: Worker) -> str | None:
        """Give what a worker left undone to the others; gives the test that it died of."""
        own = self._pending.pop(node)
        if not own or self._waiting is None:
            return None
        died_of, *left = own
        if left:
            self._waiting.appendleft(left)
        for other in self._pending:
            self._hand_out(other)
        return self._collected[node][died_of]

    def mark_test_pending(self, item: str) -> None:
        raise NotImplementedError

    def remove_pending_tests_from_node(self, node: Worker, indices: Sequence[int]) -> None:
        raise NotImplementedError

    def _hand_out(self, node: Worker) -> None:
        if node.shutting_down or self._waiting is None:
            return
        own = self._pending[node]
        while self._waiting and len(own) < ENOUGH:
            unit = self._waiting.popleft()
            own.update(dict.fromkeys(unit))
            node.send_runtest_some(unit)
        if not self._waiting:
            node.shutdown()


def _units(collection: Sequence[str], groups: Mapping[str, str]) -> list[list[int]]:
    units: dict[str, list[int]] = {}
    for index, test in enumerate(collection):
        units.setdefault(groups.get(test, test), []).append(index)
    return sorted(units.values(), key=len, reverse=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> GroupScheduling | None:
    if config.getoption("dist") != "loadgroup":
        return None
    workers: list[str] = config.getoption("tx") or []
    return GroupScheduling(len(workers), lambda: json.loads(_file(_folder(config)).read_text()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are cores: tests wait for browsers, servers and disks."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["groups"] = str(_folder(node.config))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a worker: what takes long begins first, so that no worker waits for it in the end."""
    worker: Mapping[str, Any] | None = getattr(config, "workerinput", None)
    if worker is None:
        return
    groups = {item.nodeid: group for item in items if (group := _group(item)) is not None}
    items.sort(key=lambda item: item.nodeid in groups or item.get_closest_marker("slow") is None)
    if worker["workerid"] == "gw0":
        _file(Path(worker["groups"])).write_text(json.dumps(groups))


def _group(item: pytest.Item) -> str | None:
    mark = item.get_closest_marker("xdist_group")
    return None if mark is None else str(mark.args[0])


def _folder(config: pytest.Config) -> Path:
    """A folder of the run, which the controller names to its workers."""
    if FOLDER not in config.stash:
        folder = tempfile.TemporaryDirectory(prefix="tests-")
        config.add_cleanup(folder.cleanup)
        config.stash[FOLDER] = Path(folder.name)
    return config.stash[FOLDER]


def _file(folder: Path) -> Path:
    return folder / "groups.json"
