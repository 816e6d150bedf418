"""Descriptions of a model's declarations: the layout of its keys, and the request behind an access pattern."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_origin

from msgspec import Struct

from partita.model import BoundKey, EntitySchema, Prefix, Span, Table, Template, kinds_of
from partita.patterns._patterns import Pattern


class KeyLayout(Struct, frozen=True):
    """How one key of an entity is composed of its fields."""

    entity: str
    key: str
    index: str | None
    """The index of the key; None for the table itself."""
    hash: str
    """The template of the partition key; if it has several attributes, the template of each."""
    range: str | None
    when: str | None = None
    """The function that determines whether an item has the key; None if every item has it."""


def layout(table: Table) -> list[KeyLayout]:
    """Return the keys of all entities of a table, in the order of their declaration."""
    return [_key_layout(entity, key) for entity in table.entities for key in entity.keys.values()]


def _key_layout(entity: EntitySchema[Any], key: BoundKey) -> KeyLayout:
    when = None if key.when is None else f"{key.when.name}({', '.join(key.when.sources)})"
    return KeyLayout(entity.name, key.name, key.index, key.hash_text, key.range_text, when)


class KeyMatch(Struct, frozen=True):
    """The condition of an access pattern on one key attribute."""

    attribute: str
    relation: str
    """`is`, `is each of 8 shards of`, `begins with`, or `is within a range of`."""
    template: str


def type_name(annotation: Any) -> str:
    """Return the names of the types that a field may have."""
    return " | ".join(getattr(kind, "__name__", str(kind)) for kind in kinds_of(annotation))


def key_matches(pattern: Pattern) -> list[KeyMatch]:
    """Return a pattern's conditions on the partition key and sort key; empty if it has no key."""
    key = pattern.key
    if key is None:
        return []
    given = _given(key, pattern.hints)
    relation = "is"
    if key.shards is not None and key.shards.name not in given:
        relation = f"is each of {key.shards.count} shards of"
    matches = [KeyMatch(attribute.name, relation, template.text) for attribute, template in key.hash]
    for part in pattern.keys or (key,):
        matches += _sort_matches(part, _given(part, pattern.hints))
    return list(dict.fromkeys(matches))


def _sort_matches(key: BoundKey, given: Mapping[str, Any]) -> Iterator[KeyMatch]:
    for attribute, template in key.range:
        relation, text = _of_sort_key(template, given)
        if text:
            yield KeyMatch(attribute.name, relation, text)
        if relation != "is":
            break


def _given(key: BoundKey, hints: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is passed for each field of the key: a `Span`, a `Prefix`, or None for a single value."""
    given = {name: origin if (origin := get_origin(hint)) in (Span, Prefix) else None for name, hint in hints.items()}
    derived = [n for n in key.derived if all(source in given and not given[source] for source in key.sources_of(n))]
    return {**given, **dict.fromkeys(derived)}


def _of_sort_key(template: Template, asked: Mapping[str, Any]) -> tuple[str, str]:
    given = 0
    while given < len(template.fields) and template.fields[given] in asked:
        given += 1
    if given == 0 and template.fields:
        return "begins with", template.head
    last = asked[template.fields[given - 1]] if given else None
    if last in (Span, Prefix):
        return "is within a range of" if last is Span else "begins with", _beginning(template, given, closed=False)
    if given == len(template.fields):
        return "is", template.text
    return "begins with", _beginning(template, given, closed=True)


def _beginning(template: Template, given: int, *, closed: bool) -> str:
    placeholders = template.placeholders[:given]
    text = template.head + "".join(f"{{{placeholder.field}}}{placeholder.tail}" for placeholder in placeholders)
    return text if closed or not placeholders else text.removesuffix(placeholders[-1].tail)
