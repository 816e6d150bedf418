"""Whose an item is that an index gave: its own key must agree with the partition of the index that it stands in.

Who may write to one partition of a table can put any index key on an item there, such as that of another user's list:
policies (`dynamodb:LeadingKeys`) look at the table's key alone. So both keys must say the same of what they share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from partita.expressions import KeyCondition
from partita.model import BoundKey, EntitySchema
from partita.values import Item

Owns: TypeAlias = Callable[[Item], bool]
"""Says of an item whether it is one of an entity's."""


def is_guarded(schema: EntitySchema[Any], key: BoundKey) -> bool:
    """Whether a partition of an index says something of the items' own keys."""
    return not _shares_partition(schema, key) and bool(key.hash.shared_with(schema.primary.templates))


def owner_check(schema: EntitySchema[Any], key: BoundKey, condition: KeyCondition) -> Owns:
    """What tells the items of an entity in one partition from others', by their own keys."""
    if not is_guarded(schema, key):
        return schema.owns
    partition = dict(condition.equal)[key.hash_attribute.name]
    texts = key.hash.texts(partition)
    shared = key.hash.shared_with(schema.primary.templates)
    return schema.primary.check({field: texts[field] for field in shared if field in texts})


def _shares_partition(schema: EntitySchema[Any], key: BoundKey) -> bool:
    """Whether the key's partition is the table's own, as with the primary key and with local indexes."""
    return key.hash_attribute.name == schema.primary.hash_attribute.name
