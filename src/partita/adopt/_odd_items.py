"""Items that fit no entity: few of them, whose keys or attributes are unlike those of all others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress

from msgspec import Struct

from partita.adopt._draft import EntityDraft
from partita.adopt._entity_drafts import infer_entity
from partita.adopt._entity_fields import TableFacts
from partita.adopt._entity_groups import Group
from partita.adopt._few import are_few, items_text
from partita.adopt._key_shapes import KeyShapes, Shape
from partita.model import Template
from partita.store import TableSchema
from partita.values import Item


class OddItems(Struct, frozen=True):
    """Items that the model leaves out, and why."""

    items: tuple[Item, ...]
    reason: str


def odd_notes(odd: Iterable[OddItems], schema: TableSchema) -> Iterator[str]:
    """Yield a note for each reason, with the keys of its items."""
    by_reason: defaultdict[str, list[Item]] = defaultdict(list)
    for each in odd:
        by_reason[each.reason] += each.items
    for reason, items in by_reason.items():
        yield f"{items_text(items, schema)} {'is' if len(items) == 1 else 'are'} left out: {reason}."


def without_odd_keys(group: Group, shapes: KeyShapes, facts: TableFacts) -> tuple[Group, tuple[Item, ...]]:
    """Split the items of one type: those whose keys have a common template, and the few that prevent a narrower one."""
    by_shape: defaultdict[Shape, list[Item]] = defaultdict(list)
    for item in group.items:
        by_shape[shapes.of(item)].append(item)
    most = max(map(len, by_shape.values()))
    usual = next(items for items in by_shape.values() if len(items) == most)
    if len(by_shape) == 1 or not are_few(len(group.items) - most, len(group.items)):
        return group, ()
    entity = infer_entity("_", Group(group.type_name, tuple(usual)), facts).entity
    has_key = [_has_key_of(entity, item, facts) for item in group.items]
    odd = tuple(item for item, is_usual in zip(group.items, has_key, strict=True) if not is_usual)
    return Group(group.type_name, tuple(compress(group.items, has_key))), odd


def belong_to(entity: EntityDraft, group: Group, few: Sequence[Item], facts: TableFacts) -> bool:
    """Whether a few items belong to an entity: it can write their keys, and they have most of its attributes."""
    return has_keys_of(entity, few, facts) and (
        _are_alike(group.items, few, facts) or not any(_lacking(entity, item) for item in few)
    )


def has_keys_of(entity: EntityDraft, items: Sequence[Item], facts: TableFacts) -> bool:
    """Whether an entity can write the keys of all these items."""
    return all(_has_key_of(entity, item, facts) for item in items)


def why_odd(entity: EntityDraft, few: Sequence[Item], facts: TableFacts) -> str:
    """Return why a few items are no part of an entity whose keys they could have."""
    if has_keys_of(entity, few, facts):
        lacking = ", ".join(_lacking(entity, few[0]))
        return f"keys like those of {entity.name}, but without {lacking}"
    return f"an entity with such keys could also have the keys of {entity.name}"


def _has_key_of(entity: EntityDraft, item: Item, facts: TableFacts) -> bool:
    texts = (entity.keys[0].hash, entity.keys[0].range)
    templates = (Template(text, format=facts.format) for text in texts if text is not None)
    return all(
        template.matches(item[attribute.name]) for template, attribute in zip(templates, facts.schema.key, strict=True)
    )


def _lacking(entity: EntityDraft, item: Item) -> list[str]:
    """Return the attributes that an item lacks, and which the entity requires."""
    fields = (field for field in entity.fields if field.default is None and not field.key_only)
    return [field.attribute for field in fields if field.attribute not in item]


def _are_alike(items: Sequence[Item], few: Sequence[Item], facts: TableFacts) -> bool:
    """Whether at least half of the attributes of both are common to both."""
    usual, theirs = _usual(items, facts), _usual(few, facts)
    return 2 * len(usual & theirs) >= len(usual | theirs)


def _usual(items: Iterable[Item], facts: TableFacts) -> set[str]:
    """Return the attributes, other than keys, that at least half of the items have."""
    found = list(items)
    counts = Counter(name for item in found for name in item if name not in facts.hidden)
    return {name for name, count in counts.items() if 2 * count >= len(found)}
