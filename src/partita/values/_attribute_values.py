"""Attribute values as plain Python, and DynamoDB's rules for them.

| DynamoDB | Python |
| --- | --- |
| S, B, BOOL, NULL | `str`, `bytes`, `bool`, `None` |
| N | `int` where the number is whole, else `Decimal` |
| L, M | `list`, `dict` with `str` keys |
| SS, NS, BS | `frozenset` (or `set`), never empty, of one kind |
"""

from __future__ import annotations

import re
from decimal import Context, Decimal, Inexact, Overflow
from typing import Any, Final, Literal, TypeAlias

from partita.errors import ValidationFailed

AttributeValue: TypeAlias = (
    str | int | Decimal | bytes | bool | list[Any] | dict[str, Any] | frozenset[Any] | set[Any] | None
)
"""A value that DynamoDB can store, as plain Python."""

Item: TypeAlias = dict[str, Any]
"""The attributes of an item, by name."""

Kind: TypeAlias = Literal["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]
"""DynamoDB's name for the type of a value."""

MAX_DIGITS: Final = 38
"""As many significant digits as a number may have."""

_INT_LIMIT: Final = 10**MAX_DIGITS
MAX_DEPTH: Final = 32
"""As many levels as lists and maps may be nested."""

MAX_MAGNITUDE: Final = 125
MIN_MAGNITUDE: Final = -130
_WIDE: Final = Context(prec=400, traps=[Inexact, Overflow])
_TOO_GREAT: Final = "Number overflow. Attempting to store a number with magnitude larger than supported range"
_SUM: Final = Context(prec=400)
_NUMBER_TEXT: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)

_KINDS: Final[dict[type, Kind]] = {
    str: "S",
    int: "N",
    Decimal: "N",
    bytes: "B",
    bool: "BOOL",
    type(None): "NULL",
    list: "L",
    dict: "M",
}


def kind_of(value: AttributeValue) -> Kind:
    """The DynamoDB type of a value.

    Raises:
        ValidationFailed: the value is of no type that DynamoDB has, or is an empty set.
    """
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, set | frozenset):
        return _kind_of_set(value)
    message = f"A value of type {type(value).__name__} cannot be stored: {value!r:.60}."
    raise ValidationFailed(message, hint="Use str, int, Decimal, bytes, bool, None, list, dict or a set.")


def _kind_of_set(members: set[Any] | frozenset[Any]) -> Kind:
    kinds = {_KINDS.get(type(member)) for member in members}
    if len(kinds) == 1:
        kind = kinds.pop()
        if kind == "S":
            return "SS"
        if kind == "N":
            return "NS"
        if kind == "B":
            return "BS"
    if not members:
        raise ValidationFailed("One or more parameter values were invalid: An set may not be empty")
    raise ValidationFailed("A set holds only strings, only numbers or only binaries.")


def number(value: int | Decimal | str) -> int | Decimal:
    """The number in canonical form: an `int` where it is whole, else a `Decimal` without trailing zeros.

    Raises:
        ValidationFailed: not a number, more than 38 significant digits, or out of range.
    """
    if type(value) is int and -_INT_LIMIT < value < _INT_LIMIT:
        return value
    if isinstance(value, str) and not _NUMBER_TEXT.fullmatch(value):
        raise ValidationFailed(f"The parameter cannot be converted to a numeric value: {value:.60}")
    try:
        exact = _WIDE.create_decimal(value)
    except Overflow:
        raise ValidationFailed(_TOO_GREAT) from None
    except Inexact:
        raise ValidationFailed("Attempting to store more than 38 significant digits in a Number") from None
    if not exact.is_finite():
        raise ValidationFailed(f"The parameter cannot be converted to a numeric value: {value}")
    return _canonical(exact)


def _canonical(exact: Decimal) -> int | Decimal:
    if exact.is_zero():
        return 0
    exact = exact.normalize(_WIDE)
    _, digits, exponent = exact.as_tuple()
    assert isinstance(exponent, int)  # noqa: S101 - finite, so never "n", "N" or "F"
    if len(digits) > MAX_DIGITS:
        raise ValidationFailed("Attempting to store more than 38 significant digits in a Number")
    magnitude = len(digits) + exponent - 1
    if magnitude > MAX_MAGNITUDE:
        raise ValidationFailed(_TOO_GREAT)
    if magnitude < MIN_MAGNITUDE:
        message = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
        raise ValidationFailed(message)
    return int(exact) if exponent >= 0 else exact


def plus(left: int | Decimal, right: int | Decimal) -> int | Decimal:
    """The exact sum in canonical form; refused where it needs more than 38 digits."""
    if type(left) is int and type(right) is int:
        return number(left + right)
    return _canonical(_SUM.add(Decimal(left), Decimal(right)))


def number_text(value: int | Decimal) -> str:
    """A canonical number as DynamoDB writes it: exponents expanded, no trailing zeros."""
    return str(value) if type(value) is int else format(value, "f")


def equal(left: AttributeValue, right: AttributeValue) -> bool:
    """Equality as DynamoDB has it: same type, and true is not 1."""
    if type(left) is bool or type(right) is bool:
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(value, right[name]) for name, value in left.items())
    return left == right
