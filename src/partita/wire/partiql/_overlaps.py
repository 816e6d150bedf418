"""Finds branches of an OR that would read the same items twice."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any, Final, TypeAlias

from msgspec import Struct

from partita.errors import ValidationFailed
from partita.expressions import And, BeginsWith, Between, Compare, Condition, In, Not, Or, Path, Value, paths_in
from partita.values import kind_of

MAX_BRANCHES: Final = 128
"""Conditions with more branches are not checked."""

_Term: TypeAlias = tuple[Condition, bool]


class _Span(Struct, frozen=True):
    """The part of one partition that a branch reads: all of it if there are no bounds."""

    partition: Any
    bounds: tuple[Condition, ...]
    negated: bool


def check_overlaps(where: Condition | None, partition: str, sort: str | None) -> None:
    """Refuse branches of the same partition whose sort key ranges overlap.

    A branch that only excludes sort keys is a filter, and overlaps with no other branch.

    Raises:
        ValidationFailed: two branches overlap.
    """
    branches = [] if where is None or sort is None else _branches(where, negated=False)
    if len(branches) < 2:  # noqa: PLR2004 - a single branch cannot overlap
        return
    spans = [_span(branch, partition, str(sort)) for branch in branches]
    for one, other in combinations((span for span in spans if span is not None), 2):
        if one.partition == other.partition and _meet(one, other):
            raise ValidationFailed("Overlapping conditions with range keys are not supported in where clause")


def _branches(condition: Condition, *, negated: bool) -> list[list[_Term]]:
    """The condition as branches of an OR, each a list of terms that must all be true; empty if there are too many."""
    if isinstance(condition, Not):
        return _branches(condition.term, negated=not negated)
    if isinstance(condition, In) and not negated:
        return [[(Compare("=", condition.operand, option), False)] for option in condition.options]
    if not isinstance(condition, And | Or):
        return [[(condition, negated)]]
    parts = [_branches(term, negated=negated) for term in condition.terms]
    if isinstance(condition, Or) != negated:
        return [branch for part in parts for branch in part]
    count = 1
    for part in parts:
        count *= len(part)
        if count > MAX_BRANCHES:
            return []
    return [[term for branch in chosen for term in branch] for chosen in product(*parts)]


def _span(branch: list[_Term], partition: str, sort: str) -> _Span | None:
    """The part that the branch reads; None if it does not fix the partition."""
    key, bounds, is_negated = None, [], False
    for term, negated in branch:
        match term:
            case Compare("=", Path((name,)), Value(value)) if name == partition and not negated:
                key = value
        if Path((sort,)) in paths_in(term):
            if negated or (isinstance(term, Compare) and term.op == "<>"):
                is_negated = True
            else:
                bounds.append(term)
    return None if key is None else _Span(key, tuple(bounds), is_negated)


def _meet(one: _Span, other: _Span) -> bool:
    if one.negated or other.negated or not (one.bounds or other.bounds):
        return False
    return not any(_apart(first, second) for first in one.bounds for second in other.bounds)


def _apart(first: Condition, second: Condition) -> bool:
    """Whether no sort key can satisfy both."""
    (low, low_open), (high, high_open) = _ends(first)
    (other_low, other_low_open), (other_high, other_high_open) = _ends(second)
    return _before(high, other_low, open_end=high_open or other_low_open) or _before(
        other_high, low, open_end=other_high_open or low_open
    )


def _ends(term: Condition) -> tuple[tuple[Any, bool], tuple[Any, bool]]:
    """The lowest and the highest value of a range, each with whether it is excluded; None if there is no end."""
    match term:
        case Compare("=", Path(), Value(value)):
            return (value, False), (value, False)
        case Compare(("<" | "<=") as op, Path(), Value(value)):
            return (None, False), (value, op == "<")
        case Compare((">" | ">=") as op, Path(), Value(value)):
            return (value, op == ">"), (None, False)
        case Between(Path(), Value(low), Value(high)):
            return (low, False), (high, False)
        case BeginsWith(Path(), Value(str(prefix))):
            return (prefix, False), (prefix + chr(0x10FFFF), False)
    return (None, False), (None, False)


def _before(high: Any, low: Any, *, open_end: bool) -> bool:
    if high is None or low is None or kind_of(high) != kind_of(low):
        return False
    return bool(high < low) or (open_end and bool(high == low))
