"""Entities: Pydantic models with key templates, bound to a declared table when the class is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Generic,
    Self,
    TypeVar,
    dataclass_transform,
)

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, TypeAdapter, ValidationError
from pydantic._internal._model_construction import ModelMetaclass
from pydantic.fields import FieldInfo

from partita.errors import InvalidItem, ModelError, OperationError
from partita.expressions import Compare, Condition, Not, Path, Projection, Value, apply_update, paths_in
from partita.model._attributes import (
    CONVERSIONS,
    MOST_SECONDS,
    PLAIN_TYPES,
    SCALARS,
    empty_set,
    epoch_seconds,
    moment_of,
    to_attribute,
)
from partita.model._bound_key import BoundKey, Key, allows_none, kinds_of
from partita.model._field_checks import check_fields, check_ttl, has_serializer
from partita.model._fields import Change, FieldPath
from partita.model._table import Table
from partita.model._updates import to_update
from partita.values import Item

E = TypeVar("E", bound="Entity")
M = TypeVar("M", bound=BaseModel)


_AS_STORED: Final[dict[str, Any]] = {"by_alias": True, "round_trip": True}
"""How Pydantic writes what it is to read again: under aliases, and without what is computed."""


class VersionMark:
    """Marks the field that counts an entity's writes."""


Version = Annotated[int, VersionMark()]
"""The type of a field that guards every write: `version: Version = 0`. Zero means not stored yet."""


class EntitySchema(Generic[E]):
    """All that was derived from one entity class."""

    def __init__(self, cls: type[E], table: Table) -> None:
        self.cls = cls
        self.name = cls.__name__
        self.table = table
        self.attributes = {name: field.alias or name for name, field in cls.model_fields.items()}
        self.version = _version_field(cls)
        self.expires = table.schema.ttl if table.schema.ttl in self.attributes.values() else None
        self.keys = {name: BoundKey(name, key, table, self.name) for name, key in _declared_keys(cls).items()}
        if "primary" not in self.keys:
            raise ModelError(
                f"{self.name} has no primary key.",
                owner=cls,
                hint='Declare primary: ClassVar = Key("…", "…").',
            )
        self.primary = self.keys["primary"]
        self.secondary = tuple(key for key in self.keys.values() if key is not self.primary)
        # A None is left out where the field's default gives it back; elsewhere it is stored as NULL.
        self._nullable = {self.attributes[n] for n, field in cls.model_fields.items() if field.default is None}
        self._adapters: dict[str, TypeAdapter[Any]] = {}
        self._readers: dict[type[BaseModel], Callable[[Item], Any]] = {}
        self._encoders = {self.attributes[name]: self._encoder(name) for name in cls.model_fields}
        self._dump: Callable[..., Any] = partial(cls.__pydantic_serializer__.to_python, **_AS_STORED)
        self._check()
        self._read = self._reader(cls)

    def __repr__(self) -> str:
        return f"<schema of {self.name}>"

    def attribute(self, field: str) -> str:
        """The attribute that a field is stored in."""
        return self.attributes[field]

    def bound(self, key: Key) -> BoundKey:
        """The bound form of one of the entity's declared keys."""
        for name, bound in self.keys.items():
            if getattr(self.cls, name) is key:
                return bound
        raise ModelError(f"{key} is no key of {self.name}.", owner=self.cls, hint=f"It has: {', '.join(self.keys)}.")

    def nullable(self, attribute: str) -> bool:
        """Whether the attribute stands for None by being absent."""
        return attribute in self._nullable

    def default(self, field: str) -> Any:
        """The value that a field has where nothing is stored."""
        return self.cls.model_fields[field].get_default(call_default_factory=True, validated_data={})

    def encoder(self, attribute: str) -> Callable[[Any], Any]:
        """How a value of the field in that attribute becomes an attribute value: in the form that `item` gives it."""
        return self._encoders[attribute]

    def _encoder(self, field: str) -> Callable[[Any], Any]:
        if self.attributes[field] == self.expires:
            return epoch_seconds
        if has_serializer(self.cls, field):
            return partial(self._serialized, field)
        if all(
            isinstance(kind, type) and issubclass(kind, SCALARS)
            for kind in kinds_of(self.cls.model_fields[field].annotation)
        ):
            return to_attribute
        return lambda value: to_attribute(self._adapter(field).dump_python(value, **_AS_STORED, warnings=False))

    def _serialized(self, field: str, value: Any) -> Any:
        """A value as the field's own serializer writes it."""
        alone = self.cls.model_construct(**{field: value})
        return to_attribute(self._dump(alone, include={field})[self.attributes[field]])

    def item(self, entity: E) -> Item:
        """The item to store: the fields that are not None, and every derived key."""
        item: Item = self._dump(entity)
        if self.expires is not None and item.get(self.expires) is not None:
            item[self.expires] = epoch_seconds(item[self.expires])
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
        for key in self.keys.values():
            key.write(item, key.values_of(entity))
        return item

    def key(self, entity: E) -> Item:
        """The item's key attributes."""
        values = [getattr(entity, field) for field in self.primary.fields]
        return self.key_of(dict(zip(self.primary.fields, values, strict=True)))

    def key_of(self, values: Mapping[str, Any]) -> Item:
        """The key attributes for values of the primary key's fields."""
        return {
            attribute.name: template.render([values[field] for field in template.fields])
            for attribute, template in self.primary.attributes
        }

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
        """The item as the entity or as a view of it."""
        read = self._readers.get(model)
        if read is None:
            read = self._readers[model] = self._reader(model)
        try:
            return read(item)  # type: ignore[no-any-return]
        except ValidationError as error:
            raise self._invalid(item, error) from error

    def _reader(self, model: type[BaseModel]) -> Callable[[Item], Any]:
        """What reads a stored item into the entity or a view of it."""
        validate = validator_of(model)
        if any(map(_is_moment, self._expiring(model))):
            return lambda item: validate(self._with_moment(item))
        return validate

    def _expiring(self, model: type[BaseModel]) -> list[FieldInfo]:
        return [field for name, field in model.model_fields.items() if (field.alias or name) == self.expires]

    def _with_moment(self, item: Item) -> Item:
        """The item with its expiry as a moment where Pydantic would take so large a number for milliseconds."""
        expires = item.get(self.expires or "")
        if type(expires) is not int or expires <= MOST_SECONDS:
            return item
        return {**item, str(self.expires): moment_of(expires)}

    def _invalid(self, item: Item, error: ValidationError) -> InvalidItem:
        details = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False))
        return InvalidItem(f"A stored item is no valid {self.name}: {details}.", item=item)

    def field_value(self, field: str, attribute_value: Any) -> Any:
        """A field's typed value from its attribute form."""
        attribute = self.attributes[field]
        if attribute == self.expires:
            attribute_value = self._with_moment({attribute: attribute_value})[attribute]
        return self._adapter(field).validate_python(attribute_value)

    def _adapter(self, field: str) -> TypeAdapter[Any]:
        adapter = self._adapters.get(field)
        if adapter is None:
            adapter = self._adapters[field] = TypeAdapter(self.cls.model_fields[field].rebuild_annotation())
        return adapter

    def owns(self, item: Item) -> bool:
        """Whether the item is one of this entity's, judged by its key."""
        return self.primary.made(item)

    def live(self, item: Item, now: float) -> bool:
        """Whether the item has not expired."""
        if self.expires is None:
            return True
        expires = item.get(self.expires)
        return not (isinstance(expires, int | Decimal) and not isinstance(expires, bool) and expires <= now)

    def check_paths(self, condition: Condition) -> None:
        """Refuse a condition on an attribute that this entity does not have."""
        for path in paths_in(condition):
            self.check_path(path)

    def check_path(self, path: Path) -> None:
        """Refuse a path that starts at an attribute that this entity does not have."""
        if path.parts[0] not in self.attributes.values():
            hint = "The condition or change was made with another entity's field."
            raise OperationError(f"{self.name} has no attribute {path.parts[0]!r}.", hint=hint)

    def expired(self, now: float) -> Condition | None:
        """The condition that an item has expired, where the entity has a TTL; false where its expiry is no number."""
        return None if self.expires is None else Compare("<=", Path((self.expires,)), Value(int(now)))

    def unexpired(self, now: float) -> Condition | None:
        """The condition that an item has not expired, where the entity has a TTL."""
        expired = self.expired(now)
        return None if expired is None else Not(expired)

    def key_projection(self, key: BoundKey) -> Projection:
        """What every read needs besides its view: the keys, to tell entities apart and to continue, and the TTL."""
        names = [attribute.name for attribute, _ in (*self.primary.attributes, *key.attributes)]
        names += [self.expires] if self.expires else []
        return tuple(Path((name,)) for name in dict.fromkeys(names))

    def alone_in(self, key: BoundKey) -> bool:
        """Whether no other entity of the table has entries in that key's index."""
        others = [entity for entity in self.table.entities if entity is not self]
        return not any(other.index == key.index for entity in others for other in entity.keys.values())

    def _check(self) -> None:
        if self.cls.model_config.get("extra") != "ignore":
            message = f'{self.name} must have extra="ignore": a stored item has its keys besides the fields.'
            raise ModelError(message, owner=self.cls)
        fields = self.cls.model_fields
        self._check_fields()
        indexes = [key.index for key in self.keys.values()]
        for key in self.keys.values():
            if indexes.count(key.index) > 1:
                where = f"the index {key.index!r}" if key.index else "the table"
                raise ModelError(f"{self.name} has two keys for {where}.", owner=self.cls)
            key.check(self.name, fields, self.attribute)
            if key.index is not None:
                self._check_local(key)
        names = [name for key in self.keys.values() for name in key.written]
        written = set(names)
        for name in sorted(written):
            if names.count(name) > 1:
                raise ModelError(f"{self.name}: two keys write the attribute {name!r}.", owner=self.cls)
        taken = {attribute.name for key in self._all_table_keys() for attribute in key} & set(self.attributes.values())
        for name in sorted(taken):
            if name in written or not self._is_own_key(name):
                message = f"{self.name}: the field stored as {name!r} clashes with a key attribute of {self.table!r}."
                raise ModelError(
                    message,
                    owner=self.cls,
                    hint="Rename the field, or declare a Key that is this field alone.",
                )
        for key in self.keys.values():
            self._check_own_attributes(key)

    def _check_fields(self) -> None:
        check_fields(self.cls)
        names = list(self.attributes.values())
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f"{self.name}: two fields are stored as {name!r}.", owner=self.cls)
        for field in self._expiring(self.cls):
            check_ttl(f"{self.name}.{self.expires}", field)
        own = [field for name, field in self.cls.model_fields.items() if name in self.primary.fields]
        if any(_is_moment(field) for field in self._expiring(self.cls) if field in own):
            message = (
                f"{self.name}.{self.expires}: a TTL keeps whole seconds, so a moment cannot be in the primary key."
            )
            raise ModelError(message, owner=self.cls, hint="Make it an int, or leave it out of the primary key.")

    def _check_own_attributes(self, key: BoundKey) -> None:
        """Refuse a key attribute that is a field's own where the field is stored otherwise than it is asked for."""
        for attribute, template in key.attributes:
            field = template.fields[0] if template.bare else ""
            if self.attributes.get(field) != attribute.name:
                continue
            label, info = f"{self.name}.{field}", self.cls.model_fields[field]
            if has_serializer(self.cls, field) or any(hasattr(kind, "__key__") for kind in kinds_of(info.annotation)):
                message = f"{label} is a key attribute itself, but is stored in a form of its own."
                raise ModelError(message, owner=self.cls, hint="Name the key attribute otherwise than the field.")
            if allows_none(info.annotation) and info.default is not None:
                message = f"{label} may be None and is an index key itself, so it must be None where it is left out."
                raise ModelError(message, owner=self.cls, hint=f"Give {field} the default None.")

    def _check_local(self, key: BoundKey) -> None:
        index = self.table.schema.index(key.index or "")
        if index is None or not index.local:
            return
        if key.hash.text != self.primary.hash.text:
            message = f"{self.name}.{key.name}: a local index has the table's partition key {self.primary.hash.text!r}."
            raise ModelError(message, owner=self.cls)
        key.leave_hash()

    def _all_table_keys(self) -> list[tuple[Any, ...]]:
        return [self.table.schema.key, *(index.key for index in self.table.schema.indexes)]

    def _is_own_key(self, name: str) -> bool:
        return any(
            attribute.name == name and template.bare and self.attribute(template.fields[0]) == name
            for key in self.keys.values()
            for attribute, template in key.attributes
        )


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field, PrivateAttr))
class EntityMeta(ModelMetaclass):
    """Makes entity classes: Pydantic's work, then the binding to a table."""

    _making = False

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        table: Table | None = None,
        **config: Any,
    ) -> type:
        EntityMeta._making = True
        try:
            # Only a class with a table is ever made into instances, so only that one needs its validators.
            cls = super().__new__(mcs, name, bases, namespace, **{"defer_build": table is None, **config})
        finally:
            EntityMeta._making = False
        if table is not None:
            if not isinstance(table, Table):
                raise ModelError(
                    f"{name}: table={table!r} is no Table.", hint='Declare TABLE = Table("…") and pass it.'
                )
            schema: EntitySchema[Any] = EntitySchema(cls, table)
            table.add_entity(schema)
            cls.__entity__ = schema  # type: ignore[attr-defined]
        return cls

    if not TYPE_CHECKING:
        # Hidden from type checkers, so that a misspelt field is an error to them.
        def __getattr__(cls, name: str) -> Any:  # noqa: N805 - a metaclass
            fields = cls.__dict__.get("__pydantic_fields__", {})
            if EntityMeta._making or name not in fields:
                return super().__getattr__(name)
            schema = cls.__dict__.get("__entity__")
            attribute = fields[name].alias or name
            if schema is None:
                return FieldPath((attribute,), fields[name].annotation)
            return FieldPath(
                (attribute,),
                fields[name].annotation,
                encode=schema.encoder(attribute),
                nullable=schema.nullable(attribute),
            )


class Entity(BaseModel, metaclass=EntityMeta, defer_build=True):
    """A typed item. Values are frozen; `with_changes` gives a changed copy.

    class Task(Entity, table=TABLE):
        primary: ClassVar = Key("TASK#{user_id}", "TASK#{task_id}")
        user_id: str
        task_id: str
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    in_lake: ClassVar[bool] = True
    """Whether the items go into the lake; an entity that declares `in_lake: ClassVar = False` stays out."""

    __entity__: ClassVar[EntitySchema[Any]]

    def with_changes(self, *changes: Change) -> Self:
        """A copy with the changes applied and validated; nothing is stored."""
        schema = schema_of(type(self))
        return schema.entity(apply_update(to_update(changes), schema.item(self)))


def schema_of(cls: type[E]) -> EntitySchema[E]:
    """What was derived from an entity class.

    Raises:
        ModelError: the class was made without a table.
    """
    schema = cls.__dict__.get("__entity__")
    if schema is None:
        raise ModelError(f"{cls.__name__} is bound to no table.", owner=cls, hint="Write class X(Entity, table=TABLE).")
    return schema  # type: ignore[no-any-return]


def validator_of(model: type[BaseModel]) -> Callable[[Item], Any]:
    """What reads a stored item into a model, also into a strict one: dates and enums are stored as text."""
    how: dict[str, Any] = {}
    if model.model_config.get("strict"):
        how["strict"] = False
    if any(field.alias not in (None, name) for name, field in model.model_fields.items()):
        how |= {"by_alias": True, "by_name": False}  # another attribute may have the name of a field
    validate = model.__pydantic_validator__.validate_python
    return partial(validate, **how) if how else validate


def _is_moment(field: FieldInfo) -> bool:
    return any(isinstance(kind, type) and issubclass(kind, datetime) for kind in kinds_of(field.annotation))


def _declared_keys(cls: type) -> dict[str, Key]:
    return {
        name: key for ancestor in reversed(cls.__mro__) for name, key in vars(ancestor).items() if isinstance(key, Key)
    }


def _version_field(cls: type[Entity]) -> str | None:
    marked = [n for n, field in cls.model_fields.items() if any(isinstance(m, VersionMark) for m in field.metadata)]
    if len(marked) > 1:
        raise ModelError(f"{cls.__name__} has two version fields: {', '.join(marked)}.", owner=cls)
    if marked and (cls.model_fields[marked[0]].default != 0 or allows_none(cls.model_fields[marked[0]].annotation)):
        raise ModelError(
            f"{cls.__name__}.{marked[0]}: a version starts at 0.",
            owner=cls,
            hint="Write version: Version = 0.",
        )
    return marked[0] if marked else None
