"""Item sizes and capacity units, computed as AWS does.

Names and strings count their UTF-8 bytes, a number about half a byte per digit, a list or map
three bytes plus one per element. Reads are charged in units of 4 KB, writes in units of 1 KB.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from partita.errors import ValidationFailed
from partita.values._attribute_values import MAX_DEPTH, TOO_DEEP, Item, kind_of, number, number_text

MAX_ITEM_BYTES: Final = 409_600
"""The maximum size of an item."""

READ_UNIT_BYTES: Final = 4_096
"""The number of bytes that one read unit covers, for a strongly consistent read."""
WRITE_UNIT_BYTES: Final = 1_024
"""The number of bytes that one write unit covers."""


def text_size(text: str) -> int:
    """Return the size of a string in UTF-8 bytes.

    Raises:
        ValidationFailed: the string has a lone surrogate, which cannot be encoded.
    """
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise ValidationFailed("A string is not valid Unicode: it contains a lone surrogate.") from None


def integer_size(value: int) -> int:
    """Return the size of an integer; trailing zeros do not count."""
    return 1 + (len(str(abs(value)).rstrip("0")) + 1) // 2 + (value < 0)


def number_size(value: int | Decimal) -> int:
    """Return the size: one byte, one per two digits of the integer part and of the fraction, and one for a sign."""
    if type(value) is int:
        return integer_size(value)
    whole, _, fraction = number_text(value if value >= 0 else -value).partition(".")
    whole = whole.lstrip("0")
    if fraction:
        if not whole:
            fraction = fraction.lstrip("0")
    else:
        whole = whole.rstrip("0")
    digits = (len(whole) + 1) // 2 + (len(fraction) + 1) // 2
    return 1 + digits + (value < 0)


def value_size(value: Any, depth: int = 0) -> int:
    """Return the size of a value in bytes, checking that DynamoDB would accept it.

    Raises:
        ValidationFailed: the value has a type, number, set or depth that DynamoDB rejects.
    """
    if type(value) is str:
        return text_size(value)
    if value is None or type(value) is bool:
        return 1
    if type(value) is int or type(value) is Decimal:
        return number_size(number(value))
    if type(value) is bytes:
        return len(value)
    return _container_size(value, depth + 1)


def _container_size(value: Any, depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise ValidationFailed(TOO_DEEP)
    kind = kind_of(value)
    if kind == "L":
        sizes = [
            len(element) if type(element) is str and element.isascii() else value_size(element, depth)
            for element in value  # ASCII strings, the most frequent values, are counted without a call
        ]
        return 3 + len(value) + sum(sizes)
    if kind == "M":
        return 3 + len(value) + sum(text_size(name) + value_size(member, depth) for name, member in value.items())
    return sum(value_size(member, depth) for member in value)


def item_size(item: Item) -> int:
    """Return the size of an item in bytes: the names and values of its attributes, which are validated."""
    size = 0
    for name, value in item.items():  # ASCII strings, the most frequent values, are counted without a call
        size += len(name) if name.isascii() else text_size(name)
        size += len(value) if type(value) is str and value.isascii() else value_size(value)
    return size


def read_units(size: int, *, consistent: bool) -> float:
    """Return the read units for a size in bytes; at least the minimum, also for a missing item."""
    units = max(1, -(-size // READ_UNIT_BYTES))
    return float(units) if consistent else units / 2


def write_units(size: int) -> float:
    """Return the write units for a size in bytes; at least one."""
    return float(-(-size // WRITE_UNIT_BYTES) or 1)
