"""Checks the owner of an item read from an index: its primary key must agree with the index partition it is in.

A caller that may write to one partition of a table can give an item there any index key, such as the key of another
user's list, because policies (`dynamodb:LeadingKeys`) check only the table's key. So both keys must have the same
values in the fields that they share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from partita.expressions import Compare, Condition, KeyCondition, Path, Value
from partita.model import BoundKey, EntitySchema, KeyPart
from partita.values import Item

Owns: TypeAlias = Callable[[Item], bool]
"""Returns whether an item belongs to an entity."""


def is_guarded(schema: EntitySchema[Any], key: BoundKey) -> bool:
    """Whether the partition key of an index shares fields with the primary keys of its items."""
    return not _shares_partition(schema, key) and schema.primary.is_restricted_by(key)


def owner_check(schema: EntitySchema[Any], key: BoundKey, condition: KeyCondition) -> Owns:
    """Return a function that tells an entity's items in one partition from those of others, by their primary keys."""
    if not is_guarded(schema, key):
        return schema.owns
    agrees, matches = schema.primary.matcher(_texts(key, condition)), schema.primary.matches
    if schema.tag is None:
        return agrees
    # By its type attribute an item may be the entity's although its key has another form, which cannot be compared.
    return lambda item: schema.owns(item) and (agrees(item) or not matches(item))


def owner_condition(schema: EntitySchema[Any], key: BoundKey, condition: KeyCondition) -> Condition | None:
    """The same check as a condition for the store; None if the partition does not determine the whole primary key."""
    ((attribute, template),) = schema.primary.hash
    partition = template.joined(_texts(key, condition))
    own = Path((attribute.name,))
    return None if partition is None or schema.tag is not None else Compare("=", own, Value(partition))


def _texts(key: BoundKey, condition: KeyCondition) -> dict[KeyPart, str]:
    """The texts of the key's fields in the requested partition."""
    asked = dict(condition.equal)
    texts: dict[KeyPart, str] = {}
    for attribute, template in key.hash:
        texts |= template.texts(asked[attribute.name])
    return texts


def _shares_partition(schema: EntitySchema[Any], key: BoundKey) -> bool:
    """Whether the key has the table's partition key, as the primary key and local indexes do."""
    return key.hash_names == schema.primary.hash_names
