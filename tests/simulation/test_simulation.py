"""Simulations: invariants hold, the same seed repeats the same run, and a failed run is reduced and repeated."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path

import pytest
from tests.simulation.__main__ import command_of, main, report, run_planted
from tests.simulation._run import SCENARIOS, Plan, simulate
from tests.simulation._shrink import shrink

SEEDS = {"lake": 2, "commitcollect": 5, "countries": 5}
DEFAULT_SEEDS = 10
STEPS = 250
PARTS = 3
"""The tests simulate a fixed number of steps, not a fixed time, so that the speed of the machine does not matter."""


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_is_violated(scenario: str, part: int) -> None:
    seeds = SEEDS.get(scenario, DEFAULT_SEEDS)
    for seed in range(part * seeds, (part + 1) * seeds):
        result = simulate(Plan(seed, STEPS, scenario))
        assert result.failure is None, report(result)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_one_seed_is_one_run(scenario: str) -> None:
    first, second, other = (simulate(Plan(seed, STEPS, scenario)) for seed in (7, 7, 8))
    assert first == second
    assert first.digest != other.digest


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_run_leaves_no_file_open(scenario: str) -> None:
    simulate(Plan(1, STEPS, scenario))
    before = len(list(Path("/proc/self/fd").iterdir()))
    for seed in range(3):
        simulate(Plan(seed, STEPS, scenario))
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_things_do_go_wrong() -> None:
    """Check that faults happen, so that the tests above can fail."""
    kinds = {fault.kind for seed in range(12) for fault in simulate(Plan(seed, STEPS, "events")).faults}
    assert {"lose request", "lose response", "late request", "duplicate", "power loss", "kill worker"} <= kinds


def test_a_failure_is_made_smaller_and_runs_again(capsys: pytest.CaptureFixture[str]) -> None:
    run = partial(run_planted, bug="tokens forgotten")
    failed = next(result for seed in range(50) if (result := run(Plan(seed, STEPS, "items"))).failure is not None)
    smaller = shrink(failed, run)
    assert smaller.failure is not None
    assert len(smaller.faults) < max(len(failed.faults), 2)
    assert run(smaller.plan) == smaller
    command = command_of(smaller.plan, "tokens forgotten")
    assert main(shlex.split(command)[3:]) == 1
    assert f"trace {smaller.digest}" in capsys.readouterr().out
    assert command in report(smaller, "tokens forgotten")


def test_the_command_runs_seeds_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seeds", "0..6", "--steps", "30", "--progress", "3"]) == 0
    said = capsys.readouterr().out
    assert "3 seeds" in said
    assert "6 seeds" in said
    assert "0 failures" in said
