"""Simulations find bugs that are put back: past bugs of this repository, and bugs from textbooks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.simulation.__main__ import run_planted
from tests.simulation._planted import PLANTED
from tests.simulation._run import Plan, simulate

PAGE = Path(__file__).parents[2] / "docs/simulation.md"
MAX_SEEDS = 60
STEPS = 300


@pytest.mark.parametrize("name", PLANTED)
def test_a_bug_that_is_put_back_is_found(name: str) -> None:
    bug = PLANTED[name]
    plans = (Plan(bug.first_seed + number, STEPS, bug.scenario) for number in range(MAX_SEEDS))
    found = next((plan for plan in plans if run_planted(plan, bug=name).failure is not None), None)
    assert found is not None, f"it was not found in {MAX_SEEDS} seeds: {bug.was}"
    assert simulate(found).failure is None, "the seed fails without the bug, too"


def test_the_page_lists_every_bug() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name, bug in PLANTED.items() if f"| `{name}` | {bug.was} |" not in page] == []
