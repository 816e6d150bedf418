"""Entities as items: how each field is written, how an item is read, and what is said of one that does not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from partita.errors import InvalidItem
from partita.model._attributes import (
    CONVERSIONS,
    MAX_SECONDS,
    PLAIN_TYPES,
    SCALARS,
    attribute_names,
    empty_set,
    epoch_seconds,
    instant_of,
    to_attribute,
)
from partita.model._bound_key import BoundKey, kinds_of
from partita.model._field_checks import has_serializer, is_instant
from partita.values import Item

E = TypeVar("E", bound=BaseModel)
M = TypeVar("M", bound=BaseModel)

_AS_STORED: Final[dict[str, Any]] = {"by_alias": True, "round_trip": True}
"""How Pydantic writes what it is to read again: under aliases, and without what is computed."""


class ItemCodec(Generic[E]):
    """Writes entities of one class into items, and reads them from items."""

    def __init__(self, cls: type[E], keys: Sequence[BoundKey], expires: str | None) -> None:
        self._cls = cls
        self._keys = keys
        self._expires = expires
        self._attributes = attribute_names(cls)
        # A None is left out where the field's default gives it back; elsewhere it is stored as NULL.
        self._nullable = {self._attributes[name] for name, field in cls.model_fields.items() if field.default is None}
        self._encoders = {self._attributes[name]: self._encoder(name) for name in cls.model_fields}
        self._dump: Callable[..., Any] = partial(cls.__pydantic_serializer__.to_python, **_AS_STORED)
        self._read = _reader(cls, expires)
        self._view_readers: dict[type[BaseModel], Callable[[Item], Any]] = {cls: self._read}
        self._adapters: dict[str, TypeAdapter[Any]] = {}

    def item(self, entity: E) -> Item:
        """The item to store: the fields that are not None, and every derived key."""
        item: Item = self._dump(entity)
        if self._expires is not None and item.get(self._expires) is not None:
            item[self._expires] = epoch_seconds(item[self._expires])
        absent = []
        for name, value in item.items():
            kind = type(value)
            if kind in PLAIN_TYPES:
                continue
            if not value and (empty_set(value) or (value is None and name in self._nullable)):
                absent.append(name)
            else:
                item[name] = CONVERSIONS[kind](value)
        for name in absent:
            del item[name]
        for key in self._keys:
            key.write(item, key.values_of(entity))
        return item

    def entity(self, item: Item) -> E:
        """The entity in a stored item.

        Raises:
            InvalidItem: the item does not fit the entity.
        """
        try:
            return self._read(item)  # type: ignore[no-any-return]
        except ValidationError as error:
            raise self._invalid(item, error) from error

    def entity_as(self, model: type[M], item: Item) -> M:
        """The item as the entity or as a view of it.

        Raises:
            InvalidItem: the item does not fit the model.
        """
        read = self._view_readers.get(model)
        if read is None:
            read = self._view_readers[model] = _reader(model, self._expires)
        try:
            return read(item)  # type: ignore[no-any-return]
        except ValidationError as error:
            raise self._invalid(item, error) from error

    def _invalid(self, item: Item, error: ValidationError) -> InvalidItem:
        details = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False))
        return InvalidItem(f"A stored item is not a valid {self._cls.__name__}: {details}.", item=item)

    def encoder(self, attribute: str) -> Callable[[Any], Any]:
        """How a value of the field in that attribute becomes an attribute value: in the form that `item` gives it."""
        return self._encoders[attribute]

    def _encoder(self, field: str) -> Callable[[Any], Any]:
        if self._attributes[field] == self._expires:
            return epoch_seconds
        if has_serializer(self._cls, field):
            return partial(self._serialized, field)
        kinds = kinds_of(self._cls.model_fields[field].annotation)
        if all(isinstance(kind, type) and issubclass(kind, SCALARS) for kind in kinds):
            return to_attribute
        return partial(self._dumped, field)

    def _serialized(self, field: str, value: Any) -> Any:
        """A value as the field's own serializer writes it."""
        alone = self._cls.model_construct(**{field: value})
        return to_attribute(self._dump(alone, include={field})[self._attributes[field]])

    def _dumped(self, field: str, value: Any) -> Any:
        """A value as Pydantic writes its type."""
        return to_attribute(self._adapter(field).dump_python(value, **_AS_STORED, warnings=False))

    def _adapter(self, field: str) -> TypeAdapter[Any]:
        adapter = self._adapters.get(field)
        if adapter is None:
            adapter = self._adapters[field] = TypeAdapter(self._cls.model_fields[field].rebuild_annotation())
        return adapter

    def field_value(self, field: str, attribute_value: Any) -> Any:
        """A field's typed value from its attribute form."""
        attribute = self._attributes[field]
        if attribute == self._expires:
            attribute_value = _with_instant({attribute: attribute_value}, attribute)[attribute]
        return self._adapter(field).validate_python(attribute_value)

    def default(self, field: str) -> Any:
        """The value that a field has where nothing is stored."""
        return self._cls.model_fields[field].get_default(call_default_factory=True, validated_data={})

    def nullable(self, attribute: str) -> bool:
        """Whether the attribute stands for None by being absent."""
        return attribute in self._nullable


def _reader(model: type[BaseModel], expires: str | None) -> Callable[[Item], Any]:
    """What reads a stored item into an entity or a view of it."""
    validate = _validator(model)
    expiry = [model.model_fields[field] for field, name in attribute_names(model).items() if name == expires]
    if expires is None or not any(map(is_instant, expiry)):
        return validate
    return lambda item: validate(_with_instant(item, expires))


def _validator(model: type[BaseModel]) -> Callable[[Item], Any]:
    """Pydantic's validator of a model, which reads dates and enums from text also where the model is strict."""
    how: dict[str, Any] = {}
    if model.model_config.get("strict"):
        how["strict"] = False
    if any(field.alias not in (None, name) for name, field in model.model_fields.items()):
        how |= {"by_alias": True, "by_name": False}  # another attribute may have the name of a field
    validate = model.__pydantic_validator__.validate_python
    return partial(validate, **how) if how else validate


def _with_instant(item: Item, expires: str) -> Item:
    """The item with its expiry as an instant where Pydantic would take so large a number for milliseconds."""
    seconds = item.get(expires)
    if type(seconds) is not int or seconds <= MAX_SECONDS:
        return item
    return {**item, expires: instant_of(seconds)}
