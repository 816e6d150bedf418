"""Items as bytes: MessagePack, with extensions for what it lacks (exact numbers and sets).

Numbers are brought to canonical form on the way in, so what comes out is always canonical.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from msgspec import DecodeError
from msgspec.msgpack import Decoder, Encoder, Ext

from partita.errors import ValidationFailed
from partita.values._attribute_values import Item, number
from partita.values._sizes import integer_size, text_size, value_size

_DECIMAL: Final = 1
_STRING_SET: Final = 2
_NUMBER_SET: Final = 3
_BINARY_SET: Final = 4
_LONG: Final = 5

_PLAIN: Final = frozenset((str, bool, type(None), bytes))
_SET_CODES: Final[dict[type, int]] = {
    str: _STRING_SET,
    int: _NUMBER_SET,
    Decimal: _NUMBER_SET,
    bytes: _BINARY_SET,
}
_SETS: Final = frozenset(_SET_CODES.values())
_SHORT_INT: Final = 10**18
_LOWEST_INT: Final = -(2**63)
_HIGHEST_INT: Final = 2**64 - 1

_encode = Encoder().encode


def encode_item(item: Item) -> bytes:
    """The stored form of an item whose values have been validated.

    Raises:
        ValidationFailed: an attribute name is empty.
    """
    return _encode(_packed_map(item))


def encode_measured(item: Item) -> tuple[bytes, int]:
    """The stored form of an item and the bytes that it counts, validated on the way.

    Raises:
        ValidationFailed: an empty name, or a value that DynamoDB refuses.
    """
    if "" in item:
        raise _empty_name()
    # Names and texts, which most of it is, are counted together and stand as they are.
    texts, packed, size = [*item], item, 0
    for name, value in item.items():
        kind = type(value)
        if kind is str:
            texts.append(value)
            continue
        if kind is int and -_SHORT_INT < value < _SHORT_INT:  # as most numbers are: it stands as it is, too
            size += integer_size(value)
            continue
        size += value_size(value)
        form = _packed(value)
        if form is not value:
            packed = dict(item) if packed is item else packed
            packed[name] = form
    size += text_size("".join(texts))  # before they are encoded: it refuses what no encoding can hold
    return _encode(packed), size


def _empty_name() -> ValidationFailed:
    return ValidationFailed("One or more parameter values were invalid: Empty attribute name")


def _packed_map(members: dict[str, Any]) -> dict[str, Any]:
    if "" in members:
        raise _empty_name()
    return {name: value if type(value) in _PLAIN else _packed(value) for name, value in members.items()}


def _packed(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN or (kind is int and _LOWEST_INT <= value <= _HIGHEST_INT):
        return value
    if kind is int or kind is Decimal:
        return _packed_number(number(value))
    if kind is list:
        return value if _PLAIN.issuperset(map(type, value)) else [_packed(element) for element in value]
    if kind is dict:
        return _packed_map(value)
    return _packed_set(value)


def _packed_number(value: int | Decimal) -> int | Ext:
    if isinstance(value, Decimal):
        return Ext(_DECIMAL, str(value).encode())
    return value if _LOWEST_INT <= value <= _HIGHEST_INT else Ext(_LONG, str(value).encode())


def _packed_set(members: frozenset[Any] | set[Any]) -> Ext:
    code = _SET_CODES[type(next(iter(members)))]
    # Sorted, so that equal sets have equal bytes.
    return Ext(code, _encode([_packed(member) for member in sorted(members)]))


def _unpacked(code: int, data: memoryview) -> Any:
    try:
        if code == _DECIMAL:
            return Decimal(str(data, "ascii"))
        if code == _LONG:
            return int(str(data, "ascii"))
        if code in _SETS:
            return frozenset(_decode_members(data))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise DecodeError(f"An extension of type {code} is damaged: {error}") from error
    raise DecodeError(f"There is no extension of type {code}.")


_decode_members = Decoder(list[Any], ext_hook=_unpacked).decode

decode_item = Decoder(dict[str, Any], ext_hook=_unpacked).decode
"""The item in plain Python form, with nothing shared.

Raises `msgspec.DecodeError` or `UnicodeDecodeError` for bytes that hold no item; a call more to make one of them would
be paid for by every item that is read.
"""
