"""The type of a field, inferred from its values: the narrowest type that writes each of them back exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from partita.errors import OperationError
from partita.model import to_attribute
from partita.values import Kind, kind_of

_TIMES: Final[dict[str, TypeAdapter[Any]]] = {"datetime": TypeAdapter(datetime), "date": TypeAdapter(date)}
_MAX_SECONDS: Final = 20_000_000_000


def annotation_of(values: Sequence[Any]) -> str | None:
    """Return the type as Python source, without None; None if no value determines it."""
    present = [value for value in values if value is not None]
    kinds: set[Kind] = {kind_of(value) for value in present}
    if len(kinds) > 1:
        return "Any"
    return _BY_KIND[kinds.pop()](present) if kinds else None


def expiry_annotation(values: Sequence[Any]) -> str | None:
    """Return the type of a TTL attribute: an instant or a number; None if some value is neither."""
    if any(type(value) is not int for value in values):
        return None
    return "datetime" if all(0 <= value <= _MAX_SECONDS for value in values) else "int"


def typed(value: Any, annotation: str) -> Any:
    """Convert a stored value to the value of a field with that type."""
    return _TIMES[annotation].validate_python(value) if annotation in _TIMES and value is not None else value


def reads_back(text: str, kind: str) -> bool:
    """Whether a string is a `date` or `datetime` that is written back as the same string."""
    try:
        return bool(to_attribute(_TIMES[kind].validate_python(text)) == text)
    except (ValidationError, OperationError):
        return False


def _text_type(texts: Sequence[str]) -> str:
    return next((kind for kind in _TIMES if all(reads_back(text, kind) for text in texts)), "str")


def _number_type(numbers: Sequence[Any]) -> str:
    return "Decimal" if any(isinstance(number, Decimal) for number in numbers) else "int"


def _element_type(lists: Sequence[list[Any]]) -> str:
    """Return the element type of lists, from all their elements; `Any` if they contain None, lists or sets."""
    elements = [element for each in lists for element in each]
    if not elements or any(element is None or isinstance(element, list | frozenset | set) for element in elements):
        return "Any"
    found = annotation_of(elements)
    return "str" if found in ("date", "datetime") else found or "Any"


def _number_set_type(sets: Sequence[frozenset[Any]]) -> str:
    return f"frozenset[{_number_type([number for each in sets for number in each])}]"


_BY_KIND: Final[dict[Kind, Callable[[Sequence[Any]], str]]] = {
    "S": _text_type,
    "N": _number_type,
    "B": lambda _: "bytes",
    "BOOL": lambda _: "bool",
    "L": lambda lists: f"list[{_element_type(lists)}]",
    "M": lambda _: "dict[str, Any]",
    "SS": lambda _: "frozenset[str]",
    "NS": _number_set_type,
    "BS": lambda _: "frozenset[bytes]",
}
