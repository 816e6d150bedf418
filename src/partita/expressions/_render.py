"""Rendering of expressions to DynamoDB's text.

Every attribute name becomes a placeholder, so reserved words and special characters need no treatment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from partita.expressions._ast import (
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
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
    Size,
    Update,
    Value,
)
from partita.values import AttributeValue


class RenderedExpression(Struct, frozen=True):
    """One expression as text, with the names and values of its placeholders."""

    text: str
    names: dict[str, str]
    values: dict[str, AttributeValue]


def render(expression: Condition | Update | Projection | KeyCondition) -> RenderedExpression:
    """Render a single expression."""
    renderer = Renderer()
    if isinstance(expression, Update):
        text = renderer.update(expression)
    elif isinstance(expression, KeyCondition):
        text = renderer.key_condition(expression)
    elif isinstance(expression, tuple):
        text = renderer.projection(expression)
    else:
        text = renderer.condition(expression)
    return RenderedExpression(text, renderer.names, renderer.values)


class Renderer:
    """Renders the expressions of one request, which share their placeholders.

    `names` and `values` must be sent with them. A name has one placeholder, however often it occurs.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, AttributeValue] = {}
        self._placeholders: dict[str, str] = {}

    def condition(self, condition: Condition) -> str:
        """Render a ConditionExpression or FilterExpression."""
        return _CONDITIONS[type(condition)](self, condition)

    def update(self, update: Update) -> str:
        """Render an UpdateExpression; if nothing changes it is empty, and must not be sent."""
        sections = {
            "SET": [f"{self._path(action.path)} = {self._operand(action.operand)}" for action in update.sets],
            "REMOVE": [self._path(path) for path in update.removes],
            "ADD": [f"{self._path(action.path)} {self._value(action.value.value)}" for action in update.adds],
            "DELETE": [f"{self._path(action.path)} {self._value(action.value.value)}" for action in update.deletes],
        }
        return " ".join(f"{section} {', '.join(actions)}" for section, actions in sections.items() if actions)

    def projection(self, projection: Projection) -> str:
        """Render a ProjectionExpression."""
        return ", ".join(map(self._path, projection))

    def key_condition(self, condition: KeyCondition) -> str:
        """Render a KeyConditionExpression."""
        terms = [f"{self._name(name)} = {self._value(value)}" for name, value in condition.equal]
        if condition.range is not None:
            terms.append(self._key_range(condition.range))
        return " AND ".join(terms)

    def _key_range(self, key_range: KeyRange) -> str:
        name = self._name(key_range.name)
        values = [self._value(value) for value in key_range.values]
        if key_range.op == "BETWEEN":
            return f"{name} BETWEEN {values[0]} AND {values[1]}"
        if key_range.op == "BEGINS_WITH":
            return f"begins_with({name}, {values[0]})"
        return f"{name} {key_range.op} {values[0]}"

    def _name(self, name: str) -> str:
        placeholder = self._placeholders.get(name)
        if placeholder is None:
            placeholder = self._placeholders[name] = f"#{len(self.names)}"
            self.names[placeholder] = name
        return placeholder

    def _value(self, value: AttributeValue) -> str:
        placeholder = f":{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def _path(self, path: Path) -> str:
        parts = [f".{self._name(part)}" if isinstance(part, str) else f"[{part}]" for part in path.parts]
        return "".join(parts).removeprefix(".")

    def _operand(self, operand: Operand) -> str:
        if isinstance(operand, Path):
            return self._path(operand)
        if isinstance(operand, Value):
            return self._value(operand.value)
        if isinstance(operand, Size):
            return f"size({self._path(operand.path)})"
        if isinstance(operand, IfNotExists):
            return f"if_not_exists({self._path(operand.path)}, {self._operand(operand.default)})"
        if isinstance(operand, ListAppend):
            return f"list_append({self._operand(operand.first)}, {self._operand(operand.second)})"
        return f"{self._operand(operand.left)} {operand.sign} {self._operand(operand.right)}"

    def _compare(self, node: Compare) -> str:
        return f"{self._operand(node.left)} {node.op} {self._operand(node.right)}"

    def _between(self, node: Between) -> str:
        return f"{self._operand(node.operand)} BETWEEN {self._operand(node.low)} AND {self._operand(node.high)}"

    def _in(self, node: In) -> str:
        return f"{self._operand(node.operand)} IN ({', '.join(map(self._operand, node.options))})"

    def _exists(self, node: Exists) -> str:
        return f"attribute_exists({self._path(node.path)})"

    def _missing(self, node: Missing) -> str:
        return f"attribute_not_exists({self._path(node.path)})"

    def _has_type(self, node: HasType) -> str:
        return f"attribute_type({self._operand(node.operand)}, {self._operand(node.type)})"

    def _begins_with(self, node: BeginsWith) -> str:
        return f"begins_with({self._operand(node.operand)}, {self._operand(node.prefix)})"

    def _contains(self, node: Contains) -> str:
        return f"contains({self._operand(node.operand)}, {self._operand(node.member)})"

    def _joined(self, node: And | Or) -> str:
        """Render a conjunction or disjunction, with one call per level, to stay far from the recursion limit."""
        grouped = (And, Or) if isinstance(node, And) else (Or,)
        terms = []
        for term in node.terms:
            text = _CONDITIONS[type(term)](self, term)
            terms.append(f"({text})" if isinstance(term, grouped) else text)
        return (" AND " if isinstance(node, And) else " OR ").join(terms)

    def _not(self, node: Not) -> str:
        return f"NOT ({_CONDITIONS[type(node.term)](self, node.term)})"


_CONDITIONS: Final[dict[type, Callable[[Renderer, Any], str]]] = {
    Compare: Renderer._compare,  # noqa: SLF001 - the table belongs to the class
    Between: Renderer._between,  # noqa: SLF001
    In: Renderer._in,  # noqa: SLF001
    Exists: Renderer._exists,  # noqa: SLF001
    Missing: Renderer._missing,  # noqa: SLF001
    HasType: Renderer._has_type,  # noqa: SLF001
    BeginsWith: Renderer._begins_with,  # noqa: SLF001
    Contains: Renderer._contains,  # noqa: SLF001
    And: Renderer._joined,  # noqa: SLF001
    Or: Renderer._joined,  # noqa: SLF001
    Not: Renderer._not,  # noqa: SLF001
}
