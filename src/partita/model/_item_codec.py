"""Conversion between entities and items: writing each field, reading an item, and the error if it does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from operator import attrgetter
from typing import Any, Final, Generic, TypeAlias, TypeVar

import pydantic
from pydantic import BaseModel, ValidationError

from partita.errors import InvalidItem, OperationError
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
from partita.model._field_checks import has_serializer, holds_json, is_instant
from partita.model._stored_forms import from_forms, stored_forms, to_forms
from partita.model._table import TypeTag
from partita.model.keys import (
    BoundKey,
    StoredKey,
    StoredKeys,
    Template,
    has_remembered,
    key_to_write,
    kinds_of,
    remember_key,
)
from partita.values import Item

E = TypeVar("E", bound=BaseModel)
M = TypeVar("M", bound=BaseModel)

_KeyPart: TypeAlias = tuple[str, Callable[[Any], Sequence[Any]], Callable[[Sequence[Any]], Any]]
"""A key attribute, a function that gets the values of its fields from an entity, and one that renders it from them."""

_AS_STORED: Final[dict[str, Any]] = {"by_alias": True, "round_trip": True}
"""Options for Pydantic to write a form that it can read back: with aliases, and without computed fields."""


class ItemCodec(Generic[E]):
    """Writes entities of one class into items, and reads them from items."""

    def __init__(self, cls: type[E], keys: Sequence[BoundKey], expires: str | None, tag: TypeTag | None = None) -> None:
        """Prepare writing and reading.

        Args:
            cls: the class of the entities.
            keys: all of their keys, the primary one first.
            expires: the attribute with their expiry time.
            tag: the attribute that identifies the entity of an item, if the table has one.
        """
        self._cls = cls
        self._keys = keys
        self._expires = expires
        self._tag = tag
        self._attributes = attribute_names(cls)
        self._key_parts = tuple(_key_part(attribute.name, template) for attribute, template in keys[0].attributes)
        self._stored_keys = StoredKeys(keys[0], cls, self._attributes)
        self.key_only = self._stored_keys.key_only
        # None is omitted if the field's default restores it; otherwise it is stored as NULL.
        self._nullable = {self._attributes[name] for name, field in cls.model_fields.items() if field.default is None}
        key_names = tuple(attribute.name for attribute, _ in keys[0].attributes)
        self.forms = stored_forms(cls, self._attributes, key_names)
        """The compressed or encrypted attributes, whose values the store cannot interpret."""
        self._encoders = {self._attributes[name]: self._encoder(name) for name in cls.model_fields}
        self._dump: Callable[..., Any] = partial(cls.__pydantic_serializer__.to_python, **_AS_STORED)
        self._read = self._reader(cls)
        self._has_produced_key = self._stored_keys.is_produced
        self._view_readers: dict[type[BaseModel], Callable[[Item], Any]] = {}
        self._adapters: dict[str, pydantic.TypeAdapter[Any]] = {}
        self._field_readers: dict[str, Callable[[Any], Any]] = {}

    def item(self, entity: E) -> Item:
        """Return the item to store: the fields that are not None, and every derived key."""
        item: Item = self._dump(entity)
        if self._expires is not None and item.get(self._expires) is not None:
            item[self._expires] = epoch_seconds(item[self._expires])
        absent = []
        for name, value in item.items():
            kind = type(value)
            if kind in PLAIN_TYPES:
                continue
            if not value and ((value is None and name in self._nullable) or empty_set(value)):
                absent.append(name)
            else:
                item[name] = CONVERSIONS[kind](value)
        for name in (*absent, *self.key_only):
            del item[name]
        if self.forms:
            item = to_forms(item, self.forms)
        for key in self._keys:
            key.write(item, key.values_of(entity))
        if self._tag is not None:
            item[self._tag.attribute] = self._tag.name
        if has_remembered(entity):
            item |= key_to_write(entity, self.key_of(item))
        return item

    def key_of(self, item: Item) -> Item:
        """Return the primary key of an item."""
        return {attribute.name: item[attribute.name] for attribute, _ in self._keys[0].attributes}

    def entity(self, item: Item) -> E:
        """Read the entity in a stored item.

        Raises:
            InvalidItem: the item does not fit the entity.
        """
        try:
            entity: E = self._read(item)
        except ValidationError as error:
            entity = self._read_with_key(item, error)
        if not self._has_produced_key(item):
            self._remember_other_key(entity, item)
        return entity

    def entities(self, items: Iterable[Item]) -> list[E]:
        """Read the entities in stored items, like `entity`, but without a call for each."""
        read, has_produced_key, found = self._read, self._has_produced_key, list[E]()
        for item in items:
            try:
                entity: E = read(item)
            except ValidationError as error:
                entity = self._read_with_key(item, error)
            if not has_produced_key(item):
                self._remember_other_key(entity, item)
            found.append(entity)
        return found

    def _read_with_key(self, item: Item, error: ValidationError) -> E:
        """Read the entity in an item that has a field only in its key, although it is not declared as `KeyOnly`."""
        try:
            entity: E = self._read(self._stored_keys.filled(item))
        except ValueError:  # Pydantic's error is a ValueError too
            raise self._invalid(item, error) from self._shown(error)
        return entity

    def _remember_other_key(self, entity: E, item: Item) -> None:
        """Make the entity remember its stored key, if its fields would produce a different one."""
        if not all(attribute.name in item for attribute, _ in self._keys[0].attributes):
            return  # not a stored item, only fields of an item
        stored = self.key_of(item)
        try:
            produced = self.produced_key(entity)
        except OperationError:
            return  # also for an InvalidKey: the item can be read, and a write raises the error
        if stored != produced:
            remember_key(entity, StoredKey(stored, produced))

    def produced_key(self, entity: E) -> Item:
        """Return the key that the fields of an entity produce.

        Raises:
            InvalidKey: they do not produce a valid key.
        """
        return {name: render(attributes(entity)) for name, attributes, render in self._key_parts}

    def entity_as(self, model: type[M], item: Item) -> M:
        """Read the item as the entity or as a view of it.

        Raises:
            InvalidItem: the item does not fit the model.
        """
        if model is self._cls:
            return self.entity(item)  # type: ignore[return-value]
        read = self._view_readers.get(model)
        if read is None:
            read = self._view_readers[model] = self._reader(model)
        try:
            return read(item)  # type: ignore[no-any-return]
        except ValidationError as error:
            raise self._invalid(item, error) from self._shown(error)

    def _invalid(self, item: Item, error: ValidationError) -> InvalidItem:
        details = reasons(error)
        where = self.place(item)
        named = f"The item at {where}" if where else "This item"
        return InvalidItem(f"{named} is not a valid {self._cls.__name__}: {details}.", item=item, reason=details)

    def _shown(self, error: ValidationError) -> ValidationError | None:
        """Return the error as a cause to show; none if it could show the value of an encrypted field."""
        return None if any(form.encrypted for form in self.forms.values()) else error

    def place(self, item: Item) -> str:
        """Return the key of a stored item in words, for messages; empty if it has none of its attributes."""
        names = [attribute.name for attribute, _ in self._keys[0].attributes if attribute.name in item]
        return ", ".join(f"{name} {item[name]!r:.100}" for name in names)

    def _reader(self, model: type[BaseModel]) -> Callable[[Item], Any]:
        """Return a function that reads a stored item into an entity or a view of it."""
        read = _validator(model)
        names = attribute_names(model)
        expiry = [model.model_fields[field] for field, name in names.items() if name == self._expires]
        if json := [names[field] for field, info in model.model_fields.items() if holds_json(info.annotation)]:
            read = _after(partial(_with_floats, names=json), read)
        if self._expires is not None and any(map(is_instant, expiry)):
            read = _after(partial(_with_instant, expires=self._expires), read)
        if self.key_only.intersection(names.values()):
            read = _after(self._with_key, read)
        if model.model_config.get("extra") == "allow":
            read = _after(self._without_derived, read)
        if forms := {name: form for name, form in self.forms.items() if name in names.values()}:
            read = _after(partial(from_forms, forms=forms), read)
        return read

    def _with_key(self, item: Item) -> Item:
        """Return the item with the fields from its key; unchanged if the key does not belong to this entity."""
        try:
            return self._stored_keys.filled(item)
        except ValueError:
            return item

    def _without_derived(self, item: Item) -> Item:
        """Return the item without the attributes that every write recomputes, and that are not fields."""
        derived = {name for key in self._keys for name in key.written} - set(self._attributes.values())
        derived |= {self._tag.attribute} if self._tag else set()
        return {name: value for name, value in item.items() if name not in derived}

    def encoder(self, attribute: str) -> Callable[[Any], Any]:
        """Return the function that converts a value of the attribute's field to its attribute value, as in `item`."""
        return self._encoders[attribute]

    def _encoder(self, field: str) -> Callable[[Any], Any]:
        encode, form = self._value_encoder(field), self.forms.get(self._attributes[field])
        return encode if form is None else lambda value: form.write(encode(value))

    def _value_encoder(self, field: str) -> Callable[[Any], Any]:
        if self._attributes[field] == self._expires:
            return epoch_seconds
        if has_serializer(self._cls, field):
            return partial(self._serialized, field)
        kinds = kinds_of(self._cls.model_fields[field].annotation)
        if kinds == (date,):
            return partial(_date_text, f"{self._cls.__name__}.{field}")
        if all(isinstance(kind, type) and issubclass(kind, SCALARS) for kind in kinds):
            return to_attribute
        return partial(self._dumped, field)

    def _serialized(self, field: str, value: Any) -> Any:
        """Convert a value with the field's own serializer."""
        alone = self._cls.model_construct(**{field: value})
        return to_attribute(self._dump(alone, include={field})[self._attributes[field]])

    def _dumped(self, field: str, value: Any) -> Any:
        """Convert a value with Pydantic's serializer for the type."""
        return to_attribute(self._adapter(field).dump_python(value, **_AS_STORED, warnings=False))

    def _adapter(self, field: str) -> pydantic.TypeAdapter[Any]:
        adapter = self._adapters.get(field)
        if adapter is None:
            annotation = self._cls.model_fields[field].rebuild_annotation()
            adapter = self._adapters[field] = pydantic.TypeAdapter(annotation)  # loaded on first use
        return adapter

    def field_value(self, field: str, attribute_value: Any) -> Any:
        """Return a field's typed value from its attribute value."""
        read = self._field_readers.get(field)
        if read is None:
            read = self._field_readers[field] = self._field_reader(field)
        return read(attribute_value)

    def _field_reader(self, field: str) -> Callable[[Any], Any]:
        read: Callable[[Any], Any] = self._adapter(field).validator.validate_python
        attribute = self._attributes[field]
        if form := self.forms.get(attribute):
            read = _after(lambda value: form.read(value, {}), read)
        if attribute == self._expires:
            read = _after(lambda value: _with_instant({attribute: value}, attribute)[attribute], read)
        return read

    def default(self, field: str) -> Any:
        """Return the value of a field if nothing is stored."""
        return self._cls.model_fields[field].get_default(call_default_factory=True, validated_data={})

    def is_absence(self, attribute: str, value: Any) -> bool:
        """Whether the value of a field is stored by omitting its attribute."""
        return empty_set(value) or (value is None and attribute in self._nullable)

    def nullable(self, attribute: str) -> bool:
        """Whether a missing attribute represents None."""
        return attribute in self._nullable


def _date_text(label: str, value: Any) -> Any:
    """Return the text of a date. An instant is a date for type checkers, but its text is never equal to that of one."""
    if isinstance(value, datetime):
        hint = "Pass the date of the instant: instant.date()."
        raise OperationError(f"{label} is a date, and {value!r} is an instant.", hint=hint)
    return to_attribute(value)


def _key_part(attribute: str, template: Template) -> _KeyPart:
    """Return how one attribute of a key is produced from an entity."""
    names = template.fields
    one: Callable[[Any], Sequence[Any]] = lambda entity: [getattr(entity, name) for name in names]  # noqa: E731
    return attribute, attrgetter(*names) if len(names) > 1 else one, template.renderer(range(len(names)))


def reasons(error: ValidationError) -> str:
    """Describe the validation errors, field by field."""
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False))


def _after(prepare: Callable[[Any], Any], read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda stored: read(prepare(stored))


def _with_floats(item: Item, names: Sequence[str]) -> Item:
    """Return the item with the decimals inside JSON fields as floats, as JSON represents them."""
    return {**item, **{name: _json(item[name]) for name in names if name in item}}


def _json(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _json(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_json(member) for member in value]
    return float(value) if isinstance(value, Decimal) else value


def _validator(model: type[BaseModel]) -> Callable[[Item], Any]:
    """Return Pydantic's validator of a model; it reads dates and enums from text even if the model is strict."""
    how: dict[str, Any] = {}
    if model.model_config.get("strict"):
        how["strict"] = False
    if any(field.alias not in (None, name) for name, field in model.model_fields.items()):
        how |= {"by_alias": True, "by_name": False}  # another attribute may be named like a field
    validate = model.__pydantic_validator__.validate_python
    return partial(validate, **how) if how else validate


def _with_instant(item: Item, expires: str) -> Item:
    """Return the item with its expiry as an instant if Pydantic would interpret the number as milliseconds."""
    seconds = item.get(expires)
    if type(seconds) is not int or seconds <= MAX_SECONDS:
        return item
    return {**item, expires: instant_of(seconds)}
