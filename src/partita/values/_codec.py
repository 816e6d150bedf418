"""Items as bytes: MessagePack, with extensions for the types that it lacks (exact numbers and sets).

Numbers are converted to canonical form before encoding, so decoded numbers are always canonical.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from msgspec import DecodeError
from msgspec.msgpack import Decoder, Encoder, Ext

from partita.errors import ValidationFailed
from partita.values._attribute_values import Item, check_hashes, number
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
    """Encode an item whose values have been validated.

    Raises:
        ValidationFailed: an attribute name is empty.
    """
    return _encode(_packed_map(item))


def encode_measured(item: Item) -> tuple[bytes, int]:
    """Encode an item, validating it, and return the encoded form and the item's size in bytes.

    Raises:
        ValidationFailed: a name is empty, or DynamoDB rejects a value.
    """
    if "" in item:
        raise _empty_name()
    # Names and strings, which make up most of an item, are counted together and encoded unchanged.
    texts, packed, size = [*item], item, 0
    for name, value in item.items():
        kind = type(value)
        if kind is str:
            texts.append(value)
            continue
        if kind is int and -_SHORT_INT < value < _SHORT_INT:  # most numbers are short, and are encoded unchanged too
            size += integer_size(value)
            continue
        size += value_size(value)
        form = _packed(value)
        if form is not value:
            packed = dict(item) if packed is item else packed
            packed[name] = form
    size += text_size("".join(texts))  # before encoding, because it rejects strings that cannot be encoded
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
    if code == _NUMBER_SET:
        check_hashes(members)
    # Sorted, so that equal sets have the same encoding.
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
"""Decode an item into plain Python values, which share nothing.

Raises `msgspec.DecodeError` or `UnicodeDecodeError` for bytes that are not an item. A wrapper that raised only one of
them would cost an additional call for every item that is read.
"""
