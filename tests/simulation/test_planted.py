"""Bugs that are put back are found: past ones of this repository, and those that every textbook warns of."""

from __future__ import annotations

import pytest
from tests.simulation.__main__ import run_planted
from tests.simulation._planted import PLANTED
from tests.simulation._run import Plan

MAX_SEEDS = 60
STEPS = 300


@pytest.mark.parametrize("name", PLANTED)
def test_a_bug_that_is_put_back_is_found(name: str) -> None:
    scenario = PLANTED[name].scenario
    found = (run_planted(Plan(seed, STEPS, scenario), bug=name).failure for seed in range(MAX_SEEDS))
    assert any(failure is not None for failure in found), f"{PLANTED[name].was}: {MAX_SEEDS} seeds have not found it"
