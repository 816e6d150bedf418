"""Items as lines of text: DynamoDB's own JSON, and readable JSON.

Readable JSON has strings, numbers, lists and maps as JSON values. A type that JSON lacks is an object with one name
that begins with a dollar sign: `{"$B": "AAE="}`, `{"$SS": ["a"]}`, `{"$NS": [1]}`, `{"$BS": ["AAE="]}`. A map that
looks like one of these is written as `{"$M": {…}}`. Both formats are lossless.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec

from partita.store import DeleteItem, Json, PutItem, plain_item, wire_item
from partita.transfer._writing import Write
from partita.values import Item, check_hashes, kind_of, number, number_text

_LOWEST: Final = -(2**63)
_HIGHEST: Final = 2**63 - 1
_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode


def dynamodb_line(item: Item) -> bytes:
    """Return the line of an item in DynamoDB's export."""
    return _encode({"Item": wire_item(item)}) + b"\n"


def json_line(item: Item) -> bytes:
    """Return the line of an item in JSON lines."""
    return _encode({name: readable(value) for name, value in item.items()}) + b"\n"


def readable(value: Any) -> Any:
    """Return a value as readable JSON."""
    kind = kind_of(value)
    if kind == "N":
        return _number(value)
    if kind == "L":
        return [readable(element) for element in value]
    if kind == "M":
        members = {name: readable(member) for name, member in value.items()}
        return {"$M": members} if len(members) == 1 and next(iter(members)).startswith("$") else members
    if kind in ("B", "BS"):
        texts = [base64.b64encode(part).decode() for part in ([value] if kind == "B" else sorted(value))]
        return {"$B": texts[0]} if kind == "B" else {"$BS": texts}
    if kind == "NS":
        return {"$NS": [_number(member) for member in sorted(value)]}
    return {"$SS": sorted(value)} if kind == "SS" else value


def _number(value: Any) -> Any:
    if type(value) is int and _LOWEST <= value <= _HIGHEST:
        return value
    return msgspec.Raw(number_text(number(value)).encode())


def stored(value: Any) -> Any:
    """Return the value of readable JSON; the inverse of `readable`."""
    if isinstance(value, list):
        return [stored(element) for element in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, content),) = value.items()
        if name in _TAGS:
            return _TAGS[name](content)
    return {name: stored(member) for name, member in value.items()}


def _numbers(members: list[int | Decimal]) -> frozenset[int | Decimal]:
    check_hashes(members)
    return frozenset(members)


_TAGS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "$B": base64.b64decode,
    "$SS": frozenset,
    "$NS": _numbers,
    "$BS": lambda texts: frozenset(base64.b64decode(text) for text in texts),
    "$M": lambda members: {name: stored(member) for name, member in members.items()},
}


def read_json(text: str | bytes) -> Any:
    """Parse readable JSON into a value; numbers keep all their digits."""
    return stored(json.loads(text, parse_float=number, parse_int=number))


def json_write(table: str, line: bytes) -> Write:
    """Return the put for a line of readable JSON."""
    item = read_json(line)
    if not isinstance(item, dict):
        raise TypeError("it is not an object")
    return PutItem(table, item)


def dynamodb_write(table: str, line: bytes) -> Write:
    """Return the write for a line of DynamoDB's full or incremental export."""
    parts: Json = _decode(line)
    image = parts["Item"] if "Item" in parts else parts.get("NewImage")
    return DeleteItem(table, plain_item(parts["Keys"])) if image is None else PutItem(table, plain_item(image))
