"""Records of bulk input: an item, and optionally the condition under which it is put.

    {"Item": {"id": {"S": "1"}}, "ConditionExpression": "attribute_not_exists(id)"}

A condition can use `ExpressionAttributeNames` and `ExpressionAttributeValues`, as in PutItem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

import msgspec

from partita.bulk import Record, Unreadable
from partita.errors import PartitaError, RequestError
from partita.store import Json
from partita.store.embedded import BulkPut
from partita.values import Item
from partita.wire._expressions import read_expressions
from partita.wire._parameters import Parameters
from partita.wire._values import read_item
from partita.wire._wording import worded

MAX_RECORD_BYTES: Final = 4 * 1024 * 1024
"""The longest record that is read: an item of 400 KB takes at most six times that in JSON, and a condition is short."""
TOO_LONG: Final = "The record is too long. The rest of the object is not read."
_PARTS: Final = frozenset(("Item", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"))
_DECODE: Final = msgspec.json.Decoder().decode


def json_records(file: BinaryIO, skip: int) -> Iterator[Record]:
    """Yield the records of JSON lines. An invalid line yields `Unreadable`; empty lines do not count."""
    number = 0
    while line := file.readline(MAX_RECORD_BYTES + 1):
        if len(line) > MAX_RECORD_BYTES:
            yield Unreadable(TOO_LONG, line)
            return
        if line.isspace():
            continue
        number += 1
        if number > skip:
            yield _json_record(line)


def _json_record(line: bytes) -> Record:
    try:
        given = _DECODE(line)
        if type(given) is dict and len(given) == 1 and type(item := given.get("Item")) is dict:
            return BulkPut(read_item(item))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Unreadable("The record is not valid JSON.", line)
    except RequestError as error:
        return refused(error, line)
    return record_of(given, lambda tagged: tagged, line)


def record_of(given: Any, tagged: Callable[[Json], Any], text: bytes = b"") -> Record:
    """The put that a record describes. `tagged` adds type tags to the attributes of a map that has none."""
    if type(given) is not dict or "Item" not in given:
        return Unreadable("The record has no Item.", text)
    unknown = sorted(str(name) for name in given.keys() - _PARTS)
    if unknown:
        return Unreadable(f"The record has unknown members: {', '.join(unknown)}.", text)
    try:
        call = dict(given)
        for name in ("Item", "ExpressionAttributeValues"):
            if name in call:
                call[name] = tagged(call[name])
        item: Item = read_item(call.pop("Item"))
        trees = read_expressions(Parameters(call), ("ConditionExpression",))
        return BulkPut(item, trees["ConditionExpression"])
    except PartitaError as error:
        return refused(error, text)


def refused(error: PartitaError, text: bytes) -> Unreadable:
    """The `Unreadable` of a refused record, with DynamoDB's message."""
    said = worded(error, "PutItem", text)
    return Unreadable(getattr(said, "message", str(said)), text)
