"""What a model declares, in words: the layout of its keys, and the request behind an access pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_origin

from msgspec import Struct

from partita.model import BoundKey, EntitySchema, Prefix, Span, Table, Template, kinds_of
from partita.patterns._patterns import Pattern


class KeyLayout(Struct, frozen=True):
    """How one key of an entity is made of its fields."""

    entity: str
    key: str
    index: str | None
    """The index that it is for; None for the table itself."""
    hash: str
    """The template of the partition key."""
    range: str | None


def layout(table: Table) -> list[KeyLayout]:
    """The keys of all entities of a table, in the order of their declaration."""
    return [_key_layout(entity, key) for entity in table.entities for key in entity.keys.values()]


def _key_layout(entity: EntitySchema[Any], key: BoundKey) -> KeyLayout:
    return KeyLayout(entity.name, key.name, key.index, key.hash.text, key.range.text if key.range else None)


class KeyMatch(Struct, frozen=True):
    """What an access pattern asks of one key attribute."""

    attribute: str
    relation: str
    """`is`, `begins with`, or `is within a range of`."""
    template: str


def type_name(annotation: Any) -> str:
    """The types that a field may have, by their names alone."""
    return " | ".join(getattr(kind, "__name__", str(kind)) for kind in kinds_of(annotation))


def key_matches(pattern: Pattern) -> list[KeyMatch]:
    """What a pattern asks of partition and sort key; nothing where it does not name a key."""
    key = pattern.key
    if key is None:
        return []
    matches = [KeyMatch(key.hash_attribute.name, "is", key.hash.text)]
    if key.range is not None and key.range_attribute is not None:
        relation, text = _of_sort_key(key.range, pattern.hints)
        matches += [KeyMatch(key.range_attribute.name, relation, text)] if text else []
    return matches


def _of_sort_key(template: Template, hints: Mapping[str, Any]) -> tuple[str, str]:
    given = 0
    while given < len(template.fields) and template.fields[given] in hints:
        given += 1
    if given == 0 and template.fields:
        return "begins with", template.head
    last = get_origin(hints[template.fields[given - 1]]) if given else None
    if last in (Span, Prefix):
        return "is within a range of" if last is Span else "begins with", _beginning(template, given, closed=False)
    if given == len(template.fields):
        return "is", template.text
    return "begins with", _beginning(template, given, closed=True)


def _beginning(template: Template, given: int, *, closed: bool) -> str:
    placeholders = template.placeholders[:given]
    text = template.head + "".join(f"{{{placeholder.field}}}{placeholder.tail}" for placeholder in placeholders)
    return text if closed or not placeholders else text.removesuffix(placeholders[-1].tail)
