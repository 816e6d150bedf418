"""A key bound to an entity and its table: which attributes it writes, and which queries it supports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from msgspec import Struct
from pydantic import BaseModel

from partita.errors import InvalidKey, ModelError
from partita.model._attributes import attribute_names
from partita.model.keys._annotations import has_fixed_length
from partita.model.keys._checks import check_declared, check_key
from partita.model.keys._derived import Derived, FieldFunction, Shards, derived_of
from partita.model.keys._template import (
    MAX_CHARACTER_BYTES,
    MAX_HASH_BYTES,
    MAX_RANGE_BYTES,
    KeyPart,
    Template,
    bound_template,
    check_key_size,
)
from partita.store import KeyAttribute

if TYPE_CHECKING:
    from partita.model._table import Table

AttributeTemplate: TypeAlias = tuple[KeyAttribute, Template]
"""A key attribute, and the template of its value."""

_Renderer: TypeAlias = tuple[str, Callable[[Sequence[Any]], Any], int]
"""The name of an attribute, a function that renders it from the values of the key's fields, and its maximum size."""


class Key(Struct, frozen=True):
    """A declared key: templates for the partition key and sort key of the table or of one of its indexes.

    `Key("USER#{user_id}", "STATUS#{status}#{task_id}", index="GSI1")`

    The key of a global index may have up to four attributes for either, with a template for each attribute:
    `Key(["{tenant_id}", "{region}"], ["{status}", "{placed_at}"], index="by-region")`

    With `when`, an item is in the index only while this function of its fields returns true: `when=is_open`.
    """

    hash: str | Sequence[str]
    range: str | Sequence[str] | None = None
    index: str | None = None
    when: Callable[..., bool] | None = None

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> NoReturn:
        """Raise a ModelError: Pydantic calls this if a key is annotated as a field."""
        raise ModelError("A Key is not a field.", owner=cls, hint="Write primary: ClassVar = Key(…).")


class BoundKey:
    """A key of one entity, parsed, checked and ready to render. Immutable after construction."""

    __slots__ = (
        "_fixed",
        "_renderers",
        "attributes",
        "derived",
        "fields",
        "hash",
        "hash_fields",
        "hash_names",
        "hash_parts",
        "index",
        "inputs",
        "label",
        "name",
        "parts",
        "range",
        "shards",
        "sources",
        "values_of",
        "when",
    )

    def __init__(self, name: str, key: Key, table: Table, model: type[BaseModel]) -> None:
        self.name = name
        self.label = f"{model.__name__}.{name}"
        self.index = key.index
        hashes, ranges = table.key_attributes(key.index)
        check_declared(name, key, table, model)
        self.hash = _templates(hashes, key.hash, model, table)
        """The attributes of the partition key with their templates."""
        self.range = _templates(ranges, key.range or (), model, table)
        """The same for the sort key; empty if there is none."""
        self.attributes: tuple[AttributeTemplate, ...] = (*self.hash, *self.range)
        self.hash_names = tuple(attribute.name for attribute, _ in self.hash)
        """The attributes of the partition key."""
        self.hash_fields = fields_in(self.hash)
        """The fields and derived parts of the partition key."""
        self.hash_parts = frozenset(part for _, template in self.hash for part in template.parts)
        """The same, each with the form in which it is written there."""
        self.parts = frozenset(part for _, template in self.attributes for part in template.parts)
        """All parts of the key."""
        self.fields = fields_in(self.attributes)
        """The fields and derived parts in the key."""
        self.derived: Mapping[str, Derived[Any]] = {n: d for n, d in derived_of(model).items() if n in self.fields}
        self.inputs = tuple(dict.fromkeys(source for field in self.fields for source in self.sources_of(field)))
        """The fields from which the key is built, including those of its derived parts."""
        self.when = None if key.when is None else FieldFunction(key.when)
        self.sources = tuple(dict.fromkeys((*self.inputs, *(self.when.sources if self.when else ()))))
        """The fields that determine the key, and whether the item has it."""
        check_key(self, model)
        self.shards = next((part for part in self.derived.values() if isinstance(part, Shards)), None)
        """The part that spreads items over several partitions, if there is one."""
        self.values_of: Callable[[Any], Sequence[Any]] = self._getter()
        self._renderers = tuple(self._writes(table, attribute_names(model)))
        self._fixed = frozenset(each for each in self.fields if has_fixed_length(self.annotation(each, model)))

    def __str__(self) -> str:
        return f"({self.hash_text}, {self.range_text})" if self.range else f"({self.hash_text})"

    @property
    def hash_text(self) -> str:
        """The partition key, as declared."""
        return ", ".join(template.text for _, template in self.hash)

    @property
    def range_text(self) -> str | None:
        """The sort key, as declared; None if there is none."""
        return ", ".join(template.text for _, template in self.range) or None

    def sources_of(self, field: str) -> tuple[str, ...]:
        """Return the fields behind one of the key's fields: the field itself, or those from which it is derived."""
        return self.derived[field].sources if field in self.derived else (field,)

    def annotation(self, field: str, model: type[BaseModel]) -> Any:
        """Return the type of one of the key's fields."""
        part = self.derived.get(field)
        return model.model_fields[field].annotation if part is None else part.annotation

    def _getter(self) -> Callable[[Any], Sequence[Any]]:
        """Return a function that gets the values of the key's fields from an entity."""
        fields, when = self.fields, self.when
        if when is not None:
            off = (None,) * max(1, len(fields))
            return lambda entity: [getattr(entity, each) for each in fields] if when.of_entity(entity) else off
        if len(fields) > 1:
            return attrgetter(*fields)
        return lambda entity: [getattr(entity, each) for each in fields]

    def values_from(self, values: Mapping[str, Any]) -> Sequence[Any]:
        """Compute the values of the key's fields from those of its sources; all None if the item lacks the key."""
        if self.when is not None and not self.when.of(values):
            return (None,) * max(1, len(self.fields))
        return self.parts_from(values)

    def parts_from(self, values: Mapping[str, Any]) -> Sequence[Any]:
        """Compute the values of the key's fields from those of its inputs."""
        return [values[each] if each not in self.derived else self.derived[each].of(values) for each in self.fields]

    def _writes(self, table: Table, stored: Mapping[str, str]) -> Iterator[_Renderer]:
        """Yield how to write each attribute that the key writes: not those of fields, nor those of the table's key."""
        table_key = [] if self.index is None else [attribute.name for attribute in table.schema.key]
        for attribute, template in self.attributes:
            is_own = template.bare and stored.get(template.fields[0]) == attribute.name
            if not is_own and attribute.name not in table_key:
                positions = [self.fields.index(field) for field in template.fields]
                yield attribute.name, template.renderer(positions), self.limit(attribute)

    def sorts(self, template: Template, position: int) -> bool:
        """Whether keys sort like the values of this placeholder, so that a range of values is a range of keys."""
        if template.bare:
            return True
        placeholder = template.placeholders[position]
        if placeholder.style is not None and not placeholder.style.sorts:
            return False
        # A raw value may contain characters that sort before the separator, so it may sort before its own prefix.
        is_fixed = placeholder.field in self._fixed or (placeholder.style is not None and placeholder.style.is_fixed)
        return template.format.values == "escaped" or not placeholder.tail or is_fixed

    def values(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the key's fields, read from the key itself, without derived parts.

        Raises:
            ValueError: an attribute of the key is missing, or could not have been written by this key.
        """
        found: dict[str, Any] = {}
        for attribute, template in self.attributes:
            if attribute.name not in item:
                raise ValueError(f"{attribute.name} is missing.")
            found |= template.values(item[attribute.name])
        return {name: value for name, value in found.items() if name not in self.derived}

    def limit(self, attribute: KeyAttribute) -> int:
        """Return the maximum size of one of the key's attributes in bytes."""
        return MAX_HASH_BYTES if attribute.name in self.hash_names else MAX_RANGE_BYTES

    @property
    def written(self) -> tuple[str, ...]:
        """The attributes that the key writes, without those of fields and of the table's key."""
        return tuple(name for name, _, _ in self._renderers)

    def write(self, item: dict[str, Any], values: Sequence[Any]) -> None:
        """Write the key for the values of `fields` into the item; if one is None, the item stays out of the index.

        Raises:
            InvalidKey: a value cannot be written; the message names the key.
        """
        if None in values:
            return
        try:
            for name, render, limit in self._renderers:
                key = item[name] = render(values)
                if type(key) is not str or len(key) * MAX_CHARACTER_BYTES > limit:
                    check_key_size(key, limit, name)
        except InvalidKey as error:
            raise self._invalid(error, values) from None

    def _invalid(self, error: InvalidKey, values: Sequence[Any]) -> InvalidKey:
        """Return the error with the name of the key, and of its fields that are empty."""
        empty = [field for field, value in zip(self.fields, values, strict=False) if value in ("", b"")]
        if not empty:
            return InvalidKey(f"{self.label}: {error.message}", hint=error.hint)
        hint = "A part of the table's key needs a value."
        if self.index is not None:
            hint = "Set a value, or None to keep the item out of the index."
        return InvalidKey(f"{self.label}: {' and '.join(map(repr, empty))} is empty.", hint=hint)

    def collides(self, other: BoundKey) -> bool:
        """Whether some item key could belong to both keys."""
        pairs = zip(self.attributes, other.attributes, strict=False)
        return all(mine.overlaps(theirs) for (_, mine), (_, theirs) in pairs)

    def matches(self, item: Mapping[str, Any]) -> bool:
        """Whether this key could have written the item's key attributes."""
        for attribute, template in self.attributes:  # noqa: SIM110 - runs for every item; all() takes twice as long
            if not template.matches(item.get(attribute.name)):
                return False
        return True

    def matcher(self, texts: Mapping[KeyPart, str]) -> Callable[[Mapping[str, Any]], bool]:
        """Return a test whether this key, with these texts in its parts, could have written an item's key."""
        checks = tuple((attribute.name, template.matcher(texts)) for attribute, template in self.attributes)
        if len(checks) != 2:  # noqa: PLR2004 - most keys have a hash and a range
            return lambda item: all(check(item.get(name)) for name, check in checks)
        (hash_, check_hash), (range_, check_range) = checks
        whole = self.attributes[0][1].joined(texts)
        if whole is not None:  # runs for every item of a page: a comparison costs less than a call
            return lambda item: item.get(hash_) == whole and check_range(item.get(range_))
        return lambda item: check_hash(item.get(hash_)) and check_range(item.get(range_))

    def is_restricted_by(self, other: BoundKey) -> bool:
        """Whether the partition key of another key contains a part of this one."""
        return not self.parts.isdisjoint(other.hash_parts)


def fields_in(attributes: Iterable[AttributeTemplate]) -> tuple[str, ...]:
    """Return the fields of several templates, each once."""
    return tuple(dict.fromkeys(field for _, template in attributes for field in template.fields))


def template_texts(declared: str | Sequence[str]) -> tuple[str, ...]:
    """Return the templates of a declared key for its partition key or sort key."""
    return (declared,) if isinstance(declared, str) else tuple(declared)


def _templates(
    attributes: Sequence[KeyAttribute], declared: str | Sequence[str], model: type[BaseModel], table: Table
) -> tuple[AttributeTemplate, ...]:
    templates = [bound_template(text, model, table.key_format) for text in template_texts(declared)]
    return tuple(zip(attributes, templates, strict=True))
