"""The fields of one entity: one for each attribute that can be written back exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from partita.adopt._draft import FieldDraft
from partita.adopt._few import are_few, items_text
from partita.adopt._field_types import annotation_of, expiry_annotation, typed
from partita.adopt._key_templates import Source
from partita.adopt._names import field_name, text_literal, unique
from partita.model import KeyFormat
from partita.store import IndexSchema, TableSchema
from partita.values import Item, kind_of

_IN_KEYS: Final = ("str", "int", "Decimal", "date", "datetime")
_MANY_ATTRIBUTES: Final = 30
_RARE: Final = 0.05


class TableFacts(Struct, frozen=True):
    """Facts that apply to all entities of a table."""

    schema: TableSchema
    indexes: tuple[IndexSchema, ...]
    format: KeyFormat
    type_attribute: str | None
    lower: bool = False
    """Whether text in keys is lower case by default, as ElectroDB writes it."""

    @property
    def key_attributes(self) -> frozenset[str]:
        """The attributes of the table's key and of all declared indexes."""
        keys = (self.schema.key, *(index.key for index in self.indexes))
        return frozenset(attribute.name for key in keys for attribute in key)

    @property
    def hidden(self) -> frozenset[str | None]:
        """The attributes that are not plain fields: keys and the type attribute."""
        return self.key_attributes | {self.type_attribute}


class Fields(Struct, frozen=True):
    """The fields of an entity, those that may be used in keys, and notes about attributes without a field."""

    fields: tuple[FieldDraft, ...]
    sources: tuple[Source, ...]
    notes: tuple[str, ...]


def values_of(items: Sequence[Item], attribute: str, kind: str) -> list[Any]:
    """Return each item's value for a field of that type; None if the item has none."""
    return [typed(item.get(attribute), kind) for item in items]


def infer_fields(entity: str, items: Sequence[Item], facts: TableFacts) -> Fields:
    """Infer the fields of all attributes that are not keys."""
    names = _attributes(items, facts)
    fields: list[FieldDraft] = []
    notes: list[str] = []
    for attribute in names:
        is_expiry = attribute == facts.schema.ttl
        odd = _of_another_type(items, attribute)
        if odd:
            notes.append(f"{entity}: {_odd_note(attribute, odd, facts)}.")
        usual = [item for item in items if item not in odd] if is_expiry else items
        values = [item[attribute] for item in usual if attribute in item]
        reason = _why_not(values, len(usual), is_expiry=is_expiry)
        if reason is None:
            name = unique(field_name(attribute), [field.name for field in fields])
            fields.append(_field(name, attribute, values, len(usual), is_expiry=is_expiry))
        else:
            notes.append(f"{entity}: {attribute} {reason}; it has no field, and is kept as it is.")
    if rare := len({name for item in items for name in item}.difference(names, facts.hidden)):
        notes.append(f"{entity}: attributes without a field, which are kept as they are: {rare}.")
    return Fields(tuple(fields), tuple(_sources(fields, items, facts)), tuple(notes))


def _attributes(items: Sequence[Item], facts: TableFacts) -> list[str]:
    """Return the attributes that become fields: all but keys, the type, and, if there are many, the rare ones."""
    counts = Counter(name for item in items for name in item)
    names = [name for name in counts if name not in facts.hidden]
    least = _RARE * len(items) if len(names) > _MANY_ATTRIBUTES else 0
    return [name for name in names if counts[name] >= least]


def _of_another_type(items: Sequence[Item], attribute: str) -> list[Item]:
    """Return the few items in which an attribute has another type than in all others."""
    present = [item for item in items if item.get(attribute) is not None]
    kinds = [kind_of(item[attribute]) for item in present]
    usual, count = Counter(kinds).most_common(1)[0] if kinds else (None, 0)
    if not are_few(len(present) - count, len(present)):
        return []
    return [item for item, kind in zip(present, kinds, strict=True) if kind != usual]


def _odd_note(attribute: str, odd: Sequence[Item], facts: TableFacts) -> str:
    said = f"{attribute} has another type in {items_text(odd, facts.schema)}"
    if attribute == facts.schema.ttl:
        return f"{said}, so DynamoDB never removes {'it' if len(odd) == 1 else 'them'}, and the model does not fit"
    return f"{said}, so its field is Any"


def _why_not(values: Sequence[Any], count: int, *, is_expiry: bool) -> str | None:
    """Return why a field could not write the values back exactly; None if it could."""
    if is_expiry and expiry_annotation(values) is None:
        return "is the table's TTL, but not always a whole number, so expired items stay visible"
    kind = annotation_of(values)
    if kind is None:
        return "is always NULL"
    if None in values and len(values) < count:
        return "is NULL in some items and missing in others"
    if None in values and kind.startswith("frozenset"):
        return "is a set in some items and NULL in others"
    return None


def _field(name: str, attribute: str, values: Sequence[Any], count: int, *, is_expiry: bool) -> FieldDraft:
    kind = (expiry_annotation(values) if is_expiry else annotation_of(values)) or "Any"
    if kind.startswith("frozenset"):
        return FieldDraft(name, kind, attribute, "frozenset()")
    optional = kind if kind == "Any" else f"{kind} | None"
    if len(values) < count:
        return FieldDraft(name, optional, attribute, "None")
    if None in values:
        return FieldDraft(name, optional, attribute)
    return FieldDraft(name, kind, attribute, _constant(attribute, values))


def _constant(attribute: str, values: Sequence[Any]) -> str | None:
    """Return the default of a tool's own field that has the same value in every item, such as `__edb_v__`."""
    is_same = attribute.startswith("_") and all(type(value) is str and value == values[0] for value in values)
    return text_literal(values[0]) if is_same else None


def _sources(fields: Sequence[FieldDraft], items: Sequence[Item], facts: TableFacts) -> list[Source]:
    """Return the fields whose values may be used in keys; not a TTL, because it stores only whole seconds."""
    kinds = {field: field.annotation.removesuffix(" | None") for field in fields}
    return [
        Source(field.name, field.attribute, values_of(items, field.attribute, kind))
        for field, kind in kinds.items()
        if kind in _IN_KEYS and field.attribute != facts.schema.ttl
    ]
