"""Trying one fault: the services are copied, the fault is planted in the copy, and the tests that reach it are run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from tests.mutation.faults import Fault
from tests.mutation.reach import PACKAGE, SETTING, Reach

ROOT: Final = Path(__file__).parents[2]
SERVICES: Final = ROOT / "services" / "src" / PACKAGE
PYTEST: Final = (sys.executable, "-m", "pytest", "-n0", "-q", "--store=embedded", "-p", "no:cacheprovider")
NICE: Final = 10
LEAST_SECONDS: Final = 120.0
PATIENCE: Final = 10.0
"""Tests that take so many times longer than without the fault do not end."""


class Outcome(StrEnum):
    """What became of a fault."""

    CAUGHT = "caught"
    ENDLESS = "endless"
    """The tests did not end, which is noticed."""
    SURVIVED = "survived"
    UNREACHED = "unreached"
    """No test runs this line."""


class Verdict(Struct, frozen=True):
    """What became of a fault, and by which test."""

    fault: Fault
    outcome: Outcome
    by: str
    tests: int
    """How many tests reach it."""

    @property
    def is_caught(self) -> bool:
        """Whether the tests have noticed."""
        return self.outcome in (Outcome.CAUGHT, Outcome.ENDLESS)

    def __str__(self) -> str:
        return f"{self.outcome:9} {self.fault}" + (f"\n          {self.by}" if self.by else "")


def tests_for(fault: Fault, reach: Reach) -> list[str]:
    """The tests that reach a fault, the quickest first.

    What runs when a module is imported is reached by whatever uses the module, and then by all tests of its service.
    """
    tests = reach.of(fault.module, fault.line)
    if not fault.is_static:
        return sorted(tests, key=reach.tests.__getitem__)
    near = reach.of_module(fault.module)
    service = f"tests/services/{fault.module.partition('/')[0]}/"
    far = {test for test in reach.tests if test.startswith(service)} - near
    return [*sorted(near, key=reach.tests.__getitem__), *sorted(far, key=reach.tests.__getitem__)]


def try_fault(fault: Fault, reach: Reach) -> Verdict:
    """Plant a fault in a copy, and run the tests that reach it until one fails."""
    tests = tests_for(fault, reach)
    if not tests:
        return Verdict(fault, Outcome.UNREACHED, "", 0)
    with tempfile.TemporaryDirectory(prefix="partita-fault-") as folder:
        copy = Path(folder) / PACKAGE
        shutil.copytree(SERVICES, copy, ignore=shutil.ignore_patterns("__pycache__"))
        target = copy / fault.module
        target.write_bytes(fault.applied(target.read_bytes()))
        outcome, by = _run(Path(folder), tests, sum(reach.tests[test] for test in tests))
    return Verdict(fault, outcome, by, len(tests))


def _run(folder: Path, tests: Sequence[str], seconds: float) -> tuple[Outcome, str]:
    listed = folder / "tests.txt"
    listed.write_text("\n".join(tests))
    command = [*PYTEST, "-x", "-p", "no:randomly", "--tb=line", f"@{listed}"]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    limit = max(LEAST_SECONDS, seconds * PATIENCE)
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
            preexec_fn=_be_nice,
        )
    except subprocess.TimeoutExpired:
        return Outcome.ENDLESS, ""
    if done.returncode == 0:
        return Outcome.SURVIVED, ""
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return Outcome.CAUGHT, lines[0] if lines else (done.stdout + done.stderr).strip().splitlines()[-1]


def _be_nice() -> None:
    os.nice(NICE)


def read_reach(file: Path) -> Reach:
    """Run the services' tests once, and write down what they reach."""
    command = [*PYTEST, "-p", "tests.mutation.reach", "-m", "not slow", "tests/services"]
    environment = {**os.environ, SETTING: str(file)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, preexec_fn=_be_nice)
    return msgspec.json.decode(file.read_bytes(), type=Reach)
