"""Parts of keys that are computed from fields and stored only in the key: a day, a rank, a shard.

A function computes the part. Its parameters are fields of the entity, so every write knows its dependencies.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, Final, Generic, Self, TypeVar, get_type_hints, overload

from pydantic import BaseModel

from partita.errors import ModelError
from partita.model.keys._annotations import kinds_of
from partita.model.keys._parts import plain_text

T = TypeVar("T")

MAX_SHARDS: Final = 200
_PLAIN: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class FieldFunction(Generic[T]):
    """A function of an entity's fields: each parameter has the name of a field."""

    def __init__(self, function: Callable[..., T]) -> None:
        self.function = function
        parameters = inspect.signature(function).parameters.values()
        self.sources = tuple(parameter.name for parameter in parameters)
        """The fields that it needs."""
        if not self.sources or any(each.kind not in _PLAIN for each in parameters):
            hint = "Name its parameters after the fields that it needs: def day(at: datetime) -> date."
            raise ModelError(f"{self.name} must have fields of an entity as parameters.", hint=hint)

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", repr(self.function))

    def of(self, values: Mapping[str, Any]) -> T:
        """Call the function with the values of these fields."""
        return self.function(*[values[name] for name in self.sources])

    def of_entity(self, entity: object) -> T:
        """Call the function with the fields of an entity."""
        return self.function(*[getattr(entity, name) for name in self.sources])

    def check(self, label: str, model: type[BaseModel]) -> None:
        """Reject parameters that are not fields of the entity, or have a different annotation."""
        hints = get_type_hints(self.function) if inspect.isfunction(self.function) else {}
        for name in self.sources:
            if name not in model.model_fields:
                hint = f"{model.__name__} has: {', '.join(model.model_fields)}."
                raise ModelError(f"{label}: {name!r} is not a field.", owner=model, hint=hint)
            declared = model.model_fields[name].annotation
            if name in hints and kinds_of(hints[name]) != kinds_of(declared):
                message = f"{label}: {name!r} is declared as {hints[name]}, but the field is {declared}."
                raise ModelError(message, owner=model)


class Derived(Generic[T]):
    """A part of keys that is computed from fields: `day: ClassVar = Derived(day_of)`.

    Key templates use it like a field, `SENSOR#{sensor_id}#{day}`, and so do access patterns. An entity computes it
    (`reading.day`); it is stored only in keys.
    """

    def __init__(self, function: Callable[..., T]) -> None:
        self.function = FieldFunction(function)
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, entity: None, owner: type) -> Self: ...
    @overload
    def __get__(self, entity: object, owner: type) -> T: ...
    def __get__(self, entity: object | None, owner: type) -> Self | T:
        return self if entity is None else self.function.of_entity(entity)

    def __repr__(self) -> str:
        return f"Derived({self.function.name})"

    @property
    def sources(self) -> tuple[str, ...]:
        """The fields from which the part is computed."""
        return self.function.sources

    @property
    def annotation(self) -> Any:
        """The type of the part; None if the function has no return annotation."""
        return get_type_hints(self.function.function).get("return")

    def of(self, values: Mapping[str, Any]) -> T:
        """Compute the part from these fields."""
        return self.function.of(values)

    def check(self, model: type[BaseModel]) -> None:
        """Reject a function that does not fit the entity.

        Raises:
            ModelError: a parameter is not a field, or the result has no type.
        """
        label = f"{model.__name__}.{self.name}"
        if self.name in model.model_fields:
            raise ModelError(f"{label} is a field already.", owner=model)
        self.function.check(label, model)
        if self.annotation in (None, type(None)):
            hint = "Write def day_of(at: datetime) -> date."
            raise ModelError(f"{label}: {self.function.name} has no return type annotation.", owner=model, hint=hint)


class Shards(Derived[int]):
    """Spreads items over several partitions, by a hash of some of their fields: `shard: ClassVar = Shards(8, "id")`.

    It is part of a partition key, `ORDERS#{shard}`. A query that does not specify it reads all shards, merged in order.
    """

    def __init__(self, count: int, *fields: str) -> None:
        """Declare the shards.

        Args:
            count: the number of shards; it cannot change while there are items, because it determines their keys.
            fields: the fields that determine the shard of an item, such as its identifier.
        """
        if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= MAX_SHARDS:  # noqa: PLR2004
            raise ModelError(f"Shards({count!r}): the number of shards must be 2 to {MAX_SHARDS}.")
        if not fields or not all(isinstance(name, str) for name in fields):
            hint = 'Write Shards(8, "order_id").'
            raise ModelError("Shards need the names of the fields that determine the shard of an item.", hint=hint)
        self.count = count
        self._fields = fields
        super().__init__(_hashing(count, fields))

    def __repr__(self) -> str:
        return f"Shards({self.count}, {', '.join(map(repr, self._fields))})"


def _hashing(count: int, fields: tuple[str, ...]) -> Callable[..., int]:
    def shard(*values: Any) -> int:
        # Each text is preceded by its length, so that ("a", "bc") and ("ab", "c") differ.
        texts = [plain_text(value, None).encode() for value in values]
        written = b"".join(len(text).to_bytes(4) + text for text in texts)
        return int.from_bytes(blake2b(written, digest_size=8).digest()) % count

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shard.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in fields])  # type: ignore[attr-defined]
    return shard


def derived_of(model: type) -> dict[str, Derived[Any]]:
    """Return the derived parts that a class and its bases declare, by name."""
    ancestors = reversed(model.__mro__)
    return {name: part for ancestor in ancestors for name, part in vars(ancestor).items() if isinstance(part, Derived)}
