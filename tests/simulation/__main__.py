"""`python -m tests.simulation`: run many seeds; a failure prints a command that repeats a smaller version of the run.

python -m tests.simulation --seeds 0..10000 --steps 100
python -m tests.simulation --seed 4711 --steps 100 --trace
python -m tests.simulation --planted "unsafe retry"
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from msgspec import Struct
from tests.simulation._planted import PLANTED, planted
from tests.simulation._run import SCENARIOS, Plan, Result, simulate
from tests.simulation._shrink import shrink

SEEDS_AT_ONCE = 50
FAILED = 1


class Sum(Struct):
    """The totals of many runs."""

    runs: int = 0
    steps: int = 0
    requests: int = 0
    crashes: int = 0
    days: float = 0.0
    faults: Counter[str] = Counter()

    def add(self, result: Result) -> None:
        """Add the figures of one run."""
        self.runs += 1
        self.steps += result.steps
        self.requests += result.executed
        self.crashes += result.crashes
        self.days += result.seconds / 86_400
        self.faults.update(fault.kind for fault in result.faults)

    def __str__(self) -> str:
        faults = sum(self.faults.values())
        return (
            f"{self.runs:,} seeds, {self.steps:,} steps, {self.requests:,} requests, {faults:,} faults, "
            f"{self.crashes:,} restarts of the server"
        )


def command_of(plan: Plan, bug: str | None = None) -> str:
    """Return the command that repeats a run."""
    parts = [f"python -m tests.simulation --seed {plan.seed} --steps {plan.steps} --scenario {plan.chosen}"]
    parts += [f"--without {','.join(map(str, sorted(plan.without)))}"] if plan.without else []
    parts += [f'--planted "{bug}"'] if bug else []
    return " ".join([*parts, f"--check-every {plan.check_every} --trace"])


def report(result: Result, bug: str | None = None) -> str:
    """Return a description of a failed run: its failure, its faults, and the command that repeats it."""
    lines = [f"FAILED: seed {result.plan.seed} at step {result.steps}, commit {_commit()}", f"  {result.failure}"]
    lines += [f"  {fault}" for fault in result.faults]
    return "\n".join([*lines, f"  run again: {command_of(result.plan, bug)}"])


def _commit() -> str:
    found = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def run_planted(plan: Plan, *, bug: str | None, keep_trace: bool = False) -> Result:
    """Run a plan, with a bug put back if one is named."""
    with planted(bug) as wrap:
        return simulate(plan, wrap=wrap, keep_trace=keep_trace)


def _run_some(plans: Sequence[Plan], bug: str | None) -> list[Result]:
    return [run_planted(plan, bug=bug) for plan in plans]


def _results(plans: Sequence[Plan], jobs: int, bug: str | None) -> Iterable[Result]:
    parts = [plans[start : start + SEEDS_AT_ONCE] for start in range(0, len(plans), SEEDS_AT_ONCE)]
    if jobs == 1:
        for part in parts:
            yield from _run_some(part, bug)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for results in pool.map(partial(_run_some, bug=bug), parts):
            yield from results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run seeds until the maximum number of failures, or to the end."""
    options = _options().parse_args(arguments)
    without = frozenset(int(number) for number in options.without.split(",") if number)
    seeds = [options.seed] if options.seed is not None else range(*map(int, options.seeds.split("..")))
    if options.planted and not options.scenario:
        options.scenario = PLANTED[options.planted].scenario
    plans = [Plan(seed, options.steps, options.scenario, without, options.check_every) for seed in seeds]
    if options.trace:
        return _show(plans[0], options.planted)
    total, began, failures = Sum(), time.monotonic(), 0
    for result in _results(plans, options.jobs, options.planted):
        total.add(result)
        if result.failure is not None:
            failures += 1
            print(report(shrink(result, partial(run_planted, bug=options.planted)), options.planted), flush=True)
            if failures >= options.failures:
                break
        if total.runs % options.progress == 0:
            print(f"{total} in {time.monotonic() - began:.0f} s", flush=True)
    print(f"{total}; {failures} failures in {time.monotonic() - began:.0f} s")
    for kind, count in total.faults.most_common():
        print(f"  {count:9,} {kind}")
    return FAILED if failures else 0


def _show(plan: Plan, bug: str | None) -> int:
    result = run_planted(plan, bug=bug, keep_trace=True)
    print("\n".join(result.trace))
    print(f"{result.steps} steps, trace {result.digest}")
    if result.failure is not None:
        print(report(result, bug))
    return FAILED if result.failure is not None else 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description="Run simulations of many seeds.")
    parser.add_argument("--seeds", default="0..100", help="range of seeds FIRST..LAST, without the last one")
    parser.add_argument("--seed", type=int, help="run only this seed")
    parser.add_argument("--steps", type=int, default=100, help="number of steps with faults; the rest runs without")
    parser.add_argument("--scenario", default="", choices=["", *SCENARIOS], help="default: chosen by the seed")
    parser.add_argument("--without", default="", help="numbers of faults to leave out, as printed with a failure")
    parser.add_argument("--check-every", type=int, default=10, metavar="N", help="check the data every N steps")
    parser.add_argument("--planted", choices=list(PLANTED), help="put a bug back, and look for it")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes that run seeds in parallel")
    parser.add_argument("--failures", type=int, default=1, metavar="N", help="stop after N failures")
    parser.add_argument("--progress", type=int, default=500, metavar="N", help="print the progress every N seeds")
    parser.add_argument("--trace", action="store_true", help="print everything that happens in one seed")
    return parser


if __name__ == "__main__":
    sys.exit(main())
