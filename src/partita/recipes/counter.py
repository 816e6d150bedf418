"""Bounded counters: a number in an item, changed by one conditional update, that never leaves its bounds."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Struct

from partita.errors import ConditionFailed, LimitReached, ModelError, OperationError
from partita.expressions import Arithmetic, Compare, Condition, IfNotExists, Missing, Or, SetAction, Value
from partita.model import Entity, EntitySchema, Ref, schema_of
from partita.operations import Get, Update, update
from partita.values import Item

__all__ = ["Counter"]

E = TypeVar("E", bound=Entity)


class Counter(Generic[E]):
    """An integer field of an entity that stays between a floor and a limit. Immutable.

    seats = Counter(Event, f(Event.seats_left), floor=0)
    db.run(seats.down(event_by_id("e1"), 2))       # or part of transact(...)
    """

    def __init__(self, entity: type[E], field: Ref[int], *, floor: int | None = 0, limit: int | None = None) -> None:
        """Declare a counter.

        Args:
            entity: the entity with the number.
            field: the number; an item that was stored before the field existed counts from the field's default.
            floor: the minimum; None for no bound.
            limit: the maximum; None for no bound.

        Raises:
            ModelError: the field is not an int of this entity, or the bounds leave no room.
        """
        schema = schema_of(entity)
        name = _field_name(schema, field)
        if schema.cls.model_fields[name].annotation is not int:
            raise ModelError(f"{schema.name}.{name} is not an int, so it cannot be counted.", owner=entity)
        if floor is not None and limit is not None and limit <= floor:
            raise ModelError(f"{schema.name}.{name}: there is no room between {floor} and {limit}.", owner=entity)
        self.schema = schema
        self.field = field
        self.floor = floor
        self.limit = limit
        default = schema.cls.model_fields[name].default
        self._default: int | None = default if isinstance(default, int) else None

    def __repr__(self) -> str:
        return f"Counter({self.schema.name}, {self.field!r}, floor={self.floor}, limit={self.limit})"

    def with_limit(self, limit: int) -> Counter[E]:
        """The same counter with another limit, for example if each event has its own capacity."""
        return Counter(self.schema.cls, self.field, floor=self.floor, limit=limit)

    def up(self, at: E | Get[E], by: int = 1) -> Update[E]:
        """Count up, but not past the limit; otherwise raise `LimitReached` with the remaining number."""
        return self._move(at, _positive(by))

    def down(self, at: E | Get[E], by: int = 1) -> Update[E]:
        """Count down, but not below the floor; otherwise raise `LimitReached` with the remaining number."""
        return self._move(at, -_positive(by))

    def _move(self, at: E | Get[E], by: int) -> Update[E]:
        move = update(at, SetAction(self.field.path, Arithmetic("+", self._value(), Value(by))))
        bounds = self._bounds(by)
        bounded = move if bounds is None else move.when(bounds)
        return bounded.labelled(f"{self.schema.name}.count").failing_as(_OutOfBounds(self, by))

    def _value(self) -> Any:
        path = self.field.path
        return path if self._default is None else IfNotExists(path, Value(self._default))

    def _bounds(self, by: int) -> Condition | None:
        bound = self.floor if by < 0 else self.limit
        if bound is None:
            return None
        last = bound - by
        path = self.field.path
        holds: Condition = Compare(">=" if by < 0 else "<=", path, Value(last))
        starts_inside = self._default is not None and (self._default >= last if by < 0 else self._default <= last)
        return Or((Missing(path), holds)) if starts_inside else holds

    def remaining(self, item: Item, by: int) -> int | None:
        """How far an item's number may still move in the direction of `by`; None for no bound."""
        bound = self.floor if by < 0 else self.limit
        value = item.get(str(self.field.path.parts[0]), self._default)
        if bound is None or not isinstance(value, int):
            return None
        return max(0, value - bound if by < 0 else bound - value)


class _OutOfBounds(Struct, frozen=True):
    """Explains a failed move: returns `LimitReached` if too little remains."""

    counter: Counter[Any]
    by: int

    def __call__(self, failed: ConditionFailed) -> ConditionFailed:
        if type(failed) is not ConditionFailed or failed.item is None:
            return failed
        remaining = self.counter.remaining(failed.item, self.by)
        if remaining is None or remaining >= abs(self.by):
            return failed
        counted = f"{self.counter.schema.name}.{self.counter.field.path.parts[0]}"
        message = f"{abs(self.by)} of {counted} requested, {remaining} left."
        return LimitReached(message, remaining=remaining, item=failed.item, current=failed.current)


def _field_name(schema: EntitySchema[Any], field: Ref[int]) -> str:
    for name, attribute in schema.attributes.items():
        if field.path.parts == (attribute,):
            return name
    raise ModelError(f"{field!r} is not a field of {schema.name}.", owner=schema.cls)


def _positive(by: int) -> int:
    if by < 1:
        raise OperationError(f"A counter moves by 1 or more, not {by}.", hint="Use up() or down() for the direction.")
    return by
