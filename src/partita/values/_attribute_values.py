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
from decimal import Context, Decimal, Inexact
from typing import Any, Final, Literal, TypeAlias

from partita.errors import ValidationFailed
from partita.values._plaintext import Plaintext

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

TOO_DEEP: Final = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)
"""What is said of a value that is nested deeper."""

MAX_MAGNITUDE: Final = 125
MIN_MAGNITUDE: Final = -130
MAX_EXPONENT: Final = 2**63 - 1
_TOO_LONG: Final = "Attempting to store more than 38 significant digits in a Number"
_TOO_GREAT: Final = "Number overflow. Attempting to store a number with magnitude larger than supported range"
_TOO_SMALL: Final = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
_EXACT: Final = Context(prec=400, traps=[Inexact])
_WIDE: Final = Context(prec=400)
_NUMBER_TEXT: Final = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<whole>[0-9]+)\.?(?P<fraction>[0-9]*)|\.(?P<rest>[0-9]+))(?:[eE](?P<exponent>[+-]?[0-9]+))?",
    re.ASCII,
)

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
    if isinstance(value, Plaintext):
        hint = "Give the session keys: Session(store, keys=…)."
        raise ValidationFailed("An encrypted field would be stored as plain text.", hint=hint)
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
    if isinstance(value, str):
        return _from_text(value)
    return _from_decimal(Decimal(value))


def not_a_number(text: str) -> ValidationFailed:
    """The error for a text that no number is written as."""
    return ValidationFailed(f"The parameter cannot be converted to a numeric value: {text:.60}")


def _from_text(text: str) -> int | Decimal:
    match = _NUMBER_TEXT.fullmatch(text)
    if match is None:
        raise not_a_number(text)
    fraction = match["fraction"] or match["rest"] or ""
    exponent = _exponent(match["exponent"])
    if exponent is None:
        raise not_a_number(text)
    sign = "-" if match["sign"] == "-" else ""
    return _from_parts(sign, (match["whole"] or "") + fraction, exponent - len(fraction))


def _exponent(text: str | None) -> int | None:
    """The exponent that is written; None where 64 bits do not hold it."""
    if text is None:
        return 0
    if len(text.lstrip("+-0")) > len(str(MAX_EXPONENT)):
        return None  # before it is read: reading takes as long as the square of its digits
    exponent = int(text)
    return exponent if -MAX_EXPONENT <= exponent <= MAX_EXPONENT else None


def _from_parts(sign: str, digits: str, exponent: int) -> int | Decimal:
    """The number that is `digits` times ten to the exponent."""
    significant = digits.strip("0")
    if len(significant) > MAX_DIGITS:
        raise ValidationFailed(_TOO_LONG)
    _check_magnitude(len(digits.lstrip("0") or "0") + exponent - 1)
    if not significant:
        return 0
    exponent += len(digits) - len(digits.rstrip("0"))
    if exponent >= 0:
        return int(f"{sign}{significant}{'0' * exponent}")
    return Decimal(f"{sign}{significant}E{exponent}")


def _from_decimal(value: Decimal) -> int | Decimal:
    if not value.is_finite():
        raise not_a_number(str(value))
    _check_magnitude(value.adjusted())
    if not value:
        return 0
    try:
        exact = value.normalize(_EXACT)
    except Inexact:
        raise ValidationFailed(_TOO_LONG) from None
    _, digits, exponent = exact.as_tuple()
    if len(digits) > MAX_DIGITS:
        raise ValidationFailed(_TOO_LONG)
    return int(exact) if exponent >= 0 else exact  # type: ignore[operator]  # finite, so never "n", "N" or "F"


def _check_magnitude(magnitude: int) -> None:
    """Also a zero has a magnitude: the one that it is written with."""
    if magnitude > MAX_MAGNITUDE:
        raise ValidationFailed(_TOO_GREAT)
    if magnitude < MIN_MAGNITUDE:
        raise ValidationFailed(_TOO_SMALL)


def plus(left: int | Decimal, right: int | Decimal) -> int | Decimal:
    """The exact sum in canonical form; refused where it needs more than 38 digits."""
    if type(left) is int and type(right) is int:
        return number(left + right)
    return number(_WIDE.add(Decimal(left), Decimal(right)))


def number_text(value: int | Decimal) -> str:
    """A canonical number as DynamoDB writes it: exponents expanded, no trailing zeros."""
    return str(value) if type(value) is int else format(value, "f")


def equal(left: AttributeValue, right: AttributeValue) -> bool:
    """Equality as DynamoDB has it: same type, and true is not 1."""
    if left != right:  # what differs in Python's eyes differs in DynamoDB's
        return False
    if type(left) is bool or type(right) is bool:
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return all(equal(value, right[name]) for name, value in left.items())
    return True
