"""A condition finds the same items as an expression and as PartiQL."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.differential.plays import TEXTS, conditions, items
from tests.wire.support import Caller, Json

from partita import EmbeddedStore
from partita.errors import ValidationFailed
from partita.expressions import _ast as ast
from partita.store import CreateTable, PutItem, ScanTable
from partita.store._dynamodb_json import wire_item, wire_value
from partita.values import Item

PLAYS = 15
CONDITIONS = 12


class Writer:
    """Writes a condition as PartiQL, with the values as parameters."""

    def __init__(self) -> None:
        self.parameters: list[Json] = []

    def condition(self, node: ast.Condition) -> str:
        """Return the text of a condition, with its terms in parentheses."""
        match node:
            case ast.And(terms):
                return " AND ".join(f"({self.condition(term)})" for term in terms)
            case ast.Or(terms):
                return " OR ".join(f"({self.condition(term)})" for term in terms)
            case ast.Not(term):
                return f"NOT ({self.condition(term)})"
            case ast.Exists(path):
                return f"{self.operand(path)} IS NOT MISSING"
            case ast.Missing(path):
                return f"{self.operand(path)} IS MISSING"
        return self._plain(node)

    def _plain(self, node: ast.Condition) -> str:
        match node:
            case ast.Compare(op, left, right):
                return f"{self.operand(left)} {op} {self.operand(right)}"
            case ast.Between(operand, low, high):
                return f"{self.operand(operand)} BETWEEN {self.operand(low)} AND {self.operand(high)}"
            case ast.In(operand, options):
                return f"{self.operand(operand)} IN [{', '.join(map(self.operand, options))}]"
            case ast.HasType(operand, kind):
                return f"attribute_type({self.operand(operand)}, {self.operand(kind)})"
            case ast.BeginsWith(operand, prefix):
                return f"begins_with({self.operand(operand)}, {self.operand(prefix)})"
            case ast.Contains(operand, member):
                return f"contains({self.operand(operand)}, {self.operand(member)})"
        raise AssertionError(node)

    def operand(self, node: ast.Operand) -> str:
        """Return the text of an operand; a value becomes a parameter."""
        match node:
            case ast.Path(parts):
                head, *rest = parts
                return f'"{head}"' + "".join(f"[{each}]" if isinstance(each, int) else f'."{each}"' for each in rest)
            case ast.Size(operand):
                return f"size({self.operand(operand)})"
            case ast.Value(value):
                self.parameters.append(wire_value(value))
                return "?"
        raise AssertionError(node)


def by_expression(store: EmbeddedStore, condition: ast.Condition) -> list[Json] | None:
    """Return the items that a scan finds; None if it is refused."""
    try:
        return in_order(store.execute(ScanTable(TEXTS.name, filter=condition)).items)
    except ValidationFailed:
        return None


def by_statement(call: Caller, condition: ast.Condition) -> list[Json] | None:
    """Return the items that a statement finds; None if it is refused."""
    writer = Writer()
    statement = f'SELECT * FROM "{TEXTS.name}" WHERE {writer.condition(condition)}'  # noqa: S608 - values are parameters
    parameters: dict[str, Any] = {"Parameters": writer.parameters} if writer.parameters else {}
    try:
        return sorted(call("ExecuteStatement", Statement=statement, **parameters)["Items"], key=repr)
    except ValidationFailed:
        return None


def in_order(found: list[Item]) -> list[Json]:
    """Return the items in wire form, sorted."""
    return sorted(map(wire_item, found), key=repr)


@pytest.mark.parametrize("part", range(2))
def test_a_condition_finds_the_same_written_both_ways(part: int) -> None:
    found = 0

    @seed(part)
    @settings(
        max_examples=PLAYS,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(
        st.lists(items(TEXTS), min_size=8, max_size=12),
        st.lists(conditions, min_size=CONDITIONS, max_size=CONDITIONS),
    )
    def play(stored: list[Item], wanted: list[ast.Condition]) -> None:
        nonlocal found
        with EmbeddedStore(":memory:") as store:
            store.execute(CreateTable(TEXTS))
            call = Caller(store)
            for item in stored:
                try:
                    store.execute(PutItem(TEXTS.name, item))
                except ValidationFailed:
                    continue
            for condition in wanted:
                expected = by_expression(store, condition)
                assert by_statement(call, condition) == expected, condition
                found += bool(expected)

    play()
    assert found > PLAYS * CONDITIONS / 4, "most conditions found nothing, which compares little"
