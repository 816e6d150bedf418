"""One run of the harness: runs the suites one after the other, and records the results, machine and versions."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, TypeAlias

import apsw
from msgspec import Struct
from tests.referee import ministack_version

from bench._compare import Bar, Comparison, Pace, Skipped, Unit, figure, measuring

Suite: TypeAlias = Callable[[Path], Iterator[Comparison | Skipped]]
"""Yields the comparisons that it made or skipped; it may write into the folder."""

PACKAGES: Final = (
    *("partita", "pydantic", "msgspec", "fastapi", "uvicorn", "uvloop"),
    *("boto3", "pynamodb", "pydynox", "aiodynamo", "moto"),
)
ROOT: Final = Path(__file__).parents[1]


class Line(Struct, frozen=True):
    """The result of one comparison. The figures of both sides are in `unit`."""

    suite: str
    name: str
    ours: float
    theirs: float
    ratio: float
    low: float
    high: float
    rounds: int
    bar: Bar
    passed: bool
    note: str = ""
    unit: Unit = "seconds"


class SkippedLine(Struct, frozen=True):
    """A comparison that was skipped."""

    suite: str
    name: str
    why: str


class Run(Struct, frozen=True):
    """All results of a run, and what is needed to repeat it."""

    command: str
    commit: str
    date: str
    seconds: float
    machine: dict[str, str | int | float]
    versions: dict[str, str]
    lines: tuple[Line, ...]
    skipped: tuple[SkippedLine, ...]

    @property
    def passed(self) -> bool:
        """Whether every bar is met."""
        return all(line.passed for line in self.lines)

    def of_suite(self, suite: str) -> Run:
        """The part of the run with the results of one suite."""
        lines = tuple(line for line in self.lines if line.suite == suite)
        skipped = tuple(line for line in self.skipped if line.suite == suite)
        return Run(self.command, self.commit, self.date, self.seconds, self.machine, self.versions, lines, skipped)


def run(suites: Mapping[str, Suite], pace: Pace, command: str, say: Callable[[str], None] = print) -> Run:
    """Run the suites, and report each line as soon as it is measured."""
    start = time.perf_counter()
    lines: list[Line] = []
    skipped: list[SkippedLine] = []
    say(HEADER)
    with tempfile.TemporaryDirectory(prefix="partita-bench-") as folder, measuring(pace):
        for name, suite in suites.items():
            own = Path(folder) / name
            own.mkdir()
            for result in suite(own):
                if isinstance(result, Skipped):
                    skipped.append(SkippedLine(name, result.name, result.why))
                    say(f"skipped: {result.name}: {result.why}")
                else:
                    lines.append(_line(name, result))
                    say(as_text(lines[-1]))
    seconds = round(time.perf_counter() - start, 1)
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return Run(command, commit(), date, seconds, machine(), versions(), tuple(lines), tuple(skipped))


def prepare_process() -> None:
    """Let started programs keep their compiled bytecode, as users' programs do, and end them when this one is ended."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def _line(suite: str, found: Comparison) -> Line:
    low = found.ratio if found.low is None else found.low
    high = found.ratio if found.high is None else found.high
    figures = found.ours, found.theirs, found.ratio, low, high, found.rounds
    return Line(suite, found.name, *figures, found.bar, found.passed, found.note, found.unit)


HEADER: Final = (
    f"{'what, to what':<48} {'ours':>10} {'theirs':>10} {'ratio':>8} {'half of the rounds':>19}  {'required':<14}"
)


def as_text(line: Line) -> str:
    """Format a line of the printed table."""
    sides = f"{figure(line.ours, line.unit):>10} {figure(line.theirs, line.unit):>10}"
    spread = f"{line.low:.2f} to {line.high:.2f}"
    verdict = "pass" if line.passed else "FAIL"
    return f"{line.name:<48} {sides} {line.ratio:>7.2f}x {spread:>19}  {line.bar!s:<14} {verdict}"


def summary(done: Run) -> str:
    """The text printed at the end of a run."""
    notes = "".join(f"\n{line.note}" for line in done.lines if line.note)
    failed = [line.name for line in done.lines if not line.passed]
    verdict = f"missed: {'; '.join(failed)}" if failed else "all bars are met"
    return f"{notes}\n\n{len(done.lines)} comparisons in {done.seconds:.0f} s, {len(done.skipped)} skipped; {verdict}"


def commit() -> str:
    """The measured commit, followed by a plus if files were changed since."""
    named = _git("rev-parse", "--short", "HEAD")
    return f"{named}+" if named and _git("status", "--porcelain", "--untracked-files=no") else named or "unknown"


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def machine() -> dict[str, str | int | float]:
    """The properties of the machine on which the figures depend."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else -1.0
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "load": round(load, 1),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name"))
    return next(names, platform.machine())


def versions() -> dict[str, str]:
    """The versions of Python, SQLite and the installed packages of both sides."""
    found = {"python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | {"ministack": ministack_version()}
