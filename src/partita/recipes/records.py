"""Requirements on an entity in which a recipe stores its records."""

from __future__ import annotations

from typing import Any

from partita.errors import ModelError
from partita.model import Entity, EntitySchema

__all__ = ["check_complete", "check_expires"]


def check_complete(schema: EntitySchema[Any], mixin: type[Entity]) -> None:
    """Refuse fields without a default that the recipe does not know, because nothing would set them.

    Raises:
        ModelError: the user's class adds a field without a default.
    """
    fields = schema.cls.model_fields
    if required := [name for name in fields if name not in mixin.model_fields and fields[name].is_required()]:
        message = f"{schema.name}: the recipe does not set {', '.join(required)}."
        raise ModelError(message, owner=schema.cls, hint="Give it a default.")


def check_expires(schema: EntitySchema[Any]) -> None:
    """Refuse an entity whose field `ttl` is not the TTL attribute of its table.

    Raises:
        ModelError: the table has no TTL, or another TTL attribute.
    """
    if schema.expires != schema.attribute("ttl"):
        message = f"{schema.name} would never expire: its `ttl` is not the TTL attribute of {schema.table!r}."
        hint = 'Declare Table(…, ttl="ttl"), or the field as ttl: int = Field(alias="…").'
        raise ModelError(message, owner=schema.cls, hint=hint)
