"""Inspection of type annotations: which values they allow."""

from __future__ import annotations

import types
from datetime import date
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID


def kinds_of(annotation: Any) -> tuple[Any, ...]:
    """Return the types that an annotation allows, without None."""
    if get_origin(annotation) is Annotated:
        return kinds_of(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return tuple(dict.fromkeys(type(value) for value in get_args(annotation)))
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(kind for part in get_args(annotation) if part is not type(None) for kind in kinds_of(part))
    return (getattr(annotation, "__supertype__", annotation),)


def allows_none(annotation: Any) -> bool:
    """Whether an annotation is optional."""
    return annotation is None or type(None) in get_args(annotation)


def has_fixed_length(annotation: Any) -> bool:
    """Whether all values of a type have the same length in a key."""
    return all(isinstance(kind, type) and issubclass(kind, date | UUID) for kind in kinds_of(annotation))
