"""Parts of keys that are computed from fields, and are not stored but in the key: a day, a rank, a shard.

A function says what a part is. Its parameters are fields of the entity, so that every write knows what it depends on.
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
    """A function of an entity's fields: each parameter is named like one."""

    def __init__(self, function: Callable[..., T]) -> None:
        self.function = function
        parameters = inspect.signature(function).parameters.values()
        self.sources = tuple(parameter.name for parameter in parameters)
        """The fields that it needs."""
        if not self.sources or any(each.kind not in _PLAIN for each in parameters):
            hint = "Name its parameters after the fields that it needs: def day(at: datetime) -> date."
            raise ModelError(f"{self.name} must take fields of an entity.", hint=hint)

    @property
    def name(self) -> str:
        """What the function is called."""
        return getattr(self.function, "__name__", repr(self.function))

    def of(self, values: Mapping[str, Any]) -> T:
        """What it gives for these fields."""
        return self.function(*[values[name] for name in self.sources])

    def of_entity(self, entity: object) -> T:
        """What it gives for an entity."""
        return self.function(*[getattr(entity, name) for name in self.sources])

    def check(self, label: str, model: type[BaseModel]) -> None:
        """Refuse parameters that are not fields of the entity, or are annotated otherwise."""
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
    """A part of keys that follows from fields: `day: ClassVar = Derived(day_of)`.

    A key template names it like a field, `SENSOR#{sensor_id}#{day}`, and so does an access pattern. An entity computes
    it (`reading.day`); it is stored in keys alone.
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
        """The fields that it follows from."""
        return self.function.sources

    @property
    def annotation(self) -> Any:
        """The type of the part; None where the function does not say it."""
        return get_type_hints(self.function.function).get("return")

    def of(self, values: Mapping[str, Any]) -> T:
        """The part for these fields."""
        return self.function.of(values)

    def check(self, model: type[BaseModel]) -> None:
        """Refuse a function that does not fit the entity.

        Raises:
            ModelError: a parameter is not a field, or the result has no type.
        """
        label = f"{model.__name__}.{self.name}"
        if self.name in model.model_fields:
            raise ModelError(f"{label} is a field already.", owner=model)
        self.function.check(label, model)
        if self.annotation in (None, type(None)):
            hint = "Write def day_of(at: datetime) -> date."
            raise ModelError(f"{label}: {self.function.name} does not say what it returns.", owner=model, hint=hint)


class Shards(Derived[int]):
    """Spreads items over several partitions, by a hash of some of their fields: `shard: ClassVar = Shards(8, "id")`.

    It stands in a partition key, `ORDERS#{shard}`. A query that does not name it reads all shards, merged in order.
    """

    def __init__(self, count: int, *fields: str) -> None:
        """Declare the shards.

        Args:
            count: how many; it cannot change while there are items, because it decides where they stand.
            fields: what decides in which shard an item is, such as its identifier.
        """
        if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= MAX_SHARDS:  # noqa: PLR2004
            raise ModelError(f"Shards({count!r}): there are 2 to {MAX_SHARDS} shards.")
        if not fields or not all(isinstance(name, str) for name in fields):
            hint = 'Write Shards(8, "order_id").'
            raise ModelError("Shards need the names of fields that decide where an item stands.", hint=hint)
        self.count = count
        self._fields = fields
        super().__init__(_hashing(count, fields))

    def __repr__(self) -> str:
        return f"Shards({self.count}, {', '.join(map(repr, self._fields))})"


def _hashing(count: int, fields: tuple[str, ...]) -> Callable[..., int]:
    def shard(*values: Any) -> int:
        # Each text with its length, so that "a" and "bc" is another value than "ab" and "c".
        texts = [plain_text(value, None).encode() for value in values]
        written = b"".join(len(text).to_bytes(4) + text for text in texts)
        return int.from_bytes(blake2b(written, digest_size=8).digest()) % count

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shard.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in fields])  # type: ignore[attr-defined]
    return shard


def derived_of(model: type) -> dict[str, Derived[Any]]:
    """The derived parts that a class and its bases declare, by name."""
    ancestors = reversed(model.__mro__)
    return {name: part for ancestor in ancestors for name, part in vars(ancestor).items() if isinstance(part, Derived)}
