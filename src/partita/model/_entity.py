"""Entities: Pydantic models with key templates, bound to a declared table when the class is created."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, dataclass_transform, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, create_model

from partita.errors import InvalidItem, ModelError, OperationError
from partita.expressions import (
    And,
    Compare,
    Condition,
    Exists,
    Missing,
    Not,
    Or,
    Path,
    Projection,
    Value,
    apply_update,
    paths_in,
)
from partita.model._attributes import attribute_names
from partita.model._entity_checks import check_entity
from partita.model._field_path import FieldPath
from partita.model._fields import Change
from partita.model._item_codec import ItemCodec, reasons
from partita.model._table import Table, TypeTag
from partita.model._updates import to_update
from partita.model._version import version_field
from partita.model.keys import BoundKey, Key, derived_of, inherit_key, key_to_write
from partita.values import Item

E = TypeVar("E", bound="Entity")


class PartialItem(BaseModel, defer_build=True):
    """An entity of which only some fields were read: the other fields are None, and it cannot be written."""


class EntitySchema(Generic[E]):
    """Everything that is derived from one entity class."""

    def __init__(self, cls: type[E], table: Table, type_name: str | None = None) -> None:
        self.cls = cls
        self.name = cls.__name__
        self.table = table
        self.tag = _type_tag(cls, table, type_name)
        self.attributes = attribute_names(cls)
        self.fields = {attribute: field for field, attribute in self.attributes.items()}
        """The field that is stored in each attribute."""
        self.annotations = {name: field.annotation for name, field in cls.model_fields.items()}
        """The types of the fields and of the derived parts."""
        self.annotations |= {name: part.annotation for name, part in derived_of(cls).items()}
        self.version = version_field(cls)
        self.expires = table.schema.ttl if table.schema.ttl in self.fields else None
        self.keys = _bound_keys(cls, table)
        self.primary = self.keys["primary"]
        self.secondary = tuple(key for key in self.keys.values() if key is not self.primary)
        check_entity(self)
        self.codec = ItemCodec(cls, (self.primary, *self.secondary), self.expires, self.tag)
        # Bound here, so that the functions that run for every item cost only one call.
        self.item = self.codec.item
        self.entity = self.codec.entity
        self.entity_as = self.codec.entity_as

    def __repr__(self) -> str:
        return f"<schema of {self.name}>"

    def attribute(self, field: str) -> str:
        """Return the attribute in which a field is stored."""
        return self.attributes[field]

    def bound(self, key: Key) -> BoundKey:
        """Return the bound form of one of the entity's declared keys."""
        for name, bound in self.keys.items():
            if getattr(self.cls, name) is key:
                return bound
        hint = f"It has: {', '.join(self.keys)}."
        raise ModelError(f"{key} is not a key of {self.name}.", owner=self.cls, hint=hint)

    def key(self, entity: E) -> Item:
        """Return the key attributes of the item: those it was read with, or else those that its fields produce."""
        return key_to_write(entity, self.codec.produced_key(entity))

    def owns(self, item: Mapping[str, Any]) -> bool:
        """Whether the item belongs to this entity, according to its type attribute, or else its key."""
        if self.tag is None or self.tag.attribute not in item:
            return self.primary.matches(item)
        return bool(item[self.tag.attribute] == self.tag.name)

    @cached_property
    def partial(self) -> type[PartialItem]:
        """A model with the entity's fields, all of them optional, for reads of some of the fields."""
        fields: dict[str, Any] = {
            name: (field.rebuild_annotation(), Field(default=None, alias=field.alias))
            for name, field in self.cls.model_fields.items()
        }
        config = {**self.cls.model_config, "validate_default": False, "defer_build": False}
        return create_model(
            f"Partial{self.name}",
            __base__=PartialItem,
            __cls_kwargs__=config,
            __module__=self.cls.__module__,
            **fields,
        )

    @cached_property
    def shares_keys(self) -> bool:
        """Whether an item of another entity may have a key of this entity."""
        others = [other for other in self.table.entities if other is not self]
        return any(other.primary.collides(self.primary) for other in others)

    @cached_property
    def fixed(self) -> Mapping[str, str]:
        """The attributes that updates must not change, each with a description of its role."""
        fixed = {self.attribute(field): "the key" for field in self.primary.inputs}
        return fixed if self.version is None else {**fixed, self.attribute(self.version): "the version"}

    @cached_property
    def index_keys(self) -> tuple[tuple[BoundKey, ...], ...]:
        """The index keys that write attributes, grouped by shared attributes."""
        groups: list[list[BoundKey]] = []
        for key in (key for key in self.secondary if key.written):
            sharing = [
                group for group in groups if any(not set(key.written).isdisjoint(each.written) for each in group)
            ]
            groups = [group for group in groups if group not in sharing]
            groups.append([*(each for group in sharing for each in group), key])
        return tuple(map(tuple, groups))

    def live(self, item: Item, now: float) -> bool:
        """Whether the item has not expired."""
        if self.expires is None:
            return True
        expires = item.get(self.expires)
        return not (isinstance(expires, int | Decimal) and not isinstance(expires, bool) and expires <= now)

    def expired(self, now: float) -> Condition | None:
        """Return the condition that an item has expired, if the entity has a TTL; false if the TTL is not a number."""
        return None if self.expires is None else Compare("<=", Path((self.expires,)), Value(int(now)))

    def unexpired(self, now: float) -> Condition | None:
        """Return the condition that an item has not expired, if the entity has a TTL."""
        expired = self.expired(now)
        return None if expired is None else Not(expired)

    def check_condition(self, condition: Condition) -> None:
        """Raise if the argument is not a condition, or uses an attribute that this entity does not have."""
        if not isinstance(condition, get_args(Condition)):
            hint = f"Build conditions with f(): when(f({self.name}.field).eq(value))."
            raise OperationError(f"{condition!r:.60} is not a condition.", hint=hint)
        for path in paths_in(condition):
            self.check_path(path)
        for path in _looked_into(condition):
            self.refuse_opaque(path)

    def check_path(self, path: Path) -> None:
        """Raise if a path starts at an attribute that this entity does not have."""
        if path.parts[0] in self.codec.key_only:
            message = f"{self.name}.{path.parts[0]} is only in the key, so it cannot be compared or changed."
            raise OperationError(message, hint="Pass it as part of the key of the read or write.")
        if path.parts[0] not in self.fields:
            hint = "The condition or change was made with another entity's field."
            raise OperationError(f"{self.name} has no attribute {path.parts[0]!r}.", hint=hint)

    @cached_property
    def secrets(self) -> frozenset[str]:
        """The attributes of encrypted fields."""
        return frozenset(name for name, form in self.codec.forms.items() if form.encrypted is not None)

    def without_secrets(self, item: Item) -> PartialItem:
        """Read the entity in an item with None for every encrypted field, for callers that do not have the keys.

        Raises:
            InvalidItem: the rest of the item does not fit the entity.
        """
        defaults = {
            attribute: self.codec.default(field)
            for field, attribute in self.attributes.items()
            if attribute not in self.secrets and not self.cls.model_fields[field].is_required()
        }
        shown = {name: value for name, value in item.items() if name not in self.secrets}
        return self.entity_as(self.partial, {**defaults, **shown})

    def refuse_opaque(self, path: Path) -> None:
        """Raise if the path leads to a compressed or encrypted value, which the store cannot interpret."""
        form = self.codec.forms.get(str(path.parts[0]))
        if form is not None:
            how = "encrypted" if form.encrypted is not None else "compressed"
            message = f"{form.label} is {how}, so the store can neither compare nor compute it."
            raise OperationError(message, hint="Read the value instead, or keep what you compare in a separate field.")

    def key_projection(self, key: BoundKey) -> Projection:
        """Return what every read needs besides its view: the keys, to identify entities and continue, and the TTL."""
        names = [attribute.name for attribute, _ in (*self.primary.attributes, *key.attributes)]
        names += [self.expires] if self.expires else []
        names += [self.tag.attribute] if self.tag else []
        return tuple(Path((name,)) for name in dict.fromkeys(names))

    def alone_in(self, key: BoundKey) -> bool:
        """Whether no other entity of the table has entries in that key's index."""
        others = [entity for entity in self.table.entities if entity is not self]
        return not any(entity.may_be_in(key.index) for entity in others)

    def may_be_in(self, index: str | None) -> bool:
        """Whether items of this entity have all attributes of an index, even one for which it declares no key."""
        hashes, ranges = self.table.key_attributes(index)
        held = {attribute.name for key in self.keys.values() for attribute, _ in key.attributes}
        return held.union(self.attributes.values()).issuperset(each.name for each in (*hashes, *ranges))


def _looked_into(condition: Condition) -> Iterator[Path]:
    """Yield the paths whose values a condition reads, as opposed to only testing their existence."""
    if isinstance(condition, And | Or):
        for term in condition.terms:
            yield from _looked_into(term)
    elif isinstance(condition, Not):
        yield from _looked_into(condition.term)
    elif not isinstance(condition, Exists | Missing):
        yield from paths_in(condition)


class EntityMeta(type(BaseModel)):  # type: ignore[misc]  # Pydantic's metaclass has no public name
    """Creates entity classes: Pydantic's work, then the binding to a table."""

    _making = False

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        table: Table | None = None,
        type_name: str | None = None,
        **config: Any,
    ) -> type[BaseModel]:
        EntityMeta._making = True
        try:
            # Only a class with a table is ever instantiated, so only such a class needs its validators.
            cls: Any = super().__new__(mcs, name, bases, namespace, **{"defer_build": table is None, **config})
        finally:
            EntityMeta._making = False
        if table is not None:
            if not isinstance(table, Table):
                hint = 'Declare TABLE = Table("…") and pass it.'
                raise ModelError(f"{name}: table={table!r} is not a Table.", hint=hint)
            if not cls.__pydantic_complete__:
                from partita.model._resolution import resolve_types  # noqa: PLC0415 - few classes need it

                resolve_types(cls, sys._getframe(1))  # noqa: SLF001 - the scope that declares the class
            schema: EntitySchema[Any] = EntitySchema(cls, table, type_name)
            table.add_entity(schema)
            cls.__entity__ = schema
        return cls  # type: ignore[no-any-return]

    if not TYPE_CHECKING:
        # Hidden from type checkers, so that they report a misspelt field as an error.
        def __getattr__(cls, name: str) -> Any:
            fields = cls.__dict__.get("__pydantic_fields__", {})
            if EntityMeta._making or name.startswith("_"):
                return super().__getattr__(name)
            if name not in fields:
                raise AttributeError(f"{cls.__name__} has no field {name!r}. It has: {', '.join(fields)}.")
            schema = cls.__dict__.get("__entity__")
            attribute = fields[name].alias or name
            if schema is None:
                return FieldPath((attribute,), fields[name].annotation)
            return FieldPath(
                (attribute,),
                fields[name].annotation,
                encode=schema.codec.encoder(attribute),
                nullable=schema.codec.nullable(attribute),
            )


_METACLASS: type[type] = EntityMeta
"""The metaclass as a variable, which mypy ignores and Pyright follows.

mypy treats a computed base as Any, and would then accept every misspelt field. Both use the `dataclass_transform` of
Entity instead.
"""


# For type checkers: the keyword `frozen` makes Entity frozen, and `frozen_default` makes its subclasses frozen.
@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field, PrivateAttr))
class Entity(BaseModel, metaclass=_METACLASS, frozen=True, defer_build=True):  # type: ignore[metaclass]
    """A typed item. Entities are frozen; `with_changes` returns a changed copy.

    class Task(Entity, table=TABLE):
        primary: ClassVar = Key("TASK#{user_id}", "TASK#{task_id}")
        user_id: str
        task_id: str
    """

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    in_lake: ClassVar[bool] = True
    """Whether the items are copied to the lake; an entity with `in_lake: ClassVar = False` is left out."""

    __entity__: ClassVar[EntitySchema[Any]]

    def with_changes(self, *changes: Change) -> Self:
        """Return a copy with the changes applied and validated; nothing is stored.

        Raises:
            OperationError: a field cannot have such a value.
        """
        schema = schema_of(type(self))
        try:
            changed = schema.entity(apply_update(to_update(changes), schema.item(self)))
        except InvalidItem as error:
            raise OperationError(f"{schema.name} cannot be changed like this: {error.reason}.") from None
        inherit_key(changed, self)  # the item has the key of this entity, although a change may be to a field of it
        return changed

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values for some fields, which are validated.

        Raises:
            OperationError: a field cannot have such a value, or there is no such field.
        """
        copied = super().model_copy(deep=deep)
        if not update:
            return copied
        unknown = update.keys() - type(self).model_fields.keys()
        if unknown and self.model_config.get("extra") != "allow":
            raise OperationError(f"{type(self).__name__} has no field {min(unknown)!r}.")
        try:
            checked = type(self).model_validate({**dict(copied), **update}, strict=False, by_name=True, by_alias=False)
        except ValidationError as error:
            raise OperationError(f"{type(self).__name__} cannot be copied like this: {reasons(error)}.") from None
        new = {name: value for name, value in dict(checked).items() if name in update}
        return super(Entity, copied).model_copy(update=new)


def schema_of(cls: type[E]) -> EntitySchema[E]:
    """Return the schema that was derived from an entity class.

    Raises:
        ModelError: the class was created without a table, or is not an entity.
    """
    if not isinstance(cls, EntityMeta):
        name = getattr(cls, "__name__", repr(cls))
        hint = "Pass an entity class, as in @get(Task), or an entity, as in put(task)."
        raise ModelError(f"{name} is not an entity.", owner=cls, hint=hint)
    schema = cls.__dict__.get("__entity__")
    if schema is None:
        hint = "Write class X(Entity, table=TABLE)."
        raise ModelError(f"{cls.__name__} is not bound to a table.", owner=cls, hint=hint)
    return schema  # type: ignore[no-any-return]


def _bound_keys(cls: type[Entity], table: Table) -> dict[str, BoundKey]:
    """Return the keys that the class and its bases declare, by name."""
    ancestors = reversed(cls.__mro__)
    keys = {name: key for ancestor in ancestors for name, key in vars(ancestor).items() if isinstance(key, Key)}
    if "primary" not in keys:
        hint = 'Declare primary: ClassVar = Key("…", "…").'
        raise ModelError(f"{cls.__name__} has no primary key.", owner=cls, hint=hint)
    return {name: BoundKey(name, key, table, cls) for name, key in keys.items()}


def _type_tag(cls: type[Entity], table: Table, type_name: str | None) -> TypeTag | None:
    """Return the table's type attribute and its value for an entity: by default the name of the class."""
    if table.type_attribute is not None:
        return TypeTag(table.type_attribute, type_name or cls.__name__)
    if type_name is not None:
        hint = 'Write Table(…, type_attribute="…").'
        raise ModelError(f"{cls.__name__} has a type_name, but {table!r} has no type attribute.", owner=cls, hint=hint)
    return None
