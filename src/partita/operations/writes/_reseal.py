"""Encrypting the encrypted fields of an item again, with the current data key."""

from __future__ import annotations

from typing import TypeVar

from partita.errors import OperationError
from partita.expressions import Path, SetAction, Value
from partita.model import Entity
from partita.operations.writes._update import Update, update
from partita.operations.writes._write import given_schema

E = TypeVar("E", bound=Entity)


def reseal(entity: E) -> Update[E]:
    """Write the encrypted fields of an item, as they were read, once more: after a key rotation, with the new key.

    Raises:
        OperationError: the item has no encrypted field, or no version, without which a concurrent write could be lost.
    """
    schema = given_schema(entity, "reseal")
    item = schema.item(entity)
    changes = [SetAction(Path((name,)), Value(item[name])) for name in sorted(schema.secrets) if name in item]
    if not schema.secrets:
        raise OperationError(f"{schema.name} has no encrypted field.")
    if schema.version is None:
        hint = "Declare version: Version = 0, or put() the items while nothing else writes them."
        raise OperationError(f"{schema.name} has no version, so another write could be undone.", hint=hint)
    return update(entity, *changes)
