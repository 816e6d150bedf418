"""Infer one entity from its items: keys, fields and types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from partita.adopt._draft import EntityDraft, FieldDraft, KeyDraft
from partita.adopt._entity_fields import TableFacts, infer_fields, values_of
from partita.adopt._entity_groups import Group
from partita.adopt._field_types import annotation_of
from partita.adopt._key_templates import Finder, Found, KeyOnlyField, Source, read_time, time_form
from partita.adopt._names import field_name, is_key_name, unique
from partita.model import Template
from partita.store import IndexSchema, KeyAttribute

_KEY_KINDS: Final = {"S": "str", "N": "int", "B": "bytes"}


class InferredEntity(Struct, frozen=True):
    """An entity, notes about it, and the indexes whose keys a model cannot write."""

    entity: EntityDraft
    notes: tuple[str, ...]
    impossible: frozenset[str]


def infer_entity(name: str, group: Group, facts: TableFacts) -> InferredEntity:
    """Infer the entity of a group of items."""
    return _Inference(name, group, facts).result()


class _Inference:
    """Collects the keys and fields of one entity, in the order of their dependencies."""

    def __init__(self, name: str, group: Group, facts: TableFacts) -> None:
        self._name = name
        self._items = group.items
        self._type_name = group.type_name
        self._facts = facts
        self._impossible: set[str] = set()
        self._templates: dict[str, str] = {}
        """The template of each key attribute."""
        self._own: dict[str, FieldDraft] = {}
        """The fields that are key attributes themselves, by attribute."""
        self._key_only: list[FieldDraft] = []
        found = infer_fields(name, group.items, facts)
        self._fields, self._notes, self._sources = found.fields, list(found.notes), list(found.sources)

    def result(self) -> InferredEntity:
        """Infer all keys, the primary key first; it may use attributes that are index keys themselves."""
        for attribute in self._plain_index_attributes():
            self._own_field(attribute)
        primary = [self._primary(attribute) for attribute in self._facts.schema.key]
        keys = [KeyDraft("primary", primary[0], primary[1] if len(primary) > 1 else None)]
        keys += filter(None, map(self._index_key, self._facts.indexes))
        fields = sorted((*self._key_only, *self._own.values(), *self._fields), key=_order)
        entity = EntityDraft(self._name, self._type_name, tuple(keys), tuple(fields), len(self._items))
        return InferredEntity(entity, tuple(self._notes), frozenset(self._impossible))

    def _plain_index_attributes(self) -> Iterator[KeyAttribute]:
        """Yield the key attributes of indexes that are not named like keys, so they are ordinary attributes as well."""
        for attribute in {attribute: None for index in self._facts.indexes for attribute in index.key}:
            is_there = any(attribute.name in item for item in self._items)
            if is_there and attribute not in self._facts.schema.key and not is_key_name(attribute.name):
                yield attribute

    @property
    def _taken(self) -> list[str]:
        fields = (*self._fields, *self._own.values(), *self._key_only)
        return [*(field.name for field in fields), "primary"]

    @property
    def _taken_in_keys(self) -> list[str]:
        """The names that a field without an attribute cannot have: those of fields and of attributes."""
        return [*self._taken, *{name for item in self._items for name in item}]

    def _primary(self, attribute: KeyAttribute) -> str:
        """Return the template of an attribute of the table's key."""
        keys = [item[attribute.name] for item in self._items]
        found = None
        if attribute.type == "S":
            found = self._found(attribute, keys, [each for each in self._sources if None not in each.values])
        if found is None:
            return self._own_field(attribute)
        for field in found.new:
            self._add_key_only(field)
        self._templates[attribute.name] = found.text
        return found.text

    def _found(self, attribute: KeyAttribute, keys: Sequence[str], sources: Sequence[Source]) -> Found | None:
        """Return a template; None if the key is better represented by its own field."""
        finder = Finder(self._facts.format, sources, self._facts.lower)
        is_alone = not any(self._facts.format.separator in key for key in keys)
        if not is_alone:
            return self._composed(finder, keys)
        is_shared = any(attribute in index.key for index in self._facts.indexes)
        form = None if is_shared else time_form(keys, self._facts.format)  # a shared one must stay a plain field
        if form is not None and annotation_of(keys) == "str":
            name = unique(_time_name(attribute.name), self._taken_in_keys)
            return Found(f"{{{name}:{form}}}", (name,), (_instants(name, keys, form),))
        if not is_key_name(attribute.name):
            return None
        return finder.template(keys, self._taken_in_keys, may_add=False, exact=False)

    def _composed(self, finder: Finder, keys: Sequence[str]) -> Found | None:
        """Return a template that nearly all items produce, if every key matches it; else one that all items produce."""
        for exact in (False, True):
            found = finder.template(keys, self._taken_in_keys, may_add=True, exact=exact)
            if found is not None and all(map(Template(found.text, format=self._facts.format).matches, keys)):
                return found
        return None

    def _own_field(self, attribute: KeyAttribute) -> str:
        """Return the template of a key attribute that is a field itself: None in items that are not in its index."""
        if attribute.name not in self._own:
            values = [item[attribute.name] for item in self._items if attribute.name in item]
            kind = annotation_of(values) or _KEY_KINDS[attribute.type]
            name = unique(field_name(attribute.name), self._taken)
            is_sparse = len(values) < len(self._items)
            annotation, default = (f"{kind} | None", "None") if is_sparse else (kind, None)
            self._own[attribute.name] = FieldDraft(name, annotation, attribute.name, default)
            self._sources.append(Source(name, attribute.name, values_of(self._items, attribute.name, kind)))
        text = f"{{{self._own[attribute.name].name}}}"
        self._templates.setdefault(attribute.name, text)
        return text

    def _add_key_only(self, field: KeyOnlyField) -> None:
        self._key_only.append(FieldDraft(field.name, field.annotation, field.name, key_only=True))
        self._sources.append(Source(field.name, field.name, field.values))

    def _index_key(self, index: IndexSchema) -> KeyDraft | None:
        """Return the key of an index; None if no item is in it, or if it cannot be inferred."""
        names = [attribute.name for attribute in index.key]
        inside = [number for number, item in enumerate(self._items) if all(name in item for name in names)]
        keys = [attribute.name for attribute in self._facts.schema.key]
        if not inside and not any(name in item for item in self._items for name in names if name not in keys):
            return None
        texts = self._index_templates(index, inside)
        if texts is None:
            self._impossible.add(index.name)
            return None
        name = unique(f"by_{field_name(index.name).removeprefix('by_').rstrip('_')}", self._taken)
        return KeyDraft(name, texts[0], texts[1] if len(texts) > 1 else None, index.name)

    def _index_templates(self, index: IndexSchema, inside: Sequence[int]) -> list[str] | None:
        """Return the templates of an index: from other fields if these produce every item's key, else own fields."""
        shared = [attribute for attribute in index.key if attribute.name in self._templates]
        for attribute in shared:
            if attribute.name not in self._own and attribute not in self._facts.schema.key:
                return None  # an item may have this attribute only for one of the indexes
        new = [attribute for attribute in index.key if attribute.name not in self._templates]
        found = self._from_fields(new, inside)
        if found is None:
            for attribute in new:
                self._own_field(attribute)
            if any(is_key_name(attribute.name) for attribute in new):
                self._notes.append(_kept_as_is(self._name, index))
        else:
            self._templates |= found
        return [self._templates[attribute.name] for attribute in index.key]

    def _from_fields(self, attributes: Sequence[KeyAttribute], inside: Sequence[int]) -> dict[str, str] | None:
        """Return a template for each attribute of an index, from fields that other items lack; None if impossible."""
        chosen = [Source(s.field, s.attribute, [s.values[n] for n in inside]) for s in self._sources]
        used: set[str] = set()
        texts: dict[str, str] = {}
        finder = Finder(self._facts.format, chosen, self._facts.lower)
        for attribute in attributes:
            if attribute.type != "S" or not is_key_name(attribute.name) or not inside:
                return None
            keys = [self._items[number][attribute.name] for number in inside]
            found = finder.template(keys, (), may_add=False, exact=True)
            if found is None:
                return None
            texts[attribute.name] = found.text
            used |= set(found.fields)
        return texts if self._leave_others_out(used, inside, attributes) else None

    def _leave_others_out(self, fields: set[str], inside: Sequence[int], attributes: Sequence[KeyAttribute]) -> bool:
        """Whether the items outside an index lack a field of its key, and have none of its attributes."""
        values = [source.values for source in self._sources if source.field in fields]
        outside = set(range(len(self._items))).difference(inside)
        names = [attribute.name for attribute in attributes]
        return all(
            any(each[number] is None for each in values) and not any(name in self._items[number] for name in names)
            for number in outside
        )


def _order(field: FieldDraft) -> int:
    """Return the sort order: fields of keys come first, fields with a default last."""
    return 2 if field.default is not None else 0 if field.key_only else 1


def _time_name(attribute: str) -> str:
    name = field_name(attribute)
    return f"{name.removesuffix('_at')}_time" if name.endswith("_at") else f"{name}_at"


def _instants(name: str, keys: Sequence[str], form: str) -> KeyOnlyField:
    return KeyOnlyField(name, "datetime", [read_time(key, form) for key in keys])


def _kept_as_is(entity: str, index: IndexSchema) -> str:
    names = " and ".join(attribute.name for attribute in index.key)
    return (
        f"{entity}: no template writes {names} of every item from other fields, so they are fields: "
        f"code that changes the data behind the index {index.name} must set them too."
    )
