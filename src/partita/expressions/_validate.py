"""The rules of expressions that need no item, in DynamoDB's order and words.

| Rule | Limit |
| --- | --- |
| operators and functions of one expression | 300 |
| parts of one path | 32 |
| functions inside functions | 32 |
| options of one IN | 100 |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, get_args

from partita._sizes import value_size
from partita._values import MAX_DEPTH, AttributeValue, Kind, kind_of, number_text
from partita.errors import ValidationFailed
from partita.expressions._ast import (
    And,
    Arithmetic,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    Exists,
    HasType,
    IfNotExists,
    In,
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

MAX_OPERATORS: Final = 300
MAX_OPTIONS: Final = 100
MAX_LIST_INDEX: Final = 2**31 - 1
_KINDS: Final = frozenset(get_args(Kind))
_ORDERED: Final = frozenset({"S", "N", "B"})
_TEXTUAL: Final = frozenset({"S", "B"})
_LONG_NAMES: Final[dict[Kind, str]] = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "BOOL": "BOOLEAN",
    "NULL": "NULL",
    "L": "LIST",
    "M": "MAP",
}


def validate_condition(condition: Condition, *, what: str = "ConditionExpression") -> None:
    """Check a condition or filter; `what` names it in the message.

    Raises:
        ValidationFailed: it breaks a rule of DynamoDB's.
    """
    try:
        _check_condition(condition)
    except _Broken as rule:
        raise ValidationFailed(f"Invalid {what}: {rule}") from None


def validate_update(update: Update) -> None:
    """Check an update.

    Raises:
        ValidationFailed: it breaks a rule of DynamoDB's.
    """
    try:
        _check_update(update)
    except _Broken as rule:
        raise ValidationFailed(f"Invalid UpdateExpression: {rule}") from None


def validate_projection(projection: Projection) -> None:
    """Check a projection.

    Raises:
        ValidationFailed: it breaks a rule of DynamoDB's.
    """
    try:
        for path in projection:
            _check_path(path)
        _check_overlaps(projection)
    except _Broken as rule:
        raise ValidationFailed(f"Invalid ProjectionExpression: {rule}") from None


class _Broken(Exception):
    """A broken rule, before it is known in which expression."""


def _check_operators(count: int) -> None:
    if count > MAX_OPERATORS:
        raise _Broken(f"The expression contains too many operators; operator count: {count}")


# --- paths and values ---


def _path_text(path: Path) -> str:
    return f"[{', '.join(part if isinstance(part, str) else f'[{part}]' for part in path.parts)}]"


def _check_path(path: Path) -> None:
    if not path.parts:
        raise _Broken("The document path has no element(s);")
    if not isinstance(path.parts[0], str):
        raise _Broken("The document path does not start with a map element;")
    if len(path.parts) > MAX_DEPTH:
        raise _Broken(f"The document path has too many nesting levels; nesting levels: {len(path.parts)}")
    for part in path.parts:
        if part == "":
            raise _Broken("The document path has an empty attribute name;")
        if isinstance(part, int) and not 0 <= part <= MAX_LIST_INDEX:
            raise _Broken(f"List index is not within the allowable range; index: [{part}]")


def _check_overlaps(paths: Sequence[Path]) -> None:
    if len(paths) < 2:  # noqa: PLR2004 - it takes two
        return
    # In this order a path stands right before the first one that it contains or contradicts.
    order = {
        place: [(isinstance(part, int), part) for part in path.parts] for place, path in enumerate(paths)
    }
    for pair in pairwise(sorted(order, key=order.__getitem__)):
        one, two = (paths[place] for place in sorted(pair))
        differing = ((a, b) for a, b in zip(one.parts, two.parts, strict=False) if a != b)
        first = next(differing, None)
        if first is None or type(first[0]) is not type(first[1]):
            clash = "overlap" if first is None else "conflict"
            raise _Broken(
                f"Two document paths {clash} with each other; must remove or rewrite one of these paths; "
                f"path one: {_path_text(one)}, path two: {_path_text(two)}"
            )


def _literal_kind(operand: Operand) -> Kind | None:
    """The type that an operand is known to have, if it is."""
    if type(operand) is Value:
        return kind_of(operand.value)
    return "N" if type(operand) is Size else None


def _literal_text(value: Any) -> str:
    kind = kind_of(value)
    return f"AttributeValue: {{{kind}:{number_text(value) if kind == 'N' else value}}}"


def _wrong_type(operator: str, kind: str) -> _Broken:
    return _Broken(
        "Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {kind}"
    )


def _check_kinds(operator: str, operands: Sequence[Operand], allowed: frozenset[str]) -> None:
    for operand in operands:
        kind = _literal_kind(operand)
        if kind is not None and kind not in allowed:
            raise _wrong_type(operator, kind)


def _check_distinct(operator: str, first: Operand, second: Operand) -> None:
    if type(first) is Path and first == second:
        raise _Broken(
            "The first operand must be distinct from the remaining operands for this operator or function; "
            f"operator: {operator}, first operand: {_path_text(first)}"
        )


# --- conditions ---


def _check_condition(condition: Condition) -> None:
    """Iterative, so that no tree is too deep to be refused."""
    operators = 0
    pending: list[Condition] = [condition]
    while pending:
        node = pending.pop()
        if isinstance(node, And | Or):
            if len(node.terms) < 2:  # noqa: PLR2004 - a binary operator
                name, count = type(node).__name__.upper(), len(node.terms)
                raise _wrong_count(name, count)
            operators += len(node.terms) - 1
            pending.extend(reversed(node.terms))
        elif isinstance(node, Not):
            operators += 1
            pending.append(node.term)
        else:
            operators += 1 + _CONDITION_CHECKS[type(node)](node)
        _check_operators(operators)


def _wrong_count(operator: str, count: int) -> _Broken:
    return _Broken(
        "Incorrect number of operands for operator or function; "
        f"operator or function: {operator}, number of operands: {count}"
    )


def _check_operands(*operands: Operand) -> int:
    """Check each operand of a condition, and count the functions among them."""
    functions = 0
    for operand in operands:
        if type(operand) is Value:
            value_size(operand.value)
        elif type(operand) is Path:
            _check_path(operand)
        elif type(operand) is Size:
            _check_path(operand.path)
            functions += 1
        else:
            raise _Broken(
                f"The function is not allowed in a condition expression; function: {_function_name(operand)}"
            )
    return functions


def _check_compare(node: Compare) -> int:
    functions = _check_operands(node.left, node.right)
    _check_distinct(node.op, node.left, node.right)
    if node.op not in {"=", "<>"}:
        _check_kinds(node.op, (node.left, node.right), _ORDERED)
    return functions


def _check_between(node: Between) -> int:
    functions = _check_operands(node.operand, node.low, node.high)
    _check_kinds("BETWEEN", (node.operand, node.low, node.high), _ORDERED)
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
    raise _Broken(
        f"The BETWEEN operator {rule}; lower bound operand: {_literal_text(low)}, "
        f"upper bound operand: {_literal_text(high)}"
    )


def _check_in(node: In) -> int:
    if not node.options:
        raise _wrong_count("IN", 1)
    if len(node.options) > MAX_OPTIONS:
        count = len(node.options)
        raise _Broken(f"The IN operator is provided with too many operands; number of operands: {count}")
    return _check_operands(node.operand, *node.options)


def _check_presence(node: Exists | Missing) -> int:
    return _check_operands(node.path)


def _check_has_type(node: HasType) -> int:
    functions = _check_operands(node.path, node.type)
    if type(node.type) is not Value:
        raise _wrong_type("attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")
    _check_kinds("attribute_type", (node.type,), frozenset({"S"}))
    if node.type.value not in _KINDS:
        raise _Broken(
            f"Invalid attribute type name found; type: {node.type.value!s}, "
            "valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
        )
    return functions


def _check_begins_with(node: BeginsWith) -> int:
    functions = _check_operands(node.operand, node.prefix)
    _check_distinct("begins_with", node.operand, node.prefix)
    _check_kinds("begins_with", (node.operand, node.prefix), _TEXTUAL)
    return functions


def _check_contains(node: Contains) -> int:
    functions = _check_operands(node.operand, node.member)
    _check_distinct("contains", node.operand, node.member)
    return functions


_CONDITION_CHECKS: Final[dict[type, Callable[[Any], int]]] = {
    Compare: _check_compare,
    Between: _check_between,
    In: _check_in,
    Exists: _check_presence,
    Missing: _check_presence,
    HasType: _check_has_type,
    BeginsWith: _check_begins_with,
    Contains: _check_contains,
}


# --- updates ---


def _check_update(update: Update) -> None:
    paths = list(_update_paths(update))
    for path in paths:
        _check_path(path)
    _check_overlaps(paths)
    _check_operators(sum(_check_operand(action.operand) for action in update.sets))
    for addition in update.adds:
        _check_literal("ADD", addition.value.value, ("N", "SS", "NS", "BS"))
    for deletion in update.deletes:
        _check_literal("DELETE", deletion.value.value, ("SS", "NS", "BS"))


def _update_paths(update: Update) -> Iterator[Path]:
    yield from (action.path for action in update.sets)
    yield from update.removes
    yield from (action.path for action in update.adds)
    yield from (action.path for action in update.deletes)


def _check_literal(operator: str, value: AttributeValue, allowed: tuple[Kind, ...]) -> None:
    value_size(value)
    kind = kind_of(value)
    if kind not in allowed:
        raise _Broken(
            f"Incorrect operand type for operator or function; operator: {operator}, "
            f"operand type: {_LONG_NAMES[kind]}, typeSet: ALLOWED_FOR_{operator}_OPERAND"
        )


def _check_operand(operand: Operand, depth: int = 0) -> int:
    """Check what a SET assigns, and count its operators and functions."""
    if depth > MAX_DEPTH:
        raise _Broken("The expression is nested too deeply;")
    if type(operand) is Value:
        value_size(operand.value)
        return 0
    if type(operand) is Path:
        _check_path(operand)
        return 0
    if type(operand) is Size or (type(operand) is Arithmetic and depth > 0):
        raise _misplaced(operand)
    return 1 + sum(_check_operand(inner, depth + 1) for inner in _inner_operands(operand))


def _inner_operands(operand: Operand) -> tuple[Operand, ...]:
    if type(operand) is IfNotExists:
        return operand.path, operand.default
    if type(operand) is ListAppend:
        _check_inner("list_append", (operand.first, operand.second), "L")
        return operand.first, operand.second
    assert type(operand) is Arithmetic  # noqa: S101 - the only one left
    _check_inner(operand.sign, (operand.left, operand.right), "N")
    return operand.left, operand.right


def _check_inner(operator: str, operands: tuple[Operand, Operand], kind: Kind) -> None:
    for operand in operands:
        if type(operand) is ListAppend:
            raise _misplaced(operand)
    _check_kinds(operator, operands, frozenset({kind}))


def _misplaced(operand: Operand) -> _Broken:
    name = _function_name(operand)
    if type(operand) is Size:
        return _Broken(f"The function is not allowed in an update expression; function: {name}")
    return _Broken(f"The function is not allowed to be used this way in an expression; function: {name}")


def _function_name(operand: Operand) -> str:
    if type(operand) is Arithmetic:
        return operand.sign
    return {Size: "size", IfNotExists: "if_not_exists", ListAppend: "list_append"}[type(operand)]
