"""Attribute values in DynamoDB's JSON, written short."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def s(text: str) -> Json:
    """A string."""
    return {"S": text}


def n(number: object) -> Json:
    """A number, as its text."""
    return {"N": str(number)}


def nested(levels: int) -> Json:
    """A string inside of so many lists."""
    value = s("x")
    for _ in range(levels):
        value = {"L": [value]}
    return value


def filled(key: Json, size: int) -> Json:
    """An item of exactly so many bytes, with this key and one more attribute `f`."""
    used = sum(len(name) + len(value["S"].encode()) for name, value in key.items()) + 1
    return {**key, "f": s("x" * (size - used))}
