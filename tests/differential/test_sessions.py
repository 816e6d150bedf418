"""Both kinds of sessions have the same results, errors and consumption for random operations."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.differential.model import PROJECTS, Play, plays, reads
from tests.differential.test_random_model import SECRET, as_outcome, stored

from partita import AsyncSession, EmbeddedStore, Session
from partita.errors import PartitaError
from partita.session import Consumption
from partita.testing import FakeClock

PLAYS = 4
STEPS = 30


def blocking(db: Session, play: Play) -> tuple[Any, list[Consumption]]:
    """Run an operation in a session; return the result or the error, and the consumption."""
    with db.meter.watch() as seen:
        try:
            return as_outcome(db.run(play)), seen
        except PartitaError as error:
            return (type(error), error.message), seen


async def awaited(db: AsyncSession, play: Play) -> tuple[Any, list[Consumption]]:
    """Run an operation in an asynchronous session; return the result or the error, and the consumption."""
    with db.meter.watch() as seen:
        try:
            return as_outcome(await db.run(play)), seen
        except PartitaError as error:
            return (type(error), error.message), seen


@pytest.mark.parametrize("part", range(2))
def test_both_kinds_of_sessions_do_the_same(part: int) -> None:
    refused = 0

    async def compare(script: list[Play]) -> None:
        nonlocal refused
        clock = FakeClock()
        with EmbeddedStore(":memory:", clock=clock) as first, EmbeddedStore(":memory:", clock=clock) as second:
            one, other = Session(first, clock=clock, secret=SECRET), AsyncSession(second, clock=clock, secret=SECRET)
            one.create_tables([PROJECTS])
            Session(second).create_tables([PROJECTS])
            for play in [*script, *reads()]:
                expected, consumed = blocking(one, play)
                assert await awaited(other, play) == (expected, consumed), play
                refused += isinstance(expected, tuple) and isinstance(expected[0], type)
            assert stored(first) == stored(second)

    @seed(part)
    @settings(
        max_examples=PLAYS,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(st.lists(plays, min_size=STEPS, max_size=STEPS))
    def play(script: list[Play]) -> None:
        asyncio.run(compare(script))

    play()
    assert refused, "no error was compared"
