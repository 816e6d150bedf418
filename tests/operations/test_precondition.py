"""Preconditions: which stored versions a caller allows a write to replace."""

from __future__ import annotations

import pytest

from partita import Precondition

pytestmark = pytest.mark.req("T30")


@pytest.mark.parametrize(
    ("precondition", "allowed"),
    [
        (Precondition(frozenset({3, 4})), [3, 4]),
        (Precondition(frozenset()), []),
        (Precondition(), [2, 3, 4, 10**30]),
        (Precondition(frozenset({3, 4}), negated=True), [None, 2, 10**30]),
        (Precondition(frozenset(), negated=True), [None, 2, 3, 4, 10**30]),
        (Precondition(negated=True), [None]),
    ],
)
def test_a_precondition_allows_some_versions(precondition: Precondition, allowed: list[int | None]) -> None:
    versions = [None, 2, 3, 4, 10**30]
    assert [version for version in versions if precondition.allows(version)] == allowed
