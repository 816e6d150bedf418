"""Infer a model from a sample of a table: a pure function of its schema and items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from msgspec.structs import replace

from partita.adopt._draft import EntityDraft, KeyDraft, ModelDraft
from partita.adopt._entity_drafts import InferredEntity, infer_entity
from partita.adopt._entity_fields import TableFacts
from partita.adopt._entity_groups import Group, find_type_attribute, group_items
from partita.adopt._few import are_few
from partita.adopt._key_shapes import KeyShapes, words_of
from partita.adopt._names import class_name, singular, unique
from partita.adopt._odd_items import OddItems, belong_to, has_keys_of, odd_notes, why_odd, without_odd_keys
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
    untyped = len(items) - sum(len(group.items) for group in groups)
    groups, odd = _without_odd_keys(groups, shapes, facts)
    named = dict(zip(_names(groups, shapes), groups, strict=True))
    facts, found, colliding = _told_apart(facts, named, may_lower=not has_capitals)
    notes = list(odd_notes((*odd, *colliding), schema))
    notes += [_index_note(index) for index in schema.indexes if index not in facts.indexes]
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


class _Settled(NamedTuple):
    facts: TableFacts
    found: list[InferredEntity]
    odd: tuple[OddItems, ...] = ()


def _without_odd_keys(
    groups: Sequence[Group], shapes: KeyShapes, facts: TableFacts
) -> tuple[list[Group], list[OddItems]]:
    """Return the groups without the few items of a type whose keys are unlike those of all others of that type."""
    left: list[Group] = []
    odd: list[OddItems] = []
    for group in groups:
        usual, unusual = (group, ()) if facts.type_attribute is None else without_odd_keys(group, shapes, facts)
        left.append(usual)
        if unusual:
            odd.append(OddItems(unusual, f"other items of the type {group.type_name} have keys of another form"))
    return left, odd


def _told_apart(facts: TableFacts, groups: dict[str, Group], *, may_lower: bool) -> _Settled:
    """Infer all entities without a few odd items; with all items if too many of them were odd."""
    total = sum(len(group.items) for group in groups.values())
    settled = _settle(facts, groups, total, may_lower=may_lower)
    if are_few(sum(len(each.items) for each in settled.odd), total):
        return settled
    return _settle(facts, groups, 0, may_lower=may_lower)


def _settle(facts: TableFacts, groups: dict[str, Group], total: int, *, may_lower: bool) -> _Settled:
    """Infer all entities, and again whenever one of them reveals a fact about the table, until no new fact is found.

    Groups that are few of `total` items are left out if an entity for them would collide with others.
    """
    odd: tuple[OddItems, ...] = ()
    while True:
        found = [infer_entity(name, group, facts) for name, group in groups.items()]
        pair = _colliding(found, facts, total) if facts.type_attribute is None else None
        impossible = frozenset[str]().union(*(each.impossible for each in found))
        if pair is not None:
            groups, left_out = _resolved(pair, groups, facts, total)
            odd += left_out
        elif impossible:
            facts = replace(facts, indexes=tuple(each for each in facts.indexes if each.name not in impossible))
        elif (
            may_lower
            and not facts.lower
            and any(":lower}" in text for each in found for text in _templates(each.entity))
        ):
            facts = replace(facts, lower=True)
        else:
            return _Settled(facts, found, odd)


def _colliding(
    found: Sequence[InferredEntity], facts: TableFacts, total: int
) -> tuple[EntityDraft, EntityDraft] | None:
    """Return two entities that could have the same key, so their items are indistinguishable; or None.

    The larger one is first; of two that are equally large, the one whose partitions have literal text. Pairs of
    frequent entities come before others, so that odd items are compared with the final ones.
    """
    pairs = combinations([each.entity for each in found], 2)
    ordered = (
        sorted(pair, key=lambda each: (-each.count, _bare(each, facts))) for pair in pairs if _collide(*pair, facts)
    )
    chosen = min(ordered, key=lambda pair: sum(are_few(each.count, total) for each in pair), default=None)
    return None if chosen is None else (chosen[0], chosen[1])


def _collide(left: EntityDraft, right: EntityDraft, facts: TableFacts) -> bool:
    pairs = zip(_parsed(left.keys[0], facts), _parsed(right.keys[0], facts), strict=True)
    return all(one.overlaps(other) for one, other in pairs)


def _resolved(
    pair: tuple[EntityDraft, EntityDraft], groups: dict[str, Group], facts: TableFacts, total: int
) -> tuple[dict[str, Group], tuple[OddItems, ...]]:
    """Return the groups with the two as one; or without the second, if it is few odd items."""
    first, second = pair
    one, few = groups[first.name], groups[second.name]
    if not are_few(second.count, total):
        is_odd = False
    elif are_few(first.count, total):
        is_odd = not has_keys_of(first, few.items, facts) and not has_keys_of(second, one.items, facts)
    else:
        is_odd = not belong_to(first, one, few.items, facts)
    others = {name: group for name, group in groups.items() if name != second.name}
    if is_odd:
        return others, (OddItems(few.items, why_odd(first, few.items, facts)),)
    return {**others, first.name: Group(None, one.items + few.items)}, ()


def _parsed(key: KeyDraft, facts: TableFacts) -> list[Template]:
    return [Template(text, format=facts.format) for text in (key.hash, key.range) if text is not None]


def _bare(entity: EntityDraft, facts: TableFacts) -> list[bool]:
    return [template.bare for template in _parsed(entity.keys[0], facts)]


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
