"""Evaluation of conditions on items.

The condition has been validated, so the result is always true or false.
A function or comparison with a value that it does not accept is false, as on DynamoDB.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

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
    Missing,
    Not,
    Operand,
    Or,
    Path,
    Size,
    Value,
)
from partita.expressions._paths import MISSING, resolve
from partita.values import Item, equal, kind_of

# Python orders text by code point, which is the order of its UTF-8 bytes.
_ORDERED: Final[dict[type, str]] = {str: "S", int: "N", Decimal: "N", bytes: "B"}
_ORDERINGS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluate(condition: Condition, item: Item) -> bool:
    """Whether the condition holds for the item; `{}` represents a missing item."""
    return _RULES[type(condition)](condition, item)


def _comparable(left: Any, right: Any) -> bool:
    """Whether two values have an order: both strings, both numbers or both binaries."""
    kind = _ORDERED.get(type(left))
    return kind is not None and kind == _ORDERED.get(type(right))


def size_of(value: Any) -> Any:
    """Return the `size()` of a value: UTF-16 units of a string, bytes of a binary, members of a container."""
    if type(value) is str:
        return len(value) if value.isascii() else len(value.encode("utf-16-le", "surrogatepass")) // 2
    return len(value) if isinstance(value, bytes | list | dict | set | frozenset) else MISSING


def _read(operand: Operand, item: Item) -> Any:
    if type(operand) is Value:
        return operand.value
    if type(operand) is Path:
        return resolve(operand, item)
    assert type(operand) is Size  # noqa: S101 - a valid condition has no other operand
    return size_of(resolve(operand.path, item))


def _compare(node: Compare, item: Item) -> bool:
    left, right = _read(node.left, item), _read(node.right, item)
    if node.op == "=":
        return left is not MISSING and right is not MISSING and equal(left, right)
    if node.op == "<>":
        return left is MISSING or right is MISSING or not equal(left, right)
    return _comparable(left, right) and _ORDERINGS[node.op](left, right)


def _between(node: Between, item: Item) -> bool:
    value, low, high = _read(node.operand, item), _read(node.low, item), _read(node.high, item)
    return _comparable(low, value) and _comparable(value, high) and bool(low <= value <= high)


def _in(node: In, item: Item) -> bool:
    value = _read(node.operand, item)
    options = (_read(option, item) for option in node.options)
    return value is not MISSING and any(option is not MISSING and equal(value, option) for option in options)


def _exists(node: Exists, item: Item) -> bool:
    return resolve(node.path, item) is not MISSING


def _missing(node: Missing, item: Item) -> bool:
    return resolve(node.path, item) is MISSING


def _has_type(node: HasType, item: Item) -> bool:
    value = _read(node.operand, item)
    return value is not MISSING and kind_of(value) == _read(node.type, item)


def _begins_with(node: BeginsWith, item: Item) -> bool:
    value, prefix = _read(node.operand, item), _read(node.prefix, item)
    return type(value) is type(prefix) and isinstance(value, str | bytes) and value.startswith(prefix)


def _contains(node: Contains, item: Item) -> bool:
    value, member = _read(node.operand, item), _read(node.member, item)
    if isinstance(value, str):
        return isinstance(member, str) and member in value
    if isinstance(value, bytes):
        return isinstance(member, bytes) and member in value
    if isinstance(value, list):
        return member is not MISSING and any(equal(element, member) for element in value)
    return isinstance(value, frozenset | set) and type(member) in _ORDERED and member in value


# One call per level of a condition, so that 300 nested operators stay far from the recursion limit.


def _and(node: And, item: Item) -> bool:
    for term in node.terms:  # noqa: SIM110 - a generator would double the depth
        if not _RULES[type(term)](term, item):
            return False
    return True


def _or(node: Or, item: Item) -> bool:
    for term in node.terms:  # noqa: SIM110 - a generator would double the depth
        if _RULES[type(term)](term, item):
            return True
    return False


def _not(node: Not, item: Item) -> bool:
    return not _RULES[type(node.term)](node.term, item)


_RULES: Final[dict[type, Callable[[Any, Item], bool]]] = {
    Compare: _compare,
    Between: _between,
    In: _in,
    Exists: _exists,
    Missing: _missing,
    HasType: _has_type,
    BeginsWith: _begins_with,
    Contains: _contains,
    And: _and,
    Or: _or,
    Not: _not,
}
