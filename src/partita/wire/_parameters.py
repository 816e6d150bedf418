"""Operation types, and the parameters of calls; violated constraints are reported in DynamoDB's words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Mapping
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

from partita.errors import SerializationFailed, ValidationFailed
from partita.store import Json, Request
from partita.values import Item, text_size
from partita.wire._values import json_kind, read_item
from partita.wire._wording import INVALID, Refused, Violated, Violation

R = TypeVar("R")

Requests: TypeAlias = Generator[Request[Any], Any, R]
"""Yields requests to the store, receives their responses, and returns an `R`."""

Operation: TypeAlias = Callable[["Parameters"], Requests[Json | None]]
"""Reads the parameters of a call, makes requests, and returns the response body, or None for an empty one."""

_NAME: Final = re.compile(r"[a-zA-Z0-9_.-]+", re.ASCII)
_ARN: Final = re.compile(r"arn:[^:]*:dynamodb:[^:]*:[^:]*:table/([a-zA-Z0-9_.-]+)", re.ASCII)
DEFAULT_REGION: Final = "us-east-1"
_REGION: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SCOPE_PARTS: Final = 4
_NO_HEADERS: Final[Mapping[str, str]] = {}
MAX_NAME: Final = 255
MIN_NAME: Final = 3
MAX_ATTRIBUTE: Final = 65_535
MAX_INTEGER: Final = 2**31 - 1
MAX_LONG: Final = 2**63 - 1
CONDITIONAL_OPERATORS: Final = ("OR", "AND")
CAPACITY_DETAILS: Final = ("INDEXES", "TOTAL", "NONE")


def violated(value: Any, at: str, rule: str) -> Violation:
    """Describe a violation: `Value 'x' at 'tableName' failed to satisfy constraint: …`."""
    return Violation(at, value, rule)


def refuse(*violations: Violation) -> NoReturn:
    """Refuse the call because of these violations."""
    raise Violated(violations)


def violations_of(*readings: Callable[[], object]) -> list[Violation]:
    """All violations that the readings find; called after one was found."""
    found: list[Violation] = []
    for reading in readings:
        try:
            reading()
        except Violated as error:
            found += error.violations
    return found


def member(name: str) -> str:
    """The name of a parameter in messages: `TableName` becomes `tableName`."""
    return name[:1].lower() + name[1:]


def show(value: Any) -> str:
    """Format a structure as in AWS's messages."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}={show(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(show, value))}]"
    return str(value)


def _is_plain_name(text: str) -> bool:
    return MIN_NAME <= len(text) <= MAX_NAME and _has_plain_letters(text)


@lru_cache(maxsize=1_024)
def _has_plain_letters(text: str) -> bool:
    """Cached because clients repeat a few table names; the caller checks the length first."""
    return _NAME.fullmatch(text) is not None


def is_table_name(text: str) -> bool:
    """Whether the text is a valid table name or the ARN of a table."""
    return _is_plain_name(text) or _ARN.match(text) is not None


def check_attribute_name(name: str) -> None:
    """Refuse an attribute name that is not allowed."""
    if not name:
        raise Refused(f"{INVALID}Empty attribute name")
    if len(name) > MAX_ATTRIBUTE or text_size(name) > MAX_ATTRIBUTE:
        message = f"Attribute name is too long: it may have {MAX_ATTRIBUTE} bytes"
        raise Refused(f"{INVALID}{message}")


def region_of(headers: Mapping[str, str]) -> str:
    """The region that the request is signed for; unsigned requests use the default region."""
    scope = headers.get("authorization", "").partition("Credential=")[2].split("/", 3)
    return scope[2] if len(scope) == _SCOPE_PARTS and _REGION.fullmatch(scope[2]) else DEFAULT_REGION


class Parameters:
    """Reads the parameters of a call and refuses it at the first violation. `headers` are those of the request."""

    __slots__ = ("at", "given", "headers")

    def __init__(self, given: Any, headers: Mapping[str, str] = _NO_HEADERS, at: str = "") -> None:
        """`at` is where a structure is in the call, and precedes its members in messages: `expected.a.member.`."""
        if type(given) is not dict:
            raise _unexpected(given, "Structure")
        self.given: Json = given
        self.headers = headers
        self.at = at

    @property
    def region(self) -> str:
        """The region that the call is signed for."""
        return region_of(self.headers)

    def lacks(self, names: frozenset[str]) -> bool:
        """Whether the call has none of these parameters."""
        return names.isdisjoint(self.given)

    def table(self, name: str = "TableName") -> str:
        """A table name, also from a table ARN. If it is invalid, the error reports no other violations."""
        given = self.text(name)
        if given is not None and _is_plain_name(given):
            return given
        if given is not None and (arn := _ARN.match(given)):
            return arn[1]
        return _refuse_name(given, member(name))

    def text(self, name: str) -> str | None:
        """A string."""
        given = self.given.get(name)
        if given is not None and type(given) is not str:
            raise _unexpected(given, "String")
        return given

    def choice(self, name: str, options: Collection[str], default: str | None = None) -> str | None:
        """One of several options; any other value is a violated constraint."""
        given = self.given.get(name)
        if given is None:
            return default
        if type(given) is not str:
            raise _unexpected(given, "String")
        if given not in options:
            rule = f"Member must satisfy enum value set: [{', '.join(options)}]"
            refuse(violated(given, self.at + member(name), rule))
        return given

    def flag(self, name: str) -> bool | None:
        """A boolean."""
        given = self.given.get(name)
        if given is not None and type(given) is not bool:
            raise _unexpected(given, "Boolean")
        return given

    def whole(self, name: str, limit: int = MAX_INTEGER) -> int | None:
        """A whole number whose absolute value does not exceed the limit."""
        given = self.given.get(name)
        if given is None:
            return None
        if type(given) not in (int, float):
            raise _unexpected(given, "Integer")
        if abs(given) > limit:
            bound = f"less than or equal to {limit}" if given > 0 else f"greater than or equal to {-limit}"
            refuse(violated(given, member(name), f"Member must have value {bound}"))
        if given != int(given):
            refuse(violated(given, member(name), "Member must be a whole number"))
        return int(given)

    def page_size(self, name: str, max_size: int) -> int | None:
        """How many entries a page is to have, or None. Refuse less than 1 and more than the maximum."""
        size = self.whole(name)
        if size is not None and not 1 <= size <= max_size:
            bound = f"less than or equal to {max_size}" if size > 1 else "greater than or equal to 1"
            refuse(violated(size, member(name), f"Member must have value {bound}"))
        return size

    def instant(self, name: str) -> float | None:
        """A time, in seconds since the epoch."""
        given = self.given.get(name)
        if given is not None and type(given) not in (int, float):
            raise _unexpected(given, "Timestamp")
        return given

    def fields(self, name: str) -> Json | None:
        """A structure or map."""
        given = self.given.get(name)
        if given is not None and type(given) is not dict:
            raise _unexpected(given, "Map")
        return given

    def members(self, name: str) -> list[Any] | None:
        """A list."""
        given = self.given.get(name)
        if given is not None and type(given) is not list:
            raise _unexpected(given, "List")
        return given

    def texts(self, name: str) -> list[str] | None:
        """A list of strings."""
        given = self.members(name)
        for text in given or ():
            if type(text) is not str:
                raise _unexpected(text, "String")
        return given

    def structures(self, name: str) -> list[Json]:
        """A list of structures; empty if absent."""
        return [Parameters(part).given for part in self.members(name) or ()]

    def structures_by_name(self, name: str) -> dict[str, Json]:
        """A map of structures; empty if absent."""
        return {key: Parameters(part).given for key, part in (self.fields(name) or {}).items()}

    def required(self, name: str, at: str) -> str:
        """A required string."""
        given = self.text(name)
        if given is None:
            refuse(violated(None, at, "Member must not be null"))
        return given

    def item(self, name: str) -> Item:
        """A required item or key."""
        given = self.given.get(name)
        if given is None:
            refuse(violated(None, self.at + member(name), "Member must not be null"))
        return read_item(given)

    def capacity_detail(self) -> str:
        """The level of detail of ConsumedCapacity in the response."""
        return self.choice("ReturnConsumedCapacity", CAPACITY_DETAILS, "NONE") or "NONE"


def _refuse_name(given: str | None, at: str) -> NoReturn:
    if given is None:
        refuse(violated(None, at, "Member must not be null"))
    if not given:
        refuse(violated(given, at, "Member must have length greater than or equal to 1"))
    if len(given) > MAX_NAME:
        refuse(violated(given, at, f"Member must have length less than or equal to {MAX_NAME}"))
    if not _NAME.fullmatch(given):
        refuse(violated(given, at, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"))
    raise ValidationFailed("TableName must be at least 3 characters long and at most 255 characters long")


def _unexpected(given: Any, wanted: str) -> SerializationFailed:
    return SerializationFailed(f"{json_kind(given)} cannot be converted to {wanted}")
