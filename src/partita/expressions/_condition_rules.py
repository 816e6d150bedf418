"""The rules of conditions and filters that can be checked without an item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, get_args

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
    Missing,
    Not,
    Operand,
    Or,
    Path,
    Size,
    Value,
)
from partita.expressions._invalid import (
    InvalidExpression,
    no_condition_function,
    too_many_operators,
    wrong_count,
    wrong_type,
)
from partita.expressions._path_rules import check_path, path_text
from partita.values import Kind, kind_of, number_text, value_size

MAX_OPERATORS: Final = 300
MAX_OPTIONS: Final = 100
_KINDS: Final = frozenset(get_args(Kind))
_ORDERED: Final = frozenset({"S", "N", "B"})
_TEXTUAL: Final = frozenset({"S", "B"})


def check_condition(condition: Condition) -> None:
    """Reject what DynamoDB rejects. Iterative, so that even the deepest tree can be rejected."""
    operators = 0
    pending: list[Condition] = [condition]
    while pending:
        node = pending.pop()
        check = _CHECKS.get(type(node))
        if check is not None:
            operators += 1 + check(node)
        elif isinstance(node, And | Or):
            if len(node.terms) < 2:  # noqa: PLR2004 - it joins at least two terms
                raise wrong_count(type(node).__name__.upper(), len(node.terms))
            operators += len(node.terms) - 1
            pending.extend(reversed(node.terms))
        elif isinstance(node, Not):
            operators += 1
            pending.append(node.term)
        if operators > MAX_OPERATORS:
            raise too_many_operators(operators)


def check_kinds(operator: str, operands: Sequence[Operand], allowed: frozenset[str]) -> None:
    """Reject an operand whose type is already known and is not allowed."""
    for operand in operands:
        kind = kind_of(operand.value) if type(operand) is Value else "N" if type(operand) is Size else None
        if kind is not None and kind not in allowed:
            raise wrong_type(operator, kind)


def _check_operands(*operands: Operand) -> int:
    """Check each operand, and return the number of functions among them."""
    functions = 0
    for operand in operands:
        if type(operand) is Value:
            value_size(operand.value)
        elif type(operand) is Path:
            check_path(operand)
        elif type(operand) is Size:
            check_path(operand.path)
            functions += 1
        else:
            raise no_condition_function("if_not_exists" if type(operand) is IfNotExists else "list_append")
    return functions


def _check_distinct(operator: str, first: Operand, second: Operand) -> None:
    if type(first) is Path and first == second:
        raise InvalidExpression(
            "The first operand must be distinct from the remaining operands for this operator or function; "
            f"operator: {operator}, first operand: {path_text(first)}"
        )


def _check_compare(node: Compare) -> int:
    functions = _check_operands(node.left, node.right)
    _check_distinct(node.op, node.left, node.right)
    if node.op not in {"=", "<>"}:
        check_kinds(node.op, (node.left, node.right), _ORDERED)
    return functions


def _check_between(node: Between) -> int:
    functions = _check_operands(node.operand, node.low, node.high)
    check_kinds("BETWEEN", (node.operand, node.low, node.high), _ORDERED)
    if type(node.low) is Value and type(node.high) is Value:
        _check_bounds(node.low.value, node.high.value)
    return functions


def _check_bounds(low: Any, high: Any) -> None:
    if kind_of(low) != kind_of(high):
        rule = "requires same data type for lower and upper bounds"
    elif low > high:
        rule = "requires upper bound to be greater than or equal to lower bound"
    else:
        return
    raise InvalidExpression(
        f"The BETWEEN operator {rule}; lower bound operand: {_literal_text(low)}, "
        f"upper bound operand: {_literal_text(high)}"
    )


def _literal_text(value: Any) -> str:
    kind = kind_of(value)
    return f"AttributeValue: {{{kind}:{number_text(value) if kind == 'N' else value}}}"


def _check_in(node: In) -> int:
    count = len(node.options)
    if not count:
        raise wrong_count("IN", 1)
    if count > MAX_OPTIONS:
        raise InvalidExpression(f"The IN operator is provided with too many operands; number of operands: {count}")
    return _check_operands(node.operand, *node.options)


def _check_presence(node: Exists | Missing) -> int:
    return _check_operands(node.path)


def _check_has_type(node: HasType) -> int:
    functions = _check_operands(node.operand, node.type)
    _check_distinct("attribute_type", node.operand, node.type)
    check_kinds("attribute_type", (node.type,), frozenset({"S"}))
    if type(node.type) is not Value:
        raise wrong_type("attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")
    if node.type.value not in _KINDS:
        raise InvalidExpression(
            f"Invalid attribute type name found; type: {node.type.value!s}, "
            "valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
        )
    return functions


def _check_begins_with(node: BeginsWith) -> int:
    functions = _check_operands(node.operand, node.prefix)
    _check_distinct("begins_with", node.operand, node.prefix)
    check_kinds("begins_with", (node.operand, node.prefix), _TEXTUAL)
    return functions


def _check_contains(node: Contains) -> int:
    functions = _check_operands(node.operand, node.member)
    _check_distinct("contains", node.operand, node.member)
    return functions


_CHECKS: Final[dict[type, Callable[[Any], int]]] = {
    Compare: _check_compare,
    Between: _check_between,
    In: _check_in,
    Exists: _check_presence,
    Missing: _check_presence,
    HasType: _check_has_type,
    BeginsWith: _check_begins_with,
    Contains: _check_contains,
}
