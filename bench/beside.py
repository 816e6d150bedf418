"""Compare each line of the harness with the same line of another checkout: what a change has cost.

    git worktree add ../before COMMIT && make -C ../before setup
    python -m bench.beside ../before                   # all suites that both have
    python -m bench.beside ../before reads writes      # some of them

Both checkouts set up a line, each in its own process and environment. Then they measure alternately, so that noise
affects both, and the ratio of a line is the median over its rounds. It must be at most 1.05. A line is meaningful only
if both checkouts measure it in the same way, which you have to check. Lines that a checkout cannot run are left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Final

import click

from bench._compare import duration
from bench._run import ROOT, prepare_process

SUITES: Final = ("reads", "imports", "scale", "events", "cdc", "remote", "writes", "wire")
OF_PROGRAMS: Final = ("imports",)
"""Suites that measure whole programs: the harness of this checkout measures the programs of both."""
MOST: Final = 1.05
ROUNDS: Final = 31
RENAMED: Final = {"import a model, a session and a store, to boto3": "import all that a model needs, to boto3"}
"""Lines that had a different name before: the new name, and the old one."""
SECONDS: Final = 20.0
"""The time limit for the rounds of a line, which has at least five rounds in any case."""

_LINES: Final = """
import importlib, os, sys, tempfile
from pathlib import Path

said, heard = os.fdopen(os.dup(1), "w", buffering=1), os.fdopen(os.dup(0))
os.dup2(2, 1)
suite = importlib.import_module("bench." + sys.argv[1])
own = suite.compare
missing = AssertionError if sys.argv[2:] else ()  # a program that this checkout does not have


def measured(name, bar, ours, theirs, **_):
    try:
        ours()
    except missing:
        return None
    said.write("line " + name + "\\n")
    while (order := heard.readline().strip()) != "next":
        if not order:
            raise SystemExit
        said.write(repr(ours()) + "\\n")
    return own(name, bar, ours, theirs, repetitions=3)


suite.compare = measured
with tempfile.TemporaryDirectory(prefix="partita-beside-") as folder:
    try:
        for _ in suite.comparisons(Path(folder)):
            pass  # each comparison is measured when it is created
    except missing:
        pass
said.write("end\\n")
"""
"""Runs in both checkouts, so it uses only what both have: `comparisons` of a suite, which calls `compare`."""


class Checkout:
    """One suite of one checkout, positioned at a line or at the end."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._orders, self._said = process.stdin, process.stdout
        self.line = self._next()

    def _next(self) -> str | None:
        said = self._said.readline().rstrip("\n")
        return said.removeprefix("line ") if said.startswith("line ") else None

    def measure(self) -> float:
        """Measure one round of the current line, and return its seconds."""
        self._order("measure")
        return float(self._said.readline())

    def go_on(self) -> None:
        """Go to the next line."""
        self._order("next")
        self.line = self._next()

    def _order(self, word: str) -> None:
        self._orders.write(f"{word}\n")
        self._orders.flush()


@contextmanager
def opened(tree: Path, suite: str) -> Iterator[Checkout]:
    """Open a suite of a checkout at its first line."""
    of_programs = suite in OF_PROGRAMS
    command = [str(tree / ".venv" / "bin" / "python"), "-c", _LINES, suite, *(["of programs"] if of_programs else [])]
    harness = ROOT if of_programs else tree
    with subprocess.Popen(
        command,
        cwd=harness,
        env=os.environ | {"PYTHONPATH": str(harness)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Checkout(process)  # closing its standard input tells it to stop what it has started, and end
    if process.returncode:
        raise click.ClickException(f"The suite {suite} of {tree} failed.")


def compared(suite: str, now: Path, before: Path) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Yield each line that both checkouts have, with the seconds of each round now and before."""
    with ExitStack() as open_until_end:
        ours, theirs = (open_until_end.enter_context(opened(tree, suite)) for tree in (now, before))
        while ours.line is not None and theirs.line is not None:
            if theirs.line in (ours.line, RENAMED.get(ours.line)):
                yield ours.line, _rounds(ours, theirs)
                theirs.go_on()
            ours.go_on()


def _rounds(now: Checkout, before: Checkout) -> list[tuple[float, float]]:
    rounds: list[tuple[float, float]] = []
    started = _elapsed()
    while len(rounds) < ROUNDS and (len(rounds) < 5 or _elapsed() - started < SECONDS):
        rounds.append((now.measure(), before.measure()))
    return rounds


def _elapsed() -> float:
    return os.times().elapsed


@click.command()
@click.argument("before", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("names", nargs=-1, type=click.Choice(SUITES), metavar="[SUITE]...")
def main(before: Path, names: tuple[str, ...]) -> None:
    """Measure each line in this checkout and in BEFORE, alternately; fail if one takes more than 1.05 times as long."""
    prepare_process()
    click.echo(f"{'what':<52} {'now':>10} {'before':>10} {'ratio':>7}  half of the rounds")
    dearer = []
    for suite in names or SUITES:
        for name, rounds in compared(suite, ROOT, before.resolve()):
            low, ratio, high = quantiles([a / b for a, b in rounds], method="inclusive")
            times = (duration(median(side)) for side in zip(*rounds, strict=True))
            click.echo(
                f"{name:<52} {' '.join(f'{each:>10}' for each in times)} {ratio:>6.2f}x  {low:.2f} to {high:.2f}"
            )
            if ratio > MOST:
                dearer.append(name)
    click.echo(f"more than {MOST:g} times as long: {'; '.join(dearer) or 'none'}")
    sys.exit(1 if dearer else 0)


if __name__ == "__main__":
    main()
