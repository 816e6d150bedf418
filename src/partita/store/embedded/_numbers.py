"""Order-preserving encoding of numbers as bytes, for key columns.

| number | bytes |
| --- | --- |
| positive | 0xC0, magnitude + 130, digits in pairs |
| zero | 0x80 |
| negative | 0x40, the complement of the same, 0xFF |

The magnitude is the power of ten of the first digit. Digits are packed two to a byte. In negative numbers,
each digit is subtracted from nine, and the final 0xFF sorts -1 after -1.5.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from partita.values import number

_LOWEST: Final = 130
_FROM_NINE: Final = str.maketrans("0123456789", "9876543210")


def encode_number(value: int | Decimal) -> bytes:
    """The sortable form of a number; equal numbers have the same bytes.

    Raises:
        ValidationFailed: it has more than 38 digits or is out of range.
    """
    exact = number(value)
    if not exact:
        return b"\x80"
    digits, magnitude = _digits(exact)
    if len(digits) % 2:
        digits += "0"
    if exact > 0:
        return bytes((0xC0, magnitude + _LOWEST)) + bytes.fromhex(digits)
    return bytes((0x40, 0xFF - magnitude - _LOWEST)) + bytes.fromhex(digits.translate(_FROM_NINE)) + b"\xff"


def _digits(value: int | Decimal) -> tuple[str, int]:
    if isinstance(value, Decimal):
        return "".join(map(str, value.as_tuple().digits)), value.adjusted()
    text = str(abs(value))
    return text.rstrip("0"), len(text) - 1
