"""Reads attribute values of clients and checks every rule of the format, with DynamoDB's messages."""

from __future__ import annotations

import base64
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from partita.errors import SerializationFailed, ValidationFailed
from partita.values import MAX_DEPTH, MAX_DIGITS, TOO_DEEP, AttributeValue, Item, check_hashes, number
from partita.wire._wording import INVALID, InvalidValue, duplicate_members, invalid_number


def read_item(given: Any, depth: int = 0) -> Item:
    """The attributes of an item, key or map.

    Raises:
        SerializationFailed: a member is malformed.
        ValidationFailed: a value breaks a rule.
    """
    if type(given) is not dict:
        raise SerializationFailed(f"{json_kind(given)} cannot be converted to Map")
    item: Item = {}
    for name, tagged in given.items():
        if type(tagged) is dict and len(tagged) == 1 and type(text := tagged.get("S")) is str:
            item[name] = text  # fast path: most attributes are strings
        elif tagged is not None:
            item[name] = read_value(tagged, depth)
    return item


def read_value(tagged: Any, depth: int = 0) -> AttributeValue:
    """Read one value from its type-tagged form."""
    if type(tagged) is dict and len(tagged) == 1:
        ((tag, content),) = tagged.items()
        if content is not None and tag in _READERS:
            return _READERS[tag](content, depth)
    return _READERS[tag := _tag(tagged)](tagged[tag], depth)


def _tag(tagged: Any) -> str:
    """The only tag that has a value.

    Raises:
        SerializationFailed: the value is malformed.
        ValidationFailed: there is no such tag, or more than one.
    """
    if type(tagged) is not dict:
        raise SerializationFailed(f"{json_kind(tagged)} cannot be converted to AttributeValue")
    tags: list[str] = [tag for tag, content in tagged.items() if content is not None and tag in _READERS]
    if not tags:
        message = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
        raise InvalidValue(message)
    if len(tags) > 1:
        message = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported"
        raise InvalidValue(f"{message} datatypes")
    return tags[0]


_KINDS: Final = {
    str: "STRING_VALUE",
    list: "START_ARRAY",
    dict: "START_OBJECT",
    float: "DECIMAL_VALUE",
}


def json_kind(value: Any) -> str:
    """The name of a JSON value in messages."""
    if type(value) is bool:
        return "TRUE_VALUE" if value else "FALSE_VALUE"
    return _KINDS.get(type(value), "NUMBER_VALUE")


def _text(content: Any, _: int = 0) -> str:
    if type(content) is not str:
        raise SerializationFailed(f"{json_kind(content)} cannot be converted to String")
    return content


def _number(content: Any, _: int = 0) -> int | Decimal:
    text = _text(content)
    digits = text.removeprefix("-")
    if digits.isdigit() and digits.isascii() and len(digits) <= MAX_DIGITS:
        return int(text)
    try:
        return number(text)
    except ValidationFailed as error:
        raise invalid_number(text, error.message) from None


def _binary(content: Any, _: int = 0) -> bytes:
    try:
        return base64.b64decode(_text(content), validate=True)
    except ValueError as error:  # from binascii, or because the text is not ASCII
        raise SerializationFailed(f"Invalid Base64: {error}") from None


def _truth(content: Any, _: int) -> bool:
    if type(content) is not bool:
        raise SerializationFailed(f"{json_kind(content)} cannot be converted to Boolean")
    return content


def _null(content: Any, depth: int) -> None:
    if not _truth(content, depth):
        raise InvalidValue(f"{INVALID}Null attribute value types must have the value of true")


def _members(content: Any) -> list[Any]:
    if type(content) is not list:
        raise SerializationFailed(f"{json_kind(content)} cannot be converted to List")
    return content


def _list(content: Any, depth: int) -> list[Any]:
    if depth >= MAX_DEPTH - 1:
        raise InvalidValue(TOO_DEEP)
    return [
        text
        if type(member) is dict and len(member) == 1 and type(text := member.get("S")) is str
        else read_value(member, depth + 1)
        for member in _members(content)
    ]


def _map(content: Any, depth: int) -> Item:
    if depth >= MAX_DEPTH - 1:
        raise InvalidValue(TOO_DEEP)
    return read_item(content, depth + 1)


def _set_reader(kind: str, read: Callable[[Any], Any]) -> Callable[[Any, int], frozenset[Any]]:
    def read_set(content: Any, _: int) -> frozenset[Any]:
        given = _members(content)
        if not given:
            binary = "Binary sets should not be empty"  # the only type with a different wording
            raise InvalidValue(INVALID + (binary if kind == "binary" else f"An {kind} set  may not be empty"))
        values = [read(each) for each in given]
        if kind == "number":
            check_hashes(values)
        members = frozenset(values)
        if len(members) < len(given):
            raise duplicate_members(f"{kind[0].upper()}S", given)
        return members

    return read_set


_READERS: Final[dict[str, Callable[[Any, int], AttributeValue]]] = {
    "S": _text,
    "N": _number,
    "B": _binary,
    "BOOL": _truth,
    "NULL": _null,
    "L": _list,
    "M": _map,
    "SS": _set_reader("string", _text),
    "NS": _set_reader("number", _number),
    "BS": _set_reader("binary", _binary),
}
