"""The checker of transactions: an example of each anomaly, and a comparison with trying every order."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.histories._anomalies import Anomaly, find_anomalies
from tests.histories._brute_force import is_serializable
from tests.histories._history import History, List, Status, Transaction

OK, FAILED, UNKNOWN = Status.OK, Status.FAILED, Status.UNKNOWN


def history(*parts: tuple[Mapping[str, List], Mapping[str, List], tuple[int, int | None], Status]) -> History:
    """Return a history from the appends, reads, interval and status of each transaction."""
    return [
        Transaction(number, f"p{number}", *interval, status, appends, reads)
        for number, (appends, reads, interval, status) in enumerate(parts)
    ]


RIGHT = {
    "nothing": history(),
    "one after another": history(({"x": (1,)}, {}, (1, 2), OK), ({}, {"x": (1,)}, (3, 4), OK)),
    "both or neither": history(
        ({"x": (1,), "y": (2,)}, {}, (1, 9), OK),
        ({}, {"x": (), "y": ()}, (2, 3), OK),
        ({}, {"x": (1,), "y": (2,)}, (4, 5), OK),
    ),
    "an unknown one that happened": history(({"x": (1,)}, {}, (1, None), UNKNOWN), ({}, {"x": (1,)}, (2, 3), OK)),
    "an unknown one that did not": history(({"x": (1,)}, {}, (1, None), UNKNOWN), ({}, {"x": ()}, (2, 3), OK)),
}

WRONG: dict[Anomaly, History] = {
    Anomaly.GARBAGE: history(({}, {"x": (7,)}, (1, 2), OK)),
    Anomaly.ABORTED_READ: history(({"x": (1,)}, {}, (1, 2), FAILED), ({}, {"x": (1,)}, (3, 4), OK)),
    Anomaly.INTERMEDIATE_READ: history(({"x": (1, 2)}, {}, (1, 9), OK), ({}, {"x": (1,)}, (2, 3), OK)),
    Anomaly.INCOMPATIBLE_ORDER: history(
        ({"x": (1,)}, {}, (1, 9), OK),
        ({"x": (2,)}, {}, (1, 9), OK),
        ({}, {"x": (1, 2)}, (1, 9), OK),
        ({}, {"x": (2,)}, (1, 9), OK),
    ),
    Anomaly.DUPLICATE: history(({"x": (1,)}, {}, (1, 2), OK), ({}, {"x": (1, 1)}, (3, 4), OK)),
    Anomaly.WRITE_CYCLE: history(
        ({"x": (1,), "y": (2,)}, {}, (1, 9), OK),
        ({"x": (3,), "y": (4,)}, {}, (1, 9), OK),
        ({}, {"x": (1, 3), "y": (4, 2)}, (10, 11), OK),
    ),
    Anomaly.CIRCULAR_INFORMATION: history(
        ({"x": (1,)}, {"y": (2,)}, (1, 9), OK),
        ({"y": (2,)}, {"x": (1,)}, (1, 9), OK),
    ),
    Anomaly.SINGLE_ANTI_DEPENDENCY: history(
        ({"x": (1,), "y": (2,)}, {}, (1, 9), OK),
        ({}, {"x": (1,), "y": ()}, (1, 9), OK),
        ({}, {"x": (1,), "y": (2,)}, (10, 11), OK),
    ),
    Anomaly.ANTI_DEPENDENCY_CYCLE: history(
        ({"x": (1,)}, {"y": ()}, (1, 9), OK),
        ({"y": (2,)}, {"x": ()}, (1, 9), OK),
        ({}, {"x": (1,), "y": (2,)}, (10, 11), OK),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_serializable_history_has_no_anomalies(name: str) -> None:
    assert find_anomalies(RIGHT[name]) == []


@pytest.mark.parametrize("anomaly", WRONG, ids=lambda anomaly: anomaly.name)
def test_each_anomaly_is_found_by_its_name(anomaly: Anomaly) -> None:
    assert anomaly in {finding.anomaly for finding in find_anomalies(WRONG[anomaly])}


def test_a_stale_read_is_wrong_by_time_alone() -> None:
    stale = history(({"x": (1,)}, {}, (1, 2), OK), ({}, {"x": ()}, (3, 4), OK))
    (found,) = find_anomalies(stale)
    assert found.anomaly is Anomaly.SINGLE_ANTI_DEPENDENCY
    assert "T1 of p1 (ok): read x []" in str(found)
    assert find_anomalies(stale, realtime=False) == []


def test_an_eventually_consistent_read_may_be_stale() -> None:
    write = Transaction(0, "p", 1, 2, OK, {"x": (1,)})
    assert find_anomalies([write, Transaction(1, "q", 3, 4, OK, {}, {"x": ()}, is_current=False)]) == []


def test_a_lost_append_is_found_although_no_read_shows_it() -> None:
    lost = history(({"x": (1,)}, {}, (1, 2), OK), ({"x": (2,)}, {}, (3, 4), OK), ({}, {"x": (2,)}, (5, 6), OK))
    assert find_anomalies(lost)


def test_a_part_of_an_unknown_transaction_is_found() -> None:
    partial = history(({"x": (1,), "y": (2,)}, {}, (0, None), UNKNOWN), ({}, {"x": (), "y": (2,)}, (1, 2), OK))
    assert [found.anomaly for found in find_anomalies(partial)] == [Anomaly.SINGLE_ANTI_DEPENDENCY]


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Generate small histories, most of them nearly correct: each read returns some state of its list."""
    count, made = draw(st.integers(1, 4)), 0
    states: dict[str, list[List]] = {"x": [()], "y": [()]}
    found: History = []
    for number in range(count):
        keys = draw(st.sets(st.sampled_from(("x", "y")), min_size=1))
        begin = draw(st.integers(0, 6))
        status = draw(st.sampled_from((OK, OK, OK, UNKNOWN)))
        end = None if status is UNKNOWN else draw(st.integers(begin + 1, 8))
        appends: dict[str, List] = {}
        reads: dict[str, List] = {}
        for key in sorted(keys):
            if draw(st.booleans()):
                made += 1
                appends[key] = (made,)
                states[key].append((*draw(st.sampled_from(states[key])), made))
            elif status is OK:
                reads[key] = draw(st.sampled_from(states[key]))
        found.append(Transaction(number, "p", begin, end, status, appends, reads))
    return found


@given(history=histories(), realtime=st.booleans())
@settings(max_examples=400, deadline=None)
def test_the_judge_says_what_trying_every_order_says(history: History, *, realtime: bool) -> None:
    assert (not find_anomalies(history, realtime=realtime)) == is_serializable(history, realtime=realtime)
