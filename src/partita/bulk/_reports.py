"""Report lines, which say which record was not written, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal, TypeAlias

import msgspec

from partita.errors import ConditionFailed, RequestError, ValidationFailed
from partita.store import Json, wire_item
from partita.values import Item

ReportKind: TypeAlias = Literal["ERROR", "CONDITION_CHECK_FAILURE"]
"""The kind of a report, with DynamoDB's name for it."""

ERROR: Final = "ERROR"
"""The report of records that could not be read or stored."""
CONDITION: Final = "CONDITION_CHECK_FAILURE"
"""The report of records whose condition was false."""
PART_BYTES: Final = 64 * 1024 * 1024
MAX_TEXT: Final = 4_096
"""The maximum length of the excerpt of an unreadable record."""


def unreadable_line(name: str, number: int, message: str, text: bytes) -> bytes:
    """The report line of a record, or of a whole input, that could not be read."""
    shown = text[:MAX_TEXT].decode(errors="replace").rstrip("\n")
    line: Json = {"Object": name, "Record": number, "ErrorCode": "ValidationException", "ErrorMessage": message}
    return _line(line | ({"Text": shown} if shown else {}))


def rejected_line(name: str, number: int, item: Item, error: ValidationFailed | ConditionFailed) -> tuple[str, bytes]:
    """The kind and the report line of a record that was read but not written."""
    line: Json = {"Object": name, "Record": number}
    if isinstance(error, ConditionFailed):
        line |= {"ErrorCode": "ConditionalCheckFailedException", "ErrorMessage": error.message, "Item": _tagged(item)}
        return CONDITION, _line(line | ({} if error.item is None else {"ExistingItem": wire_item(error.item)}))
    line |= {"ErrorCode": "ValidationException", "ErrorMessage": error.message, "Item": _tagged(item)}
    return ERROR, _line(line)


def _tagged(item: Item) -> Json:
    """The item as DynamoDB JSON, or an empty object: a rejected item may not be representable."""
    try:
        return wire_item(item)
    except RequestError:
        return {}


def _line(content: Json) -> bytes:
    return msgspec.json.encode(content) + b"\n"


def write_parts(pieces: Iterator[bytes], write: Callable[[int, bytes], object]) -> int:
    """Write lines in parts, each of complete lines, and return the number of parts."""
    number, held = 0, bytearray()
    for piece in pieces:
        held += piece
        if len(held) >= PART_BYTES:
            end = held.rfind(b"\n") + 1
            if end:
                write(number, bytes(held[:end]))
                number += 1
                del held[:end]
    if held:
        write(number, bytes(held))
        number += 1
    return number
