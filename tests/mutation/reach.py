"""A pytest plugin that records which tests reach which lines of a package, and how long each test takes.

PARTITA_REACH=reach.json PARTITA_REACH_OF=services python -m pytest -p tests.mutation.reach tests/services
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

import coverage
import msgspec
import pytest
from msgspec import Struct
from tests.mutation.subjects import SUBJECTS, Subject

FILE_SETTING: Final = "PARTITA_REACH"
"""The environment variable with the path of the file to write."""
SUBJECT_SETTING: Final = "PARTITA_REACH_OF"


class Reach(Struct):
    """The lines that the tests reach."""

    tests: dict[str, float] = {}
    """The duration of each test in seconds."""
    lines: dict[str, dict[int, list[str]]] = {}
    """The tests that reach each line, by module."""

    def of(self, module: str, line: int) -> list[str]:
        """Return the tests that reach a line."""
        return self.lines.get(module, {}).get(line, [])

    def of_module(self, module: str) -> set[str]:
        """Return the tests that reach any line of a module."""
        return {test for tests in self.lines.get(module, {}).values() for test in tests}


class _Recorder:
    def __init__(self, file: Path, subject: Subject) -> None:
        self._file = file
        self._subject = subject
        modules = [str(path) for path in subject.rule_modules()]
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=modules, messages=False)
        self._coverage.set_option("run:disable_warnings", ["already-imported", "no-data-collected"])
        self._coverage.start()
        self._reach = Reach()
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._coverage.switch_context(item.nodeid)
        start = time.perf_counter()
        try:
            return (yield)
        finally:
            self._reach.tests[item.nodeid] = time.perf_counter() - start
            self._coverage.switch_context("")

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        data = self._coverage.get_data()
        for path in data.measured_files():
            module = str(Path(path).relative_to(self._subject.source))
            lines = data.contexts_by_lineno(path).items()
            found = {line: sorted(filter(None, {*tests} - self._failed)) for line, tests in lines}
            self._reach.lines[module] = {line: tests for line, tests in found.items() if tests}
        for test in self._failed:  # it fails without a fault, so it would seem to catch every fault
            self._reach.tests.pop(test, None)
        self._file.write_bytes(msgspec.json.encode(self._reach))


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start recording if the variable is set, before any module of the package is imported."""
    if file := os.environ.get(FILE_SETTING):
        subject = SUBJECTS[os.environ[SUBJECT_SETTING]]
        early_config.pluginmanager.register(_Recorder(Path(file), subject))
