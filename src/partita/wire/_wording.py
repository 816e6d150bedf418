"""Decides the wording of the messages with which requests are refused.

AWS words the same rule differently from operation to operation, and changes the wording region by region. Other modules
only raise the kind of error: an invalid value (`InvalidValue`), a violated constraint (`Violated`), or another broken
rule of requests (`Refused`). The server calls `worded` for the message to the client, so the next change of AWS's
wording changes this module alone. The table shows AWS's wording in October 2026; where regions differ, that of most.

| operations | a rule of requests | a value | in an expression's values | several constraints |
| --- | --- | --- | --- | --- |
| PutItem, DeleteItem | in the envelope | current words | as elsewhere | all are named |
| UpdateItem | in the envelope | current words | as elsewhere | ReturnValues alone, else all |
| GetItem, BatchGetItem, Query | bare | current words | as elsewhere | all are named |
| all others | bare | older words | naming the placeholder | all are named |

The envelope is `1 validation error detected: …`; violated constraints are always in it. A request whose JSON is nested
more than 128 levels deep is refused with the wording of "all others".
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from partita.errors import ValidationFailed

NO_ATTRIBUTES: Final = (
    "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
)
"""The message for `SPECIFIC_ATTRIBUTES` without names: bare for a scan, in the envelope for a query."""

INVALID: Final = "One or more parameter values were invalid: "
_ENVELOPED: Final = frozenset(("PutItem", "UpdateItem", "DeleteItem"))
_CURRENT: Final = frozenset((*_ENVELOPED, "GetItem", "BatchGetItem", "Query"))
_NOT_NUMERIC: Final = "The parameter cannot be converted to a numeric value"
_UNDERFLOW: Final = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
_CURRENT_DEPTH: Final = 128
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BRACKET: Final = re.compile(rb"[{}\[\]]")
_INT: Final = 2**31
_PARTS: Final = re.compile(r"[+-]?[0-9]*(?:\.(?P<fraction>[0-9]*))?(?:[eE](?P<exponent>[+-]?[0-9]+))?", re.ASCII)
_NO_TABLES: Final = "The requestItems parameter is required for BatchWriteItem"
_NO_LIMIT: Final = "Member must have value greater than or equal to 1"
_EMPTY_NAME: Final = "Member must have length greater than or equal to 1"
_GENERIC_ENUMS: Final[dict[str, str]] = {
    "returnValues": "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]",
    "conditionalOperator": "[ALL, OR]",
}
"""Enumerations for which the current validation names neither the member nor the value, in AWS's spelling."""


class Refused(ValidationFailed):
    """A request that is invalid regardless of the stored data."""


class InvalidValue(Refused):
    """An invalid value; `older` is the message in the older wording, `placeholder` the value's placeholder."""

    def __init__(self, message: str, older: str | None = None, placeholder: str | None = None) -> None:
        super().__init__(message)
        self.older = message if older is None else older
        self.placeholder = placeholder


class UnusableValues(Refused):
    """Expression values in a request that has no expression that could use them."""

    def __init__(self, absent: Sequence[str]) -> None:
        super().__init__("ExpressionAttributeValues can only be specified when using expressions")
        self.absent = tuple(absent)


UNSHOWN: Final = object()
"""Marks a value that the message does not show."""


class Violation(Struct, frozen=True):
    """A violated constraint of a request member."""

    at: str
    value: Any
    rule: str

    def __str__(self) -> str:
        shown = "" if self.value is UNSHOWN else "null " if self.value is None else f"'{self.value}' "
        return f"Value {shown}at '{self.at}' failed to satisfy constraint: {self.rule}"


class Violated(Refused):
    """A request with one or more violated constraints."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__(_enveloped(list(map(str, violations))))
        self.violations = tuple(violations)


def worded(error: Exception, operation: str, body: bytes | bytearray = b"") -> Exception:
    """Return the error with the wording of the operation; `body` is the request body."""
    if not isinstance(error, Refused):
        return error
    if operation in _CURRENT and _is_deep(body):
        operation = ""
    if isinstance(error, Violated):
        return ValidationFailed(_all_violated(error.violations, operation))
    message = error.message
    if isinstance(error, UnusableValues) and operation not in _ENVELOPED:
        message += f": {' and '.join(error.absent)} {'is' if len(error.absent) == 1 else 'are'} null"
    if isinstance(error, InvalidValue) and operation not in _CURRENT:
        message = error.older
        if error.placeholder is not None:
            message = f"ExpressionAttributeValues contains invalid value: {message} for key {error.placeholder}"
    in_envelope = operation in _ENVELOPED or (operation == "Query" and message == NO_ATTRIBUTES)
    return ValidationFailed(_enveloped([message]) if in_envelope else message)


def _is_deep(body: bytes | bytearray) -> bool:
    """Whether the JSON is nested too deeply for the current validation, so that the older one applies."""
    if body.count(b"{") + body.count(b"[") <= _CURRENT_DEPTH:
        return False
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", body)):
        depth += 1 if bracket in b"{[" else -1
        if depth > _CURRENT_DEPTH:
            return True
    return False


def _enveloped(messages: list[str]) -> str:
    counted = "1 validation error" if len(messages) == 1 else f"{len(messages)} validation errors"
    return f"{counted} detected: {'; '.join(messages)}"


def _all_violated(violations: tuple[Violation, ...], operation: str) -> str:
    """The message for all violations; if a required member is missing, entirely in the older wording."""
    if operation == "BatchWriteItem" and violations[0].at == "RequestItems":
        return _NO_TABLES
    if operation not in _CURRENT or any(each.value is None for each in violations):
        return _enveloped(list(map(str, violations)))
    first = _first_alone(violations, operation)
    messages = [_current(each, operation) for each in ((first,) if first is not None else violations)]
    if operation == "Query" and messages[0].startswith("Failed"):
        return messages[0]
    return _enveloped(messages)


def _first_alone(violations: tuple[Violation, ...], operation: str) -> Violation | None:
    """The violation, if any, that prevents the others from being checked."""
    for each in violations:
        if each.at == "tableName" and each.value == "":
            return each
        if operation == "UpdateItem" and each.at == "returnValues":
            return each
        if operation == "Query" and each.at == "conditionalOperator":
            return each
    return None


def _current(violation: Violation, operation: str) -> str:
    if operation == "Query" and violation.at == "limit" and violation.rule == _NO_LIMIT:
        violation = Violation("Limit", UNSHOWN, violation.rule)
    if violation.at in _GENERIC_ENUMS:
        return f"Failed to satisfy constraint: Member must satisfy enum value set: {_GENERIC_ENUMS[violation.at]}"
    if violation.at == "tableName" and violation.value == "":
        return f"Value at 'TableName' failed to satisfy constraint: {_EMPTY_NAME}"
    return str(violation)


# --- values ---


def invalid_number(text: str, message: str) -> InvalidValue:
    """The error for a string that is not a valid number, with the current message."""
    return InvalidValue(message, older_number(text, message))


def older_number(text: str, message: str) -> str:
    """The message of the older number parser for the same error.

    That parser is Java's: the exponent has 32 bits, and the magnitude is computed in 32 bits and wraps around.
    """
    if not text:
        return _NOT_NUMERIC
    if message.startswith(_NOT_NUMERIC):
        return message
    if not is_convertible(text):
        return f"{_NOT_NUMERIC}: {text}"
    return _UNDERFLOW if _scale(text) <= -_INT + 1 else message


def is_convertible(text: str) -> bool:
    """Whether Java can parse the number: the exponent and the resulting scale must fit into 32 bits."""
    match = _PARTS.fullmatch(text)
    exponent = match["exponent"] if match is not None else None
    if exponent is None:
        return True
    if len(exponent.lstrip("+-0")) > len(str(_INT)):
        return False
    return -_INT <= int(exponent) < _INT and -_INT <= _scale(text) < _INT


def _scale(text: str) -> int:
    match = _PARTS.fullmatch(text)
    assert match is not None  # noqa: S101 - the text is a valid number
    return len(match["fraction"] or "") - int(match["exponent"] or "0")


def duplicate_members(kind: str, given: Sequence[Any]) -> InvalidValue:
    """The error for a set with a repeated member; `given` are the members as they were sent."""
    if kind == "NS":
        return InvalidValue(f"{INVALID}Input collection contains duplicates.", "Input collection contains duplicates")
    tail = "of type BS contains duplicates." if kind == "BS" else " contains duplicates."
    quoted = [f'"{member}"' for member in _as_read(given, base64.b64decode if kind == "BS" else str.encode)]
    shown = (", " if kind == "SS" else ",").join(quoted)
    older = f"{INVALID}Input collection [{', '.join(given)}]{tail}"
    return InvalidValue(f"{INVALID}Input collection [{shown}]{tail}", older)


def _as_read(given: Sequence[str], as_bytes: Callable[[str], bytes]) -> list[str]:
    """The members before the first repeated one, sorted by their bytes, then the repeated one and the rest as sent."""
    seen: set[str] = set()
    for place, member in enumerate(given):
        if member in seen:
            return [*sorted(seen, key=as_bytes), *given[place:]]
        seen.add(member)
    return list(given)
