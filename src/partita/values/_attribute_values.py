"""Attribute values as plain Python, and DynamoDB's rules for them.

| DynamoDB | Python |
| --- | --- |
| S, B, BOOL, NULL | `str`, `bytes`, `bool`, `None` |
| N | `int` if the number is whole, else `Decimal` |
| L, M | `list`, `dict` with `str` keys |
| SS, NS, BS | `frozenset` (or `set`), never empty, of one kind |
"""

from __future__ import annotations

import re
from collections.abc import Collection
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
"""The maximum number of significant digits of a number."""

_INT_LIMIT: Final = 10**MAX_DIGITS
MAX_DEPTH: Final = 32
"""The maximum nesting depth of lists and maps."""

TOO_DEEP: Final = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
)
"""The error message for a value that is nested deeper."""

_MAX_ALIKE: Final = 1_000
MAX_MAGNITUDE: Final = 125
MIN_MAGNITUDE: Final = -130
MAX_EXPONENT: Final = 2**63 - 1
_TOO_LONG: Final = "Attempting to store more than 38 significant digits in a Number"
_TOO_GREAT: Final = "Number overflow. Attempting to store a number with magnitude larger than supported range"
_TOO_SMALL: Final = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
_EXACT: Final = Context(prec=400, traps=[Inexact])
_WIDE: Final = Context(prec=400)
_NUMBER_TEXT: Final = re.compile(  # each digit matches one part only, so the work is linear
    r"(?P<sign>[+-]?)(?:(?P<whole>[0-9]+)(?:\.(?P<fraction>[0-9]*))?|\.(?P<rest>[0-9]+))(?:[eE](?P<exponent>[+-]?[0-9]+))?",
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
    """Return the DynamoDB type of a value.

    Raises:
        ValidationFailed: the value has a type that DynamoDB does not support, or is an empty set.
    """
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, set | frozenset):
        return _kind_of_set(value)
    if isinstance(value, Plaintext):
        hint = "Pass the session keys: Session(store, keys=…)."
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


def check_hashes(numbers: Collection[int | Decimal]) -> None:
    """Refuse numbers of a set that Python could only keep slowly: more than 1,000 that have the hash of another one.

    Hashes of numbers are not random, so anybody can find such numbers. The time would grow with their square.

    Raises:
        ValidationFailed: there are too many.
    """
    if len(numbers) <= _MAX_ALIKE:
        return
    hashes = len(set(map(hash, numbers)))
    if len(numbers) - hashes > _MAX_ALIKE and len(set(map(str, numbers))) - hashes > _MAX_ALIKE:
        raise ValidationFailed(f"More than {_MAX_ALIKE:,} numbers of a set have the same hash as another one.")


def number(value: int | Decimal | str) -> int | Decimal:
    """Return the number in canonical form: an `int` if it is whole, else a `Decimal` without trailing zeros.

    Raises:
        ValidationFailed: the value is not a number, has more than 38 significant digits, or is out of range.
    """
    if type(value) is int and -_INT_LIMIT < value < _INT_LIMIT:
        return value
    if isinstance(value, str):
        return _from_text(value)
    return _from_decimal(Decimal(value))


def not_a_number(text: str) -> ValidationFailed:
    """Return the error for a string that is not a number."""
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
    """Return the parsed exponent; None if it does not fit into 64 bits."""
    if text is None:
        return 0
    if len(text.lstrip("+-0")) > len(str(MAX_EXPONENT)):
        return None  # checked before parsing, which takes time quadratic in the number of digits
    exponent = int(text)
    return exponent if -MAX_EXPONENT <= exponent <= MAX_EXPONENT else None


def _from_parts(sign: str, digits: str, exponent: int) -> int | Decimal:
    """Return the number `digits` times ten to the power of `exponent`."""
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
    """Check the magnitude, also of a zero, whose magnitude is that of its notation."""
    if magnitude > MAX_MAGNITUDE:
        raise ValidationFailed(_TOO_GREAT)
    if magnitude < MIN_MAGNITUDE:
        raise ValidationFailed(_TOO_SMALL)


def plus(left: int | Decimal, right: int | Decimal) -> int | Decimal:
    """Return the exact sum in canonical form; raise `ValidationFailed` if it needs more than 38 digits."""
    if type(left) is int and type(right) is int:
        return number(left + right)
    return number(_WIDE.add(Decimal(left), Decimal(right)))


def number_text(value: int | Decimal) -> str:
    """Return a canonical number in DynamoDB's notation: exponents expanded, no trailing zeros."""
    return str(value) if type(value) is int else format(value, "f")


def equal(left: AttributeValue, right: AttributeValue) -> bool:
    """Whether two values are equal by DynamoDB's rules: they have the same type, and true is not 1."""
    if left != right:  # values that are unequal in Python are unequal in DynamoDB
        return False
    if type(left) is bool or type(right) is bool:
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return all(equal(value, right[name]) for name, value in left.items())
    return True
