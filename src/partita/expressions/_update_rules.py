"""The rules of updates that can be checked without an item."""

from __future__ import annotations

from typing import Final

from partita.expressions._ast import Arithmetic, IfNotExists, ListAppend, Operand, Path, Size, Update, Value
from partita.expressions._condition_rules import MAX_OPERATORS, check_kinds
from partita.expressions._invalid import (
    InvalidExpression,
    misused,
    nested_too_deeply,
    no_update_function,
    too_many_operators,
)
from partita.expressions._path_rules import check_overlaps, check_path
from partita.values import AttributeValue, Kind, kind_of, value_size

MAX_NESTED_FUNCTIONS: Final = 32
_LONG_NAMES: Final[dict[Kind, str]] = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "BOOL": "BOOLEAN",
    "NULL": "NULL",
    "L": "LIST",
    "M": "MAP",
}


def check_update(update: Update) -> None:
    """Reject what DynamoDB rejects."""
    paths = [
        *(action.path for action in update.sets),
        *update.removes,
        *(action.path for action in update.adds),
        *(action.path for action in update.deletes),
    ]
    for path in paths:
        check_path(path)
    check_overlaps(paths)
    for addition in update.adds:
        _check_literal("ADD", addition.value.value, ("N", "SS", "NS", "BS"))
    for deletion in update.deletes:
        _check_literal("DELETE", deletion.value.value, ("SS", "NS", "BS"))
    operators = 0
    for action in update.sets:
        operand = action.operand
        if type(operand) is not Value:
            operators += _check_operand(operand)
        elif type(operand.value) is not str or not operand.value.isascii():  # ASCII text, the most frequent, is valid
            value_size(operand.value)
    if operators > MAX_OPERATORS:
        raise too_many_operators(operators)


def _check_literal(operator: str, value: AttributeValue, allowed: tuple[Kind, ...]) -> None:
    value_size(value)
    kind = kind_of(value)
    if kind not in allowed:
        raise InvalidExpression(
            f"Incorrect operand type for operator or function; operator: {operator}, "
            f"operand type: {_LONG_NAMES[kind]}, typeSet: ALLOWED_FOR_{operator}_OPERAND"
        )


def _check_operand(operand: Operand, depth: int = 0) -> int:
    """Check the operand that a SET assigns, and return the number of its operators and functions."""
    if type(operand) is Value:
        value_size(operand.value)
        return 0
    if type(operand) is Path:
        check_path(operand)
        return 0
    if depth > MAX_NESTED_FUNCTIONS:
        raise nested_too_deeply()
    if type(operand) is IfNotExists:
        check_path(operand.path)
        return 1 + _check_operand(operand.default, depth + 1)
    if type(operand) is Size:
        raise no_update_function("size")
    return 1 + _check_both(operand, depth)


def _check_both(operand: Operand, depth: int) -> int:
    if type(operand) is ListAppend:
        name, sides, kind = "list_append", (operand.first, operand.second), "L"
    else:
        assert type(operand) is Arithmetic  # noqa: S101 - the only remaining type
        name, sides, kind = operand.sign, (operand.left, operand.right), "N"
        if depth:
            raise misused(operand.sign)
    for side in sides:
        if type(side) is ListAppend:
            raise misused("list_append")
    check_kinds(name, sides, frozenset({kind}))
    return sum(_check_operand(side, depth + 1) for side in sides)
