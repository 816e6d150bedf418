"""Run targets one after the other, each in its own process, and print the results."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from msgspec import Struct

from fuzz.seeds import FINDINGS, SEEDS, WORDS

FOLDER: Final = Path("build") / "fuzz"
"""The folder of the corpus, with which the next run begins, and of the findings."""

RUNS: Final = 100_000
MAX_BYTES: Final = 1_024
SECONDS_EACH: Final = 30
"""An input that takes longer is a finding."""

_EXECUTED: Final = re.compile(r"^stat::number_of_executed_units: (\d+)$", re.MULTILINE)


class Outcome(Struct, frozen=True):
    """The result of one target."""

    target: str
    executions: int
    findings: tuple[Path, ...]
    corpus: int
    seconds: float

    @property
    def row(self) -> str:
        """The result as a line of the table."""
        figures = f"{self.executions:>12,} {len(self.findings):>8} {self.corpus:>7} {self.seconds:>8.0f}"
        return f"{self.target:<15} {figures}"


def main(arguments: Sequence[str]) -> int:
    """Fuzz the named targets, or all; the exit status is 1 if something was found."""
    options = _options(arguments)
    if find_spec("atheris") is None:
        print("Install the fuzzer first: pip install -c constraints.txt -e '.[fuzz]'", file=sys.stderr)
        return 2
    outcomes = []
    print(f"{'target':<15} {'executions':>12} {'findings':>8} {'corpus':>7} {'seconds':>8}")
    for target in options.targets or SEEDS:
        outcomes.append(run(target, options.runs, options.seed))
        print(outcomes[-1].row, flush=True)
    print(f"{'in all':<15} {sum(outcome.executions for outcome in outcomes):>12,}")
    found = [path for outcome in outcomes for path in outcome.findings]
    print("".join(f"{path}: {_last_line(path)}\n" for path in found), end="")
    return 1 if found else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Fuzz targets, and print the results.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"any of {', '.join(SEEDS)}; all by default")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"number of executions of each target ({RUNS:,})")
    parser.add_argument("--seed", type=int, default=1, help="the same seed tries the same inputs (1)")
    options = parser.parse_args(arguments)
    if unknown := set(options.targets) - set(SEEDS):
        parser.error(f"there is no target {', '.join(sorted(unknown))}")
    return options


def run(target: str, runs: int, seed: int) -> Outcome:
    """Fuzz one target."""
    folder = FOLDER / target
    corpus, findings, log = folder / "corpus", folder / "findings", folder / "log.txt"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    for old in findings.iterdir():
        old.unlink()
    _write_seeds(target, corpus)
    _write_words(target, folder / "words.txt")
    start = time.perf_counter()
    with log.open("w") as output:
        command = [sys.executable, "-m", "fuzz.worker", target, str(findings), *_libfuzzer(folder, runs, seed)]
        ended = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False)
    found = [*sorted(findings.glob("*.txt")), *([log] if ended.returncode else [])]
    return Outcome(
        target, _executions(log), tuple(found), len([*corpus.iterdir()]), seconds=time.perf_counter() - start
    )


def _libfuzzer(folder: Path, runs: int, seed: int) -> list[str]:
    """The arguments of libFuzzer; the last one is the folder of the corpus."""
    return [
        f"-runs={runs}",
        f"-seed={seed}",
        f"-dict={folder / 'words.txt'}",
        f"-max_len={MAX_BYTES}",
        f"-timeout={SECONDS_EACH}",
        f"-artifact_prefix={folder / 'findings'}/",
        "-print_final_stats=1",
        str(folder / "corpus"),
    ]


def _write_seeds(target: str, corpus: Path) -> None:
    for number, seed in enumerate((*SEEDS[target], *FINDINGS[target])):
        (corpus / f"seed-{number}").write_bytes(seed)


def _write_words(target: str, path: Path) -> None:
    """Write libFuzzer's dictionary: the words of which inputs are made."""
    path.write_text("".join(f'"{_escaped(word)}"\n' for word in WORDS[target]))


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def _last_line(path: Path) -> str:
    return path.read_text(errors="replace").strip().rpartition("\n")[2]


def _executions(log: Path) -> int:
    counted = _EXECUTED.search(log.read_text(errors="replace"))
    return int(counted[1]) if counted else 0
