"""The field that counts the writes of an entity."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from pydantic import BaseModel

from partita.errors import ModelError
from partita.model.keys import allows_none


class VersionMark:
    """Marks the field that counts an entity's writes."""


Version = Annotated[int, VersionMark()]
"""The type of a field that guards every write: `version: Version = 0`. Zero means not stored yet."""


def version_field(cls: type[BaseModel]) -> str | None:
    """Return the field that counts the writes of an entity; None if there is none.

    Raises:
        ModelError: there are two, or the field does not start at 0.
    """
    marked = [
        name
        for name, field in cls.model_fields.items()
        if any(isinstance(mark, VersionMark) for mark in field.metadata) or _is_inside(field.annotation)
    ]
    if len(marked) > 1:
        raise ModelError(f"{cls.__name__} has two version fields: {', '.join(marked)}.", owner=cls)
    if not marked:
        return None
    field = cls.model_fields[marked[0]]
    if field.default != 0 or allows_none(field.annotation) or _is_inside(field.annotation):
        message = f"{cls.__name__}.{marked[0]}: a version starts at 0."
        raise ModelError(message, owner=cls, hint="Write version: Version = 0.")
    return marked[0]


def _is_inside(annotation: Any) -> bool:
    """Whether the mark is on a part of the type, as in `Version | None`, where it would count nothing."""
    return any(isinstance(part, VersionMark) or _is_inside(part) for part in get_args(annotation))
