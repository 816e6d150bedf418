"""Short constructors for attribute values in DynamoDB's JSON."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def s(text: str) -> Json:
    """Return a string value."""
    return {"S": text}


def n(number: object) -> Json:
    """Return a number value, which DynamoDB's JSON holds as text."""
    return {"N": str(number)}


def nested(levels: int) -> Json:
    """Return a string inside this number of lists."""
    value = s("x")
    for _ in range(levels):
        value = {"L": [value]}
    return value


def filled(key: Json, size: int) -> Json:
    """Return an item of exactly `size` bytes, with this key and one more attribute `f`."""
    used = sum(len(name) + len(value["S"].encode()) for name, value in key.items()) + 1
    return {**key, "f": s("x" * (size - used))}
