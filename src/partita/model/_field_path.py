"""Paths to fields, built by accessing a field on its class: `Task.address.city`, `Task.tags[0]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, get_args, get_origin

from pydantic import BaseModel

from partita.errors import OperationError
from partita.model._attributes import to_attribute
from partita.model.keys import kinds_of

Encode: TypeAlias = Callable[[Any], Any]
"""Converts a value of a field to an attribute value."""


class FieldPath:
    """The value of `Task.address.city` at run time: a path that can be extended. Type checkers see the field's type."""

    __slots__ = ("_annotation", "_encode", "_nullable", "_parts")

    def __init__(
        self,
        parts: tuple[str | int, ...],
        annotation: Any,
        *,
        encode: Encode = to_attribute,
        nullable: bool = False,
    ) -> None:
        self._parts = parts
        self._annotation = annotation
        self._encode = encode
        self._nullable = nullable

    def __getattr__(self, name: str) -> FieldPath:
        for model in kinds_of(self._annotation):
            if isinstance(model, type) and issubclass(model, BaseModel) and name in model.model_fields:
                field = model.model_fields[name]
                return FieldPath((*self._parts, field.alias or name), field.annotation)
        raise AttributeError(f"{self!r} has no field {name!r}.")

    def __getitem__(self, member: Any) -> FieldPath:
        for kind in kinds_of(self._annotation):
            if (found := _member(kind, member)) is not None:
                return FieldPath((*self._parts, found[0]), found[1])
        hint = "Use a key of a map, or a position in a list, counted from 0."
        raise OperationError(f"{self!r} has no member {member!r:.60}.", hint=hint)

    def __eq__(self, other: object) -> bool:
        raise OperationError(
            f"{self!r} == {other!r:.40} does not compare a stored value.", hint="Write f(Task.field).eq(value)."
        )

    __hash__ = object.__hash__
    __iter__ = None  # otherwise Python would iterate by position, without end

    def __repr__(self) -> str:
        return ".".join(str(part) for part in self._parts)


def _member(kind: Any, member: Any) -> tuple[str | int, Any] | None:
    """Return the path part for a member of such a map or list, and the member's type; None if there is no such part."""
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    is_position = type(member) is int and member >= 0
    if kind in (Any, object) or not isinstance(origin, type):  # the member decides between a map and a list
        return (member if is_position else _map_key(member)), Any
    if issubclass(origin, Mapping):
        return _map_key(member), arguments[-1] if arguments else Any
    if is_position and issubclass(origin, Sequence) and not issubclass(origin, str | bytes):
        return member, _element(arguments, member)
    return None


def _map_key(member: Any) -> str:
    """Return the text under which a key of a `dict` is stored."""
    return str(to_attribute(member))


def _element(arguments: tuple[Any, ...], position: int) -> Any:
    """Return the type of one element: `tuple[str, int]` has one type per position, other types have a single one."""
    if len(arguments) > 1 and arguments[1] is not Ellipsis:
        return arguments[position] if position < len(arguments) else Any
    return arguments[0] if arguments else Any
