"""Checks that the stored form of a field reads back as the same value, which run when the class is created."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import is_dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel, JsonValue, PlainSerializer, SecretBytes, SecretStr, WrapSerializer
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

from partita.errors import ModelError
from partita.model._attributes import SCALARS, can_be_stored
from partita.model.keys import kinds_of

_TTL_KINDS: Final = (datetime, int, float, Decimal)


def check_fields(model: type[BaseModel]) -> None:
    """Reject fields that would not read back as they were, in a model and in the models inside it.

    Raises:
        ModelError: a field is invalid; the message names it.
    """
    for name, field in model.model_fields.items():
        _check_field(model, name, field)
    for inner in _models_inside(model):
        if inner.model_config.get("strict"):
            message = f"{inner.__name__} is strict, so dates and enums, which are stored as text, could not be read."
            raise ModelError(message, owner=model, hint="Do not make models inside an entity strict.")
        for name, field in inner.model_fields.items():
            _check_field(inner, name, field)


def check_ttl(label: str, field: FieldInfo) -> None:
    """Reject a TTL field that is neither an instant nor a number of seconds."""
    for kind in kinds_of(field.annotation):
        if not isinstance(kind, type) or issubclass(kind, bool) or not issubclass(kind, _TTL_KINDS):
            raise ModelError(f"{label} is the table's TTL, so it must be a datetime or a number of seconds.")


def is_instant(field: FieldInfo) -> bool:
    """Whether the field contains a date with a time."""
    return any(isinstance(kind, type) and issubclass(kind, datetime) for kind in kinds_of(field.annotation))


def has_serializer(model: type[BaseModel], name: str) -> bool:
    """Whether the field is written by a custom serializer."""
    decorators = model.__pydantic_decorators__
    decorated = [part for each in decorators.field_serializers.values() for part in each.info.fields]
    in_metadata = any(isinstance(mark, PlainSerializer | WrapSerializer) for mark in model.model_fields[name].metadata)
    return in_metadata or name in decorated or "*" in decorated


def _check_field(model: type[BaseModel], name: str, field: FieldInfo) -> None:
    label = f"{model.__name__}.{name}"
    if field.exclude:
        raise ModelError(f"{label} has exclude=True, so it would never be stored.", owner=model)
    if any(alias not in (None, field.alias) for alias in (field.validation_alias, field.serialization_alias)):
        message = f"{label} is stored under one alias and read under another."
        raise ModelError(message, owner=model, hint='Use Field(alias="…") alone.')
    if any(_is_set(kind) for kind in kinds_of(field.annotation)) and not _is_empty_set(field):
        message = f"{label}: DynamoDB has no empty set, so a set needs an empty default."
        raise ModelError(message, owner=model, hint="Write Field(default_factory=frozenset).")
    if not has_serializer(model, name):
        _check_forms(label, field.annotation, model)
    if any(_is_set(value) for value in _values_of_maps(field.annotation)):
        message = f"{label}: DynamoDB has no empty set, so a map of sets could lose some of its keys."
        raise ModelError(message, owner=model, hint="Use lists as its values.")


def holds_json(annotation: Any) -> bool:
    """Whether a field contains arbitrary JSON: Pydantic's `JsonValue`."""
    return annotation is JsonValue or any(map(holds_json, get_args(annotation)))


def _check_forms(label: str, annotation: Any, model: type[BaseModel]) -> None:
    """Reject types whose values cannot be stored, or would not read back."""
    for kind in kinds_of(annotation):
        origin, arguments = get_origin(kind) or kind, get_args(kind)
        if isinstance(origin, type) and issubclass(origin, SecretStr | SecretBytes):
            message = f"{label} is a {origin.__name__}, which would be stored as asterisks."
            raise ModelError(message, owner=model, hint="Declare it as Encrypted[str], or add a serializer.")
        if isinstance(origin, type) and not _has_form(origin):
            message = f"{label}: a {origin.__name__} cannot be stored as an attribute."
            raise ModelError(message, owner=model, hint="Add a Pydantic serializer to the field, or use another type.")
        if isinstance(origin, type) and issubclass(origin, dict) and arguments:
            _check_map_key(label, arguments[0], model)
        if _is_set(kind) and arguments:
            _check_member(label, arguments[0], model)
        for argument in arguments:
            if argument is not Ellipsis and kind is not JsonValue and get_origin(kind) is not Literal:
                _check_forms(label, argument, model)


def _has_form(kind: type) -> bool:
    if kind is Any:
        return True
    is_structured = (
        is_dataclass(kind) or is_typeddict(kind) or issubclass(kind, tuple | AbstractSet | Mapping | Sequence)
    )
    return (
        is_structured
        or kind in (object, type(None))
        or can_be_stored(kind)
        or hasattr(kind, "__get_pydantic_core_schema__")
    )


def _check_map_key(label: str, annotation: Any, model: type[BaseModel]) -> None:
    for kind in kinds_of(annotation):
        is_class = isinstance(kind, type) and get_origin(kind) is None
        if get_origin(kind) is not None or (is_class and kind is not object and not issubclass(kind, SCALARS)):
            message = f"{label}: the keys of a map are stored as text, from which a {kind} cannot be read."
            raise ModelError(message, owner=model, hint="Use text, numbers, dates or enums as keys.")


def _check_member(label: str, annotation: Any, model: type[BaseModel]) -> None:
    """Reject a set of values that DynamoDB's sets cannot hold: they are of strings, of numbers or of binaries."""
    for kind in kinds_of(annotation):
        origin = get_origin(kind) or kind
        is_root_model = getattr(origin, "__pydantic_root_model__", False)  # the class RootModel takes long to load
        if not isinstance(origin, type) or is_root_model:
            continue
        if issubclass(origin, bool | list | dict | tuple | AbstractSet | BaseModel):
            message = f"{label}: a set holds text, numbers or bytes, and not a {origin.__name__}."
            raise ModelError(message, owner=model, hint="Use a list.")


def _is_empty_set(field: FieldInfo) -> bool:
    if field.is_required():
        return False
    default = field.get_default(call_default_factory=True, validated_data={})
    return isinstance(default, set | frozenset) and not default


def _is_set(kind: Any) -> bool:
    return (get_origin(kind) or kind) in (set, frozenset)


def _values_of_maps(annotation: Any) -> Iterator[Any]:
    for kind in kinds_of(annotation):
        arguments = get_args(kind)
        if get_origin(kind) is dict and arguments:
            yield from kinds_of(arguments[1])
        for argument in arguments:
            yield from _values_of_maps(argument)


def _models_inside(model: type[BaseModel]) -> list[type[BaseModel]]:
    found: dict[type[BaseModel], None] = {}
    waiting = [model]
    while waiting:
        for field in waiting.pop().model_fields.values():
            new = [inner for inner in _models_in(field.annotation) if inner not in found and inner is not model]
            found |= dict.fromkeys(new)
            waiting += new
    return list(found)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
