"""Hypothesis strategies for values, items and every kind of valid expression."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st

from partita.expressions._ast import (
    AddAction,
    And,
    Arithmetic,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    DeleteAction,
    Exists,
    HasType,
    IfNotExists,
    In,
    KeyCondition,
    KeyRange,
    ListAppend,
    Missing,
    Not,
    Operand,
    Or,
    Path,
    Projection,
    SetAction,
    Size,
    Update,
    Value,
)
from partita.values._attribute_values import AttributeValue, Item, number

T = TypeVar("T")
Strategy: TypeAlias = st.SearchStrategy[T]


def tuples_of(elements: Strategy[T], *, least: int = 0, most: int = 3) -> Strategy[tuple[T, ...]]:
    """Tuples of at least `least` and at most `most` elements."""
    return st.lists(elements, min_size=least, max_size=most).map(tuple)


# --- values ---

names: Strategy[str] = st.sampled_from(["a", "b", "c", "status", "and", "a.b", "#0", ":0"]) | st.text(
    min_size=1, max_size=6
)
"""A few common names, so that paths match items; and unusual ones."""


def _in_range(parts: tuple[int, int]) -> int | Decimal:
    return number(Decimal(parts[0]).scaleb(parts[1]))


numbers: Strategy[int | Decimal] = st.integers(-5, 5) | st.tuples(
    st.integers(-(10**27), 10**27), st.integers(-100, 95)
).map(_in_range)
strings: Strategy[str] = st.text(max_size=6)
binaries: Strategy[bytes] = st.binary(max_size=6)
sets: Strategy[frozenset[Any]] = st.one_of(
    st.frozensets(strings, min_size=1, max_size=3),
    st.frozensets(numbers, min_size=1, max_size=3),
    st.frozensets(binaries, min_size=1, max_size=3),
)
scalars: Strategy[AttributeValue] = st.one_of(strings, numbers, binaries, st.booleans(), st.none())
values: Strategy[AttributeValue] = st.recursive(
    scalars | sets,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
items: Strategy[Item] = st.dictionaries(names, values, max_size=5)


# --- paths and operands ---


def _paths_from(heads: Strategy[str]) -> Strategy[Path]:
    tails = tuples_of(names | st.integers(0, 4), most=2)
    return st.builds(lambda head, tail: Path((head, *tail)), heads, tails)


paths: Strategy[Path] = _paths_from(names)
literals: Strategy[Value] = st.builds(Value, values)
operands: Strategy[Operand] = st.one_of(paths, literals, st.builds(Size, paths))


def _same_kind_literals(count: int) -> Strategy[tuple[Value, ...]]:
    kinds: list[Strategy[Any]] = [strings, numbers, binaries]
    return st.one_of(*(st.tuples(*[st.builds(Value, kind)] * count) for kind in kinds))


# --- conditions ---


def _distinct(pair: tuple[Operand, Operand]) -> bool:
    return not (isinstance(pair[0], Path) and pair[0] == pair[1])


def _between(operand: Operand, bounds: tuple[Value, ...]) -> Between:
    low, high = sorted(bounds, key=lambda bound: bound.value)  # type: ignore[arg-type, return-value]
    return Between(operand, low, high)


_texts: Strategy[Operand] = paths | st.builds(Value, strings | binaries)
_comparisons: Strategy[Condition] = st.one_of(
    st.builds(
        lambda op, pair: Compare(op, *pair),
        st.sampled_from(["=", "<>"]),
        st.tuples(operands, operands).filter(_distinct),
    ),
    st.builds(
        lambda op, left, right: Compare(op, left, right[0]),
        st.sampled_from(["<", "<=", ">", ">="]),
        paths | st.builds(Size, paths),
        _same_kind_literals(1),
    ),
    st.builds(_between, paths | st.builds(Size, paths), _same_kind_literals(2)),
    st.builds(In, operands, tuples_of(operands, least=1)),
)
_predicates: Strategy[Condition] = st.one_of(
    st.builds(Exists, paths),
    st.builds(Missing, paths),
    st.builds(HasType, paths, st.sampled_from(["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]).map(Value)),
    st.tuples(_texts, _texts).filter(_distinct).map(lambda pair: BeginsWith(*pair)),
    st.tuples(operands, operands).filter(_distinct).map(lambda pair: Contains(*pair)),
)
conditions: Strategy[Condition] = st.recursive(
    _comparisons | _predicates,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, tuples_of(inner, least=2)),
        st.builds(Or, tuples_of(inner, least=2)),
    ),
    max_leaves=8,
)


# --- updates ---


def _with_functions(inner: Strategy[Operand]) -> Strategy[Operand]:
    unjoined = inner.filter(lambda operand: not isinstance(operand, ListAppend | Value))
    lists: Strategy[Operand] = unjoined | st.builds(Value, st.lists(scalars, max_size=2))
    return st.builds(IfNotExists, paths, inner) | st.builds(ListAppend, lists, lists)


_assignable: Strategy[Operand] = st.recursive(paths | literals, _with_functions, max_leaves=4)
_addable: Strategy[Operand] = st.one_of(
    paths, st.builds(Value, numbers), st.builds(IfNotExists, paths, st.builds(Value, numbers))
)
assigned: Strategy[Operand] = _assignable | st.builds(Arithmetic, st.sampled_from(["+", "-"]), _addable, _addable)


@st.composite
def updates(draw: Callable[[Strategy[Any]], Any]) -> Update:
    """Updates with at least one action and without overlapping paths."""
    heads = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    sections: dict[str, list[Any]] = {"sets": [], "removes": [], "adds": [], "deletes": []}
    for head in heads:
        path = draw(_paths_from(st.just(head)))
        section = draw(st.sampled_from(sorted(sections)))
        actions: dict[str, Strategy[Any]] = {
            "sets": st.builds(SetAction, st.just(path), assigned),
            "removes": st.just(path),
            "adds": st.builds(AddAction, st.just(path), st.builds(Value, numbers | sets)),
            "deletes": st.builds(DeleteAction, st.just(path), st.builds(Value, sets)),
        }
        sections[section].append(draw(actions[section]))
    return Update(**{section: tuple(actions) for section, actions in sections.items()})


# --- projections and key conditions ---

projections: Strategy[Projection] = tuples_of(paths, least=1, most=4).filter(
    lambda chosen: len({path.parts[0] for path in chosen}) == len(chosen)
)


@st.composite
def key_conditions(draw: Callable[[Strategy[Any]], Any]) -> KeyCondition:
    """One to three equalities and perhaps a range, all on different attributes."""
    keys = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    equal = tuple((name, draw(strings | numbers | binaries)) for name in keys[:-1])
    bounds = sorted(bound.value for bound in draw(_same_kind_literals(2)))
    ranges = [
        None,
        KeyRange(keys[-1], draw(st.sampled_from(["<", "<=", ">", ">="])), (bounds[0],)),
        KeyRange(keys[-1], "BETWEEN", tuple(bounds)),
        KeyRange(keys[-1], "BEGINS_WITH", (draw(strings | binaries),)),
    ]
    return KeyCondition(equal, draw(st.sampled_from(ranges)))
