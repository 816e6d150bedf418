"""Resolution of an entity's types that are written as text, as under `from __future__ import annotations`."""

from __future__ import annotations

from types import FrameType

from pydantic import BaseModel
from pydantic.errors import PydanticUndefinedAnnotation

from partita.errors import ModelError


def resolve_types(cls: type[BaseModel], scope: FrameType) -> None:
    """Complete a class whose types Pydantic did not find, with the names of the scope that declares it.

    Raises:
        ModelError: a type is not defined there.
    """
    try:
        cls.model_rebuild(_types_namespace={**scope.f_globals, **scope.f_locals, cls.__name__: cls})
    except PydanticUndefinedAnnotation as error:
        message = f"{cls.__name__}: the type {error.name!r} is not defined."
        hint = "Import it outside `if TYPE_CHECKING`, and declare a class before the entity that uses it."
        raise ModelError(message, owner=cls, hint=hint) from None
