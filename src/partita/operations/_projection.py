"""Which attributes a read requests, and whether its index contains them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from partita.errors import ModelError
from partita.expressions import Path, Projection
from partita.model import BoundKey, EntitySchema


def projection_of(schema: EntitySchema[Any], key: BoundKey, view: type[BaseModel]) -> Projection:
    """The attributes of a view, and the keys that identify the entity.

    Raises:
        ModelError: the view is not a model, or has a field that the entity does not have.
    """
    if not (isinstance(view, type) and issubclass(view, BaseModel)):
        message = f"The view {getattr(view, '__name__', view)!s:.60} is not a Pydantic model."
        raise ModelError(message, owner=view, hint="Declare class TaskTitle(BaseModel), with fields of the entity.")
    names = [field.alias or name for name, field in view.model_fields.items()]
    for name in names:
        if name not in schema.attributes.values():
            raise ModelError(f"The view {view.__name__} has {name!r}, which {schema.name} does not have.", owner=view)
    return attributes_projection(schema, key, names)


def attributes_projection(schema: EntitySchema[Any], key: BoundKey, names: Iterable[str]) -> Projection:
    """The named attributes, and the keys that identify the entity."""
    stored = (name for name in names if name not in schema.codec.key_only)
    return tuple(dict.fromkeys((*(Path((name,)) for name in stored), *schema.key_projection(key))))


def projected_defaults(schema: EntitySchema[Any], projection: Projection | None) -> dict[str, Any]:
    """The default values of a projection's fields, for items that do not store them."""
    asked = {path.parts[0] for path in projection or ()}
    fields = {attribute: schema.cls.model_fields[name] for attribute, name in schema.fields.items()}
    return {
        attribute: field.get_default(call_default_factory=True, validated_data={})
        for attribute, field in fields.items()
        if attribute in asked and not field.is_required()
    }


def check_projected(
    schema: EntitySchema[Any], key: BoundKey, model: type[BaseModel], sent: Projection | None = None
) -> None:
    """Refuse to read attributes that the index lacks: an entity would get defaults, and lose values when written."""
    index = schema.table.schema.index(key.index) if key.index else None
    if index is None or index.projection == "ALL":
        return
    if index.local and sent is not None:  # a local index fetches attributes requested by name from its table
        return
    held = {attribute.name for attribute in (*schema.table.schema.key, *index.key)}
    held |= set() if index.projection == "KEYS_ONLY" else set(index.projection)
    tags = [schema.tag.attribute] if schema.tag else []
    needed = [*schema.attributes.values(), *tags] if sent is None else [str(path.parts[0]) for path in sent]
    if missing := [name for name in needed if name not in held and name not in schema.codec.key_only]:
        message = f"The index {index.name!r} does not project {', '.join(missing)}, which {model.__name__} needs."
        hint = "Project them, or declare a view of the projected attributes."
        if missing == [schema.expires]:
            hint = f"Project it: {schema.expires} is the TTL, and every read leaves out expired items."
        raise ModelError(message, owner=schema.cls, hint=hint)
