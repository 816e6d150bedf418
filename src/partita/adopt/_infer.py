"""Infer a model from a sample of a table: a pure function of its schema and items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from msgspec.structs import replace

from partita.adopt._draft import EntityDraft, KeyDraft, ModelDraft
from partita.adopt._entity_drafts import InferredEntity, infer_entity
from partita.adopt._entity_fields import TableFacts
from partita.adopt._entity_groups import Group, find_type_attribute, group_items
from partita.adopt._key_shapes import KeyShapes, words_of
from partita.adopt._names import class_name, singular, unique
from partita.adopt._separators import find_separator, find_value_form, key_texts
from partita.model import KeyFormat, Template
from partita.store import IndexSchema, TableSchema
from partita.values import Item


def infer_model(schema: TableSchema, items: Sequence[Item]) -> ModelDraft:
    """Infer the model of a table.

    Args:
        schema: the table's keys, indexes, TTL attribute and stream.
        items: the sample, which must not be empty.
    """
    separator = find_separator(key_texts(items, schema))
    key_format = KeyFormat(separator, values=find_value_form(items, schema, separator))
    shapes = KeyShapes.of_table(items, schema, separator)
    type_attribute = find_type_attribute(items, shapes)
    indexes = tuple(index for index in schema.indexes if len(index.hash) == 1 and len(index.range) <= 1)
    facts = TableFacts(schema, indexes, key_format, type_attribute)
    has_capitals = any(text != text.lower() for text in key_texts(items, schema))
    groups = group_items(items, shapes, type_attribute)
    named = dict(zip(_names(groups, shapes), groups, strict=True))
    facts, found = _settle(facts, named, may_lower=not has_capitals)
    untyped = len(items) - sum(len(group.items) for group in groups)
    notes = [_index_note(index) for index in schema.indexes if index not in facts.indexes]
    notes += [f"Items without {type_attribute}, which belong to no entity: {untyped}."] if untyped else []
    draft = ModelDraft(
        schema=schema,
        indexes=facts.indexes,
        separator=separator,
        values=key_format.values,
        type_attribute=type_attribute,
        entities=tuple(each.entity for each in found),
        notes=(*notes, *(note for each in found for note in each.notes)),
        sampled=len(items),
    )
    return replace(draft, notes=(*draft.notes, *_unqueried(draft)))


def _settle(facts: TableFacts, groups: dict[str, Group], *, may_lower: bool) -> tuple[TableFacts, list[InferredEntity]]:
    """Infer all entities, and again whenever one of them reveals a fact about the table, until no new fact is found."""
    while True:
        found = [infer_entity(name, group, facts) for name, group in groups.items()]
        impossible = frozenset[str]().union(*(each.impossible for each in found))
        if impossible:
            facts = replace(facts, indexes=tuple(each for each in facts.indexes if each.name not in impossible))
        elif (
            may_lower
            and not facts.lower
            and any(":lower}" in text for each in found for text in _templates(each.entity))
        ):
            facts = replace(facts, lower=True)
        elif facts.type_attribute is None and (pair := _colliding(found, facts)) is not None:
            first, second = pair
            groups = {**groups, first: Group(None, groups[first].items + groups[second].items)}
            del groups[second]
        else:
            return facts, found


def _colliding(found: Sequence[InferredEntity], facts: TableFacts) -> tuple[str, str] | None:
    """Return two entities that could have the same key, so their items are indistinguishable; or None."""
    for left, right in combinations([each.entity for each in found], 2):
        pairs = zip(_parsed(left.keys[0], facts), _parsed(right.keys[0], facts), strict=True)
        if all(one.overlaps(other) for one, other in pairs):
            return left.name, right.name
    return None


def _parsed(key: KeyDraft, facts: TableFacts) -> list[Template]:
    return [Template(text, format=facts.format) for text in (key.hash, key.range) if text is not None]


def _templates(entity: EntityDraft) -> Iterator[str]:
    for key in entity.keys:
        yield from filter(None, (key.hash, key.range))


def _names(groups: Sequence[Group], shapes: KeyShapes) -> Iterator[str]:
    taken: list[str] = []
    for group in groups:
        taken.append(unique(_name(group, shapes), taken))
        yield taken[-1]


def _name(group: Group, shapes: KeyShapes) -> str:
    """Return a name from the type, or else from the literal text of the keys, or else from the table."""
    if group.type_name is not None:
        return class_name(group.type_name)
    words = list(dict.fromkeys(words_of(shapes.of(group.items[0]))))
    if not words or not "".join(words):
        return class_name(singular(shapes.schema.name))
    range_key = None if shapes.schema.range is None else group.items[0][shapes.schema.range.name]
    return class_name(*words) if range_key in words else class_name(words[-1])


def _unqueried(draft: ModelDraft) -> Iterator[str]:
    """Yield a note for each index that contains an entity's items but cannot be queried for them."""
    for entity in draft.entities:
        for index in draft.indexes:
            if index.name in [key.index for key in entity.keys] and draft.held_fields(entity, index) == []:
                needed = "the type of an item" if draft.type_attribute else "its TTL"
                yield f"{entity.name}: the index {index.name} does not hold {needed}, so it has no access pattern."


def _index_note(index: IndexSchema) -> str:
    if len(index.hash) > 1 or len(index.range) > 1:
        return f"The index {index.name} has a key of several attributes: declare it by hand."
    names = " and ".join(attribute.name for attribute in index.key)
    return f"The index {index.name} shares an attribute with another index ({names}): declare it by hand."
