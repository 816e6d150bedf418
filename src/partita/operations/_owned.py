"""Whose an item is that an index gave: its own key must agree with the partition of the index that it stands in.

Who may write to one partition of a table can put any index key on an item there, such as that of another user's list:
policies (`dynamodb:LeadingKeys`) look at the table's key alone. So both keys must say the same of what they share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from partita.expressions import Compare, Condition, KeyCondition, Path, Value
from partita.model import BoundKey, EntitySchema, KeyPart
from partita.values import Item

Owns: TypeAlias = Callable[[Item], bool]
"""Says of an item whether it is one of an entity's."""


def is_guarded(schema: EntitySchema[Any], key: BoundKey) -> bool:
    """Whether a partition of an index says something of the items' own keys."""
    return not _shares_partition(schema, key) and schema.primary.is_told_by(key)


def owner_check(schema: EntitySchema[Any], key: BoundKey, condition: KeyCondition) -> Owns:
    """What tells the items of an entity in one partition from others', by their own keys."""
    if not is_guarded(schema, key):
        return schema.owns
    agrees, made = schema.primary.check(_texts(key, condition)), schema.primary.made
    if schema.tag is None:
        return agrees
    # By its type attribute an item may be the entity's under a key of another form, which says nothing to compare.
    return lambda item: schema.owns(item) and (agrees(item) or not made(item))


def owner_condition(schema: EntitySchema[Any], key: BoundKey, condition: KeyCondition) -> Condition | None:
    """The same for the store to look at; None where the partition does not say all of it."""
    ((attribute, template),) = schema.primary.hash
    partition = template.joined(_texts(key, condition))
    own = Path((attribute.name,))
    return None if partition is None or schema.tag is not None else Compare("=", own, Value(partition))


def _texts(key: BoundKey, condition: KeyCondition) -> dict[KeyPart, str]:
    """What the partition that is asked for says of the fields in its key."""
    asked = dict(condition.equal)
    texts: dict[KeyPart, str] = {}
    for attribute, template in key.hash:
        texts |= template.texts(asked[attribute.name])
    return texts


def _shares_partition(schema: EntitySchema[Any], key: BoundKey) -> bool:
    """Whether the key's partition is the table's own, as with the primary key and with local indexes."""
    return key.hash_names == schema.primary.hash_names
