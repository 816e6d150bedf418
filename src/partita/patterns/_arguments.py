"""Arguments of access patterns as text, from a command line or a form.

| parameter | written as |
| --- | --- |
| text, number, date, enum | as in a URL: `pending`, `2026-01-31` |
| `Span` | `2026-01-01..2026-01-31`, where either end can be omitted |
| `Prefix` | the beginning |
| an entity, a list | JSON |
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, TypeAlias, get_args, get_origin

from msgspec import Struct
from pydantic import BaseModel, PydanticSchemaGenerationError, TypeAdapter, ValidationError

from partita.model import Prefix, Span, kinds_of
from partita.operations import Operation
from partita.patterns._patterns import Pattern

Form: TypeAlias = Literal["text", "number", "date", "instant", "choice", "json"]


class UnfitArgument(ValueError):
    """A text does not fit its parameter; the message contains the reason."""

    def __init__(self, parameter: str, text: str, reason: str) -> None:
        super().__init__(f"{text!r} does not fit: {reason}.")
        self.parameter = parameter


class Parameter(Struct, frozen=True):
    """The properties of a pattern's parameter that a form needs."""

    name: str
    form: Form
    is_range: bool = False
    """Whether the parameter is a range, with two optional ends."""
    is_prefix: bool = False
    choices: tuple[str, ...] = ()


def parameters_of(pattern: Pattern) -> list[Parameter] | None:
    """Return the parameters of a pattern; None if one of them cannot be written as text."""
    try:
        return [_parameter(name, hint) for name, hint in pattern.hints.items()]
    except PydanticSchemaGenerationError:
        return None


def operation_of(pattern: Pattern, texts: Mapping[str, str]) -> Operation[Any]:
    """Return the operation that a pattern builds from arguments given as text.

    Raises:
        UnfitArgument: an argument is missing, or does not fit its parameter.
    """
    assert pattern.function is not None  # noqa: S101 - every declared pattern has one
    return pattern.function(*(_value(name, hint, texts.get(name, "")) for name, hint in pattern.hints.items()))


def _parameter(name: str, hint: Any) -> Parameter:
    origin = get_origin(hint)
    if origin in (Span, Prefix):
        inner = _parameter(name, get_args(hint)[0])
        return Parameter(name, inner.form, origin is Span, origin is Prefix, inner.choices)
    if choices := _choices(hint):
        return Parameter(name, "choice", choices=choices)
    TypeAdapter(hint)  # raises for types that cannot be written as text
    return Parameter(name, _form(kinds_of(hint)[0]))


def _choices(hint: Any) -> tuple[str, ...]:
    kind = kinds_of(hint)[0]
    if get_origin(hint) is Literal:
        return tuple(map(str, get_args(hint)))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(member.value) for member in kind)
    return ("true", "false") if kind is bool else ()


def _form(kind: Any) -> Form:
    if not isinstance(kind, type) or get_origin(kind) is not None or issubclass(kind, BaseModel):
        return "json"
    if issubclass(kind, int | Decimal):
        return "number"
    if issubclass(kind, datetime):
        return "instant"
    return "date" if issubclass(kind, date) else "text"


def _value(name: str, hint: Any, text: str) -> Any:
    try:
        return _parse(hint, text)
    except PydanticSchemaGenerationError:
        raise UnfitArgument(name, text, "it cannot be written as text") from None
    except ValidationError as error:
        reason = "; ".join(_reason(detail) for detail in error.errors(include_url=False, include_input=False))
        raise UnfitArgument(name, text, reason) from None


def _parse(hint: Any, text: str) -> Any:
    kinds = get_args(hint)
    if get_origin(hint) is Span:
        first, dots, last = text.partition("..")
        low, high = (_parse(kinds[0], end) if end else None for end in ((first, last) if dots else (text, text)))
        return Span(low, high)
    if get_origin(hint) is Prefix:
        return Prefix(_parse(kinds[0], text))
    entity = next((kind for kind in kinds_of(hint) if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
    if entity is not None:
        return entity.model_validate_json(text)
    adapter = TypeAdapter(hint)
    return adapter.validate_json(text) if text.startswith(("[", "{")) else adapter.validate_python(text)


def _reason(detail: Any) -> str:
    where = ".".join(str(part) for part in detail["loc"])
    return f"{where}: {detail['msg']}" if where else str(detail["msg"])
