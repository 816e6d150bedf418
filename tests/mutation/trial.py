"""Tries one fault: copies the package, plants the fault in the copy, and runs the tests that reach it.

Each trial is a fork of this process, which has imported the slow modules and nothing of the package. So a trial starts
within a second, in its own process and with its own copy, and the working tree stays clean.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate, islice
from pathlib import Path
from typing import Final

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import replace
from tests.mutation.faults import Fault
from tests.mutation.reach import FILE_SETTING, SUBJECT_SETTING, Reach
from tests.mutation.subjects import ROOT, Subject

ALONE: Final = ("-n0", "-q", "--store=embedded", "-p", "no:cacheprovider")
UNTIL_ONE_FAILS: Final = (
    *("-x", "-p", "no:randomly", "--tb=line", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
    *("-o", "timeout=90"),  # a test that takes longer waits for something that the fault prevents
)
FIRST_FILES: Final = 2
"""The number of files whose tests run first: they catch most faults, so the others are often not even collected."""
NOTICED: Final = (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
"""The exit codes of pytest if a test fails, or cannot even be collected."""
NOTICES: Final = ("FAILED", "ERROR tests", "ImportError while loading conftest")
"""Prefixes of pytest's lines in these cases; the last is that of a model that cannot be declared with the fault."""
NICE: Final = 10
LEAST_SECONDS: Final = 180.0
PATIENCE: Final = 20.0
"""Tests that take this many times longer than without the fault are endless. Other processes may slow them, too."""
POLL_SECONDS: Final = 0.1
CONTROL_TESTS: Final = 20
MAX_SECONDS: Final = 120.0
"""The time limit for all tests of a trial, measured without the fault: enough if thousands of tests reach a line."""

_FORK: Final = multiprocessing.get_context("fork")


class Outcome(StrEnum):
    """The outcome of a fault."""

    CAUGHT = "caught"
    ENDLESS = "endless"
    """The tests did not end, which counts as caught."""
    SURVIVED = "survived"
    UNREACHED = "unreached"
    """No test runs this line."""
    BROKEN = "broken"
    """The tests could not be run, so the outcome is unknown."""


class Verdict(Struct, frozen=True):
    """The outcome of a fault, and the test that caught it."""

    fault: Fault
    outcome: Outcome
    by: str = ""

    @property
    def is_caught(self) -> bool:
        """Whether the tests caught the fault."""
        return self.outcome in (Outcome.CAUGHT, Outcome.ENDLESS)

    def __str__(self) -> str:
        return f"{self.outcome:9} {self.fault}" + (f"\n          {self.by}" if self.by else "")


def reaching_tests(fault: Fault, reach: Reach, subject: Subject) -> list[str]:
    """Return the tests that reach a fault: the tests of its own part first, and the fastest first.

    Code that runs when a module is imported has the tests that use the module, and then all other tests of its part.
    """
    near = subject.near(fault.module)

    def in_order(tests: Iterable[str]) -> list[str]:
        return sorted(tests, key=lambda test: (not test.startswith(near), reach.tests[test]))

    tests = reach.of(fault.module, fault.line) or reach.of(fault.module, fault.statement)
    if not fault.is_static:
        return _within(in_order(tests), reach)
    reaching = reach.of_module(fault.module)
    far = {test for test in reach.tests if test.startswith(near)} - reaching
    return _within([*in_order(reaching), *in_order(far)], reach)


def _within(tests: Sequence[str], reach: Reach) -> list[str]:
    """Return the tests that fit into the time limit, and at least one."""
    until = list(accumulate(reach.tests[test] for test in tests))
    return [test for test, seconds in zip(tests, until, strict=True) if seconds <= max(MAX_SECONDS, until[0])]


def check_control(fault: Fault, reach: Reach, subject: Subject) -> None:
    """Check that the tests pass if a trial changes nothing.

    Raises:
        RuntimeError: the tests fail without a fault, so their verdicts would mean nothing.
    """
    quick = reaching_tests(fault, reach, subject)[:CONTROL_TESTS]
    enough = Reach(reach.tests, {fault.module: {fault.line: quick}})
    (verdict,) = try_faults([replace(fault, after=fault.before, is_static=False)], enough, subject)
    if verdict.outcome is not Outcome.SURVIVED:
        raise RuntimeError(f"The tests fail without any fault.\n{verdict}")


def try_faults(faults: Sequence[Fault], reach: Reach, subject: Subject, jobs: int = 1) -> Iterator[Verdict]:
    """Try faults, `jobs` at a time; yield each verdict as soon as it is known."""
    for name in subject.slow_imports:
        importlib.import_module(name)
    assert subject.package not in sys.modules, "a trial could not import its own copy"
    waiting = list(faults)
    running: list[Trial] = []
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(Trial(waiting.pop(0), reach, subject))
        time.sleep(POLL_SECONDS)
        for trial in list(running):
            if (verdict := trial.verdict()) is not None:
                running.remove(trial)
                yield verdict


class Trial:
    """A trial that is running: a fault in a copy of the package, and a process with the tests that reach it."""

    def __init__(self, fault: Fault, reach: Reach, subject: Subject) -> None:
        self._fault = fault
        self._tests = reaching_tests(fault, reach, subject)
        if not self._tests:
            return
        self._folder = Path(tempfile.mkdtemp(prefix="partita-fault-"))
        copy = self._folder / subject.package
        shutil.copytree(subject.source, copy)  # with its bytecode, which is valid for all unchanged modules
        target = copy / fault.module
        target.write_bytes(fault.applied(target.read_bytes()))
        for compiled in target.parent.glob(f"__pycache__/{target.stem}.*"):
            compiled.unlink()
        for stage, tests in enumerate(_stages(self._tests)):
            (self._folder / f"tests-{stage}.txt").write_text("\n".join(tests))
        seconds = sum(reach.tests[test] for test in self._tests)
        self._deadline = time.monotonic() + max(LEAST_SECONDS, seconds * PATIENCE)
        self._process = _FORK.Process(target=_run_tests, args=(self._folder,))
        self._process.start()

    def verdict(self) -> Verdict | None:
        """Return the verdict on the fault; None while the tests run."""
        if not self._tests:
            return Verdict(self._fault, Outcome.UNREACHED)
        if self._process.is_alive() and time.monotonic() < self._deadline:
            return None
        outcome, by = self._outcome()
        shutil.rmtree(self._folder, ignore_errors=True)
        return Verdict(self._fault, outcome, by)

    def _outcome(self) -> tuple[Outcome, str]:
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
            return Outcome.ENDLESS, ""
        if self._process.exitcode == 0:
            return Outcome.SURVIVED, ""
        lines = (self._folder / "said.txt").read_text(errors="replace").splitlines()
        failed = [line for line in lines if line.startswith(NOTICES)]
        if failed or self._process.exitcode in NOTICED:
            return Outcome.CAUGHT, (failed or lines[-1:] or [""])[0]
        return Outcome.BROKEN, "\n".join(lines[-20:])


def _stages(tests: Sequence[str]) -> list[list[str]]:
    """Return the tests of the first files, and then the others."""
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    first = set(islice(files, FIRST_FILES))
    near = [test for test in tests if test.partition("::")[0] in first]
    return list(filter(None, [near, [test for test in tests if test not in set(near)]]))


def _run_tests(folder: Path) -> None:
    """Run the tests of a trial in its process, with the package of the copy, until one fails."""
    os.nice(NICE)
    os.chdir(ROOT)
    said = os.open(folder / "said.txt", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(said, stream)
    sys.path.insert(0, str(folder))
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)  # for processes that tests start
    sys.dont_write_bytecode = True
    code: int = pytest.ExitCode.INTERNAL_ERROR
    try:
        for tests in sorted(folder.glob("tests-*.txt")):
            code = pytest.main([*ALONE, *UNTIL_ONE_FAILS, f"@{tests}"])
            if code != pytest.ExitCode.OK:
                break
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # even if the tests have left threads running


def read_reach(file: Path, subject: Subject) -> Reach:
    """Run the tests once, and record the lines that they reach; tests that fail without a fault are left out."""
    tests = [*ALONE, "-p", "tests.mutation.reach", "-m", "not slow", *subject.tests]
    command = ["nice", "-n", str(NICE), sys.executable, "-m", "pytest", *tests]
    paths = [str(subject.source.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    settings = {FILE_SETTING: str(file), SUBJECT_SETTING: subject.name, "PYTHONPATH": os.pathsep.join(paths)}
    ended = subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, check=False)
    if ended.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError("The tests cannot be run.")
    return msgspec.json.decode(file.read_bytes(), type=Reach)
