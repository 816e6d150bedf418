"""Hundreds of shards that split and merge, on workers that are killed and paused, all determined by a seed.

The sink of the simulation refuses a change that is not the next one of its key, so each run also proves the order.
"""

from __future__ import annotations

import pytest
from tests.change.shared.simulation import ONE_AT_A_TIME, Faults, simulate

from partita.change.shared import LeasePolicy


@pytest.mark.req("T41")
@pytest.mark.parametrize("seed", [3, 4])  # 3: sequences with gaps; 4: sequences that count the records
def test_nothing_is_lost_or_counted_twice(seed: int) -> None:
    outcome = simulate(seed, seconds=120, faults=Faults(kill=15, stand_still=15, crash=20))
    assert outcome.shards > 200
    assert outcome.kills + outcome.pauses > 8
    assert outcome.spread <= 1


@pytest.mark.req("T41")
def test_after_one_fault_the_lag_is_bounded() -> None:
    outcome = simulate(2, seconds=90, faults=ONE_AT_A_TIME)
    policy = LeasePolicy()
    assert outcome.kills + outcome.pauses > 0
    assert outcome.max_lag <= policy.takeover_seconds + 2 * policy.every


def test_without_faults_the_lag_is_a_look_or_two() -> None:
    policy = LeasePolicy()
    outcome = simulate(0, seconds=40, shards=40, faults=Faults(kill=0, stand_still=0, crash=0, reshard=2))
    assert outcome.max_lag <= 3 * policy.every


def test_a_seed_decides_everything() -> None:
    assert simulate(7, seconds=60, shards=12) == simulate(7, seconds=60, shards=12)
