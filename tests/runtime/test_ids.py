"""Identifiers: ULIDs that sort by their time of creation, and are unique."""

from __future__ import annotations

import re
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.model.sample import steady

from partita import Ulids, new_ulid
from partita.testing import FakeClock

instants = st.integers(0, 2**48 - 1)


@steady
@given(instants, instants, st.integers())
def test_identifiers_sort_by_the_millisecond_they_were_made_in(first: int, second: int, seed: int) -> None:
    clock = FakeClock()
    make = Ulids(clock, Random(seed))
    made = []
    for instant in (first, second):
        clock.set(instant / 1000)
        made.append((int(clock() * 1000), make()))
    (at_first, one), (at_second, other) = made
    is_later = at_second >= at_first - 1000  # a step back of up to a second counts as the same instant
    assert (one < other) is is_later


def test_identifiers_of_one_millisecond_sort_in_the_order_they_were_made_in() -> None:
    make = Ulids(FakeClock())
    made = [make() for _ in range(1000)]
    assert made == sorted(made)


def test_a_clock_that_is_set_back_a_little_does_not_change_the_order() -> None:
    clock = FakeClock(1000.0)
    make = Ulids(clock)
    made = []
    for second in (1000.0, 999.5, 999.1, 1000.001):
        clock.set(second)
        made.append(make())
    assert made == sorted(made)


@steady
@given(instants, st.integers())
def test_an_identifier_is_a_ulid(instant: int, seed: int) -> None:
    clock = FakeClock(instant / 1000)
    assert re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", Ulids(clock, Random(seed))())


def test_identifiers_of_one_instant_differ() -> None:
    make = Ulids(FakeClock())
    assert len({make() for _ in range(1000)}) == 1000


def test_in_a_block_identifiers_follow_from_clock_and_random_numbers() -> None:
    before = new_ulid()
    with new_ulid.using(lambda: 1.0, Random(7)):
        first = [new_ulid(), new_ulid()]
    with new_ulid.using(lambda: 1.0, Random(7)):
        assert [new_ulid(), new_ulid()] == first
    assert first == sorted(first)
    assert new_ulid() > before
