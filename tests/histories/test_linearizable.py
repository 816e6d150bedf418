"""The checker of one item: example histories, and a comparison with trying every order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.histories._brute_force import has_order
from tests.histories._linearizable import Operation, is_linearizable, register


def op(kind: str, interval: tuple[float, float | None], value: object = None, told: object = None) -> Operation:
    return Operation("p", *interval, kind, value, told)


RIGHT = {
    "nothing": [],
    "a read of nothing": [op("read", (1, 2))],
    "one after another": [op("write", (1, 2), 5), op("read", (3, 4), told=5)],
    "a read beside a write may see either": [
        op("write", (1, 9), 5),
        op("read", (2, 3), told=None),
        op("read", (4, 5), told=5),
    ],
    "a write without a response may have happened": [op("write", (1, None), 5), op("read", (2, 3), told=5)],
    "or not": [op("write", (1, None), 5), op("read", (2, 3), told=None)],
    "or later": [op("write", (1, None), 5), op("read", (2, 3), told=None), op("read", (4, 5), told=5)],
    "sums in any order": [op("add", (1, 9), 2, 5), op("add", (1, 9), 3, 3), op("read", (10, 11), told=5)],
    "one of two conditions holds": [
        op("write", (1, 2), 1),
        op("replace", (3, 9), (1, 2), told=True),
        op("replace", (3, 9), (1, 3), told=False),
    ],
}

WRONG = {
    "a stale read": [op("write", (1, 2), 5), op("write", (3, 4), 6), op("read", (5, 6), told=5)],
    "back and forth": [
        op("write", (1, 9), 5),
        op("read", (2, 3), told=5),
        op("read", (4, 5), told=None),
    ],
    "a lost update": [op("add", (1, 2), 2, 2), op("add", (3, 4), 3, 3)],
    "a lost update that only a read shows": [op("add", (1, 4), 2), op("add", (1, 4), 3), op("read", (5, 6), told=3)],
    "two conditions that exclude each other": [
        op("write", (1, 2), 1),
        op("replace", (3, 9), (1, 2), told=True),
        op("replace", (3, 9), (1, 3), told=True),
    ],
    "a write from nowhere": [op("read", (1, 2), told=5)],
    "an unknown write that is undone": [
        op("write", (1, None), 5),
        op("read", (2, 3), told=5),
        op("read", (4, 5), told=None),
    ],
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_history_that_can_be_explained_is_right(name: str) -> None:
    assert is_linearizable(RIGHT[name])


@pytest.mark.parametrize("name", WRONG)
def test_a_history_that_cannot_be_explained_is_wrong(name: str) -> None:
    assert not is_linearizable(WRONG[name])


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    begin = draw(st.integers(0, 8))
    end = draw(st.none() | st.integers(begin + 1, 10))
    kind = draw(st.sampled_from(("read", "write", "add", "replace")))
    number = st.integers(1, 2)
    value: object = draw(st.tuples(st.none() | number, number) if kind == "replace" else number)
    told: object = draw(st.booleans() if kind == "replace" else st.none() | number)
    return Operation("p", begin, end, kind, value, told)


@given(history=st.lists(operations(), max_size=5))
@settings(max_examples=300, deadline=None)
def test_the_judge_says_what_trying_every_order_says(history: list[Operation]) -> None:
    assert is_linearizable(history) == has_order(history, register)
