"""Conversion of a parsed condition to a key condition, or an error if it is not one."""

from __future__ import annotations

from typing import Final, cast

from partita.errors import ValidationFailed
from partita.expressions._ast import (
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    Exists,
    HasType,
    In,
    KeyCondition,
    KeyRange,
    Missing,
    Not,
    Operand,
    Or,
    Path,
    RangeOperator,
    Size,
    Value,
)
from partita.values import AttributeValue

_OPERATORS: Final[dict[type, str]] = {
    Or: "OR",
    Not: "NOT",
    In: "IN",
    Exists: "attribute_exists",
    Missing: "attribute_not_exists",
    HasType: "attribute_type",
    Contains: "contains",
}
_MIRRORED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def key_condition(condition: Condition) -> KeyCondition:
    """Return the key condition that is equivalent to a condition.

    Raises:
        ValidationFailed: the condition consists of more than equalities and one range.
    """
    equal: dict[str, AttributeValue] = {}
    ranges: dict[str, KeyRange] = {}
    for term in _terms(condition):
        operator, name, values = _read(term)
        if name in equal or name in ranges:
            message = "KeyConditionExpressions must only contain one condition per key"
            raise ValidationFailed(f"Invalid KeyConditionExpression: {message}")
        if operator == "=":
            equal[name] = values[0]
        else:
            ranges[name] = KeyRange(name, cast("RangeOperator", operator), values)
    if len(ranges) > 1:
        raise ValidationFailed("Query key condition not supported")
    return KeyCondition(tuple(equal.items()), next(iter(ranges.values()), None))


def _terms(condition: Condition) -> list[Condition]:
    terms: list[Condition] = []
    pending = [condition]
    while pending:
        node = pending.pop()
        if isinstance(node, And):
            pending.extend(reversed(node.terms))
        else:
            terms.append(node)
    return terms


def _read(term: Condition) -> tuple[str, str, tuple[AttributeValue, ...]]:
    """Return the operator, the attribute, and the values with which it is compared."""
    if isinstance(term, Compare) and term.op != "<>":
        name, place, values = _split((term.left, term.right))
        return (term.op if place == 0 else _MIRRORED[term.op]), name, values
    if isinstance(term, Between):
        return "BETWEEN", *_key_first("BETWEEN", (term.operand, term.low, term.high))
    if isinstance(term, BeginsWith):
        return "BEGINS_WITH", *_key_first("begins_with", (term.operand, term.prefix))
    operator = "<>" if isinstance(term, Compare) else _OPERATORS[type(term)]
    raise ValidationFailed(f"Invalid operator used in KeyConditionExpression: {operator}")


def _key_first(operator: str, operands: tuple[Operand, ...]) -> tuple[str, tuple[AttributeValue, ...]]:
    if isinstance(operands[0], Value):
        raise ValidationFailed(
            f"Invalid condition in KeyConditionExpression: {operator} operator must have "
            "the key attribute as its first operand"
        )
    name, _, values = _split(operands)
    return name, values


def _split(operands: tuple[Operand, ...]) -> tuple[str, int, tuple[AttributeValue, ...]]:
    """Return the single attribute among the operands, its position, and the values."""
    if any(isinstance(operand, Size) for operand in operands):
        raise ValidationFailed("KeyConditionExpressions cannot contain nested operations")
    paths = [(operand, place) for place, operand in enumerate(operands) if isinstance(operand, Path)]
    if not paths:
        raise ValidationFailed("Invalid condition in KeyConditionExpression: No key attribute specified")
    path, place = paths[0]
    name, *nested = path.parts
    if nested:
        raise ValidationFailed("KeyConditionExpressions cannot have conditions on nested attributes")
    if len(paths) > 1:
        message = "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"
        raise ValidationFailed(message)
    values = tuple(operand.value for operand in operands if isinstance(operand, Value))
    return str(name), place, values
