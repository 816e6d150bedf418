"""References to fields: `f(Task.status)` is a `Ref[Status]`, whose methods build typed conditions and changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, Generic, TypeAlias, TypeVar, get_args, get_origin, overload

from msgspec import Struct
from pydantic import BaseModel

from partita.errors import OperationError
from partita.expressions import (
    AddAction,
    And,
    Arithmetic,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    DeleteAction,
    Exists,
    IfNotExists,
    In,
    ListAppend,
    Missing,
    Not,
    Operand,
    Or,
    Path,
    SetAction,
    Size,
    Value,
    canonical_repr,
)
from partita.model._attributes import empty_set, to_attribute
from partita.model.keys import kinds_of

T = TypeVar("T")
N = TypeVar("N", int, Decimal, float)
M = TypeVar("M")
MutableSetOf = set  # a name that Ref.set does not shadow


class RemoveAction(Struct, frozen=True):
    """`REMOVE path`."""

    path: Path


Change: TypeAlias = SetAction | RemoveAction | AddAction | DeleteAction
"""One change of an update: what the methods of `Ref` give."""

Encode: TypeAlias = Callable[[Any], Any]


class FieldPath:
    """What `Task.address.city` is at run time: a path that grows. Type checkers see the field's own type."""

    __slots__ = ("_annotation", "_encode", "_nullable", "_parts")

    def __init__(
        self,
        parts: tuple[str | int, ...],
        annotation: Any,
        *,
        encode: Encode = to_attribute,
        nullable: bool = False,
    ) -> None:
        self._parts = parts
        self._annotation = annotation
        self._encode = encode
        self._nullable = nullable

    def __getattr__(self, name: str) -> FieldPath:
        for model in kinds_of(self._annotation):
            if isinstance(model, type) and issubclass(model, BaseModel) and name in model.model_fields:
                field = model.model_fields[name]
                return FieldPath((*self._parts, field.alias or name), field.annotation)
        raise AttributeError(f"{self!r} has no field {name!r}.")

    def __getitem__(self, member: Any) -> FieldPath:
        for kind in kinds_of(self._annotation):
            if (found := _member(kind, member)) is not None:
                return FieldPath((*self._parts, found[0]), found[1])
        hint = "Give a key of a map, or a position in a list, from 0."
        raise OperationError(f"{self!r} has no member {member!r:.60}.", hint=hint)

    def __eq__(self, other: object) -> bool:
        raise OperationError(
            f"{self!r} == {other!r:.40} compares no stored value.", hint="Write f(Task.field).eq(value)."
        )

    __hash__ = object.__hash__
    __iter__ = None  # else Python would try one position after the other, without end

    def __repr__(self) -> str:
        return ".".join(str(part) for part in self._parts)


def _member(kind: Any, member: Any) -> tuple[str | int, Any] | None:
    """The part of a path that leads to a member of such a map or list, and the member's type; None where none does."""
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    is_position = type(member) is int and member >= 0
    if kind in (Any, object) or not isinstance(origin, type):  # what is given says what there is
        return (member if is_position else _map_key(member)), Any
    if issubclass(origin, Mapping):
        return _map_key(member), arguments[-1] if arguments else Any
    if is_position and issubclass(origin, Sequence) and not issubclass(origin, str | bytes):
        return member, _element(arguments, member)
    return None


def _map_key(member: Any) -> str:
    """The text that a key of a `dict` is stored as."""
    return str(to_attribute(member))


def _element(arguments: tuple[Any, ...], position: int) -> Any:
    """The type of one element: `tuple[str, int]` has another at each position, everything else has one."""
    if len(arguments) > 1 and arguments[1] is not Ellipsis:
        return arguments[position] if position < len(arguments) else Any
    return arguments[0] if arguments else Any


class Term(Generic[T]):
    """A right-hand side of `Ref.set`, computed by the store: `f(Task.count).plus(1)`."""

    __slots__ = ("operand",)

    def __init__(self, operand: Operand) -> None:
        self.operand = operand


class Comparable(Generic[T]):
    """What conditions compare: a field of type `T`, or the size of one."""

    __slots__ = ("_encode", "operand")

    def __init__(self, operand: Operand, encode: Encode = to_attribute) -> None:
        self.operand = operand
        self._encode = encode

    def _operand(self, value: T | Term[T] | Comparable[T]) -> Operand:
        return value.operand if isinstance(value, Term | Comparable) else Value(self._encode(value))

    # The operators of Python cannot be typed here (== falls back to object equality), so they have names.

    def eq(self, other: T | Comparable[T]) -> Condition:
        """Equal to."""
        return Compare("=", self.operand, self._operand(other))

    def ne(self, other: T | Comparable[T]) -> Condition:
        """Not equal to; true also where the attribute is missing."""
        return Compare("<>", self.operand, self._operand(other))

    def lt(self, other: T | Comparable[T]) -> Condition:
        """Less than."""
        return Compare("<", self.operand, self._operand(other))

    def le(self, other: T | Comparable[T]) -> Condition:
        """Less than or equal to."""
        return Compare("<=", self.operand, self._operand(other))

    def gt(self, other: T | Comparable[T]) -> Condition:
        """Greater than."""
        return Compare(">", self.operand, self._operand(other))

    def ge(self, other: T | Comparable[T]) -> Condition:
        """Greater than or equal to."""
        return Compare(">=", self.operand, self._operand(other))

    def between(self, low: T, high: T) -> Condition:
        """From `low` to `high`, both included."""
        return Between(self.operand, self._operand(low), self._operand(high))

    def is_in(self, options: Iterable[T]) -> Condition:
        """Equal to one of the options."""
        return In(self.operand, tuple(map(self._operand, self._in_order(options))))

    def _in_order(self, options: Iterable[T]) -> list[T]:
        """The options; those of a set in an order that is the same in every process."""
        if not isinstance(options, AbstractSet):
            return list(options)
        # None may stand for absence, and then it has no form of its own.
        return sorted(options, key=lambda option: "" if option is None else canonical_repr(self._operand(option)))


class Ref(Comparable[T]):
    """A reference to a field of type `T`."""

    __slots__ = ("nullable", "path")

    def __init__(self, path: Path, encode: Encode = to_attribute, *, nullable: bool = False) -> None:
        super().__init__(path, encode)
        self.path = path
        self.nullable = nullable

    def __repr__(self) -> str:
        return f"f({'.'.join(str(part) for part in self.path.parts)})"

    def _is_absence(self, value: Any) -> bool:
        """Whether the value is stored by leaving the attribute out: None by default, and every empty set."""
        return (value is None and self.nullable) or empty_set(value)

    def _refuse_absence(self, value: Any) -> None:
        if self._is_absence(value):
            message = f"{self!r}: {value!r} is what a missing attribute stands for."
            raise OperationError(message, hint="There is nothing to change; leave it out.")

    # Conditions.

    def eq(self, other: T | Comparable[T]) -> Condition:
        """Equal to. Equal to None means that the attribute is missing."""
        return self.missing() if self._is_absence(other) else super().eq(other)

    def ne(self, other: T | Comparable[T]) -> Condition:
        """Not equal to; true also where the attribute is missing. Not None means that it exists."""
        return self.exists() if self._is_absence(other) else super().ne(other)

    def is_in(self, options: Iterable[T]) -> Condition:
        """Equal to one of the options."""
        values = self._in_order(options)
        present = In(self.operand, tuple(self._operand(option) for option in values if not self._is_absence(option)))
        if not any(map(self._is_absence, values)):
            return present
        return Or((self.missing(), present)) if present.options else self.missing()

    def exists(self) -> Condition:
        """The attribute exists."""
        return Exists(self.path)

    def missing(self) -> Condition:
        """The attribute does not exist."""
        return Missing(self.path)

    def begins_with(self: Ref[str] | Ref[str | None], prefix: str) -> Condition:
        """The text begins with `prefix`."""
        return BeginsWith(self.path, Value(prefix))

    def contains(self: Ref[str] | Ref[str | None], part: str) -> Condition:
        """The text contains `part`."""
        return Contains(self.path, Value(part))

    # One overload per kind of container: with a union, mypy would take M from the argument.
    @overload
    def has(self: Ref[list[M]], member: M) -> Condition: ...
    @overload
    def has(self: Ref[tuple[M, ...]], member: M) -> Condition: ...
    @overload
    def has(self: Ref[MutableSetOf[M]], member: M) -> Condition: ...
    @overload
    def has(self: Ref[frozenset[M]], member: M) -> Condition: ...
    def has(self: Ref[Any], member: Any) -> Condition:
        """The list or set has the member."""
        return Contains(self.path, Value(to_attribute(member)))

    def size(self) -> Comparable[int]:
        """The length of a text, binary, list, map or set, to compare with."""
        return Comparable(Size(self.path))

    # Changes.

    def set(self, value: T | Term[T] | Ref[T]) -> Change:
        """Set the field; None removes an attribute that stands for None by being absent."""
        if self._is_absence(value):
            return RemoveAction(self.path)
        return SetAction(self.path, self._operand(value))

    def set_if_missing(self, value: T) -> Change:
        """Set the field unless it has a value."""
        self._refuse_absence(value)
        return SetAction(self.path, IfNotExists(self.path, self._operand(value)))

    def remove(self) -> Change:
        """Remove the attribute or list element."""
        return RemoveAction(self.path)

    def add(self: Ref[N], amount: N) -> Change:
        """Add to a number, starting at zero where the attribute is missing."""
        return AddAction(self.path, Value(to_attribute(amount)))

    @overload
    def add_members(self: Ref[MutableSetOf[M]], members: AbstractSet[M]) -> Change: ...
    @overload
    def add_members(self: Ref[frozenset[M]], members: AbstractSet[M]) -> Change: ...
    def add_members(self: Ref[Any], members: AbstractSet[Any]) -> Change:
        """Unite a set with others."""
        self._refuse_absence(members)
        return AddAction(self.path, Value(to_attribute(members)))

    @overload
    def remove_members(self: Ref[MutableSetOf[M]], members: AbstractSet[M]) -> Change: ...
    @overload
    def remove_members(self: Ref[frozenset[M]], members: AbstractSet[M]) -> Change: ...
    def remove_members(self: Ref[Any], members: AbstractSet[Any]) -> Change:
        """Take members out of a set."""
        self._refuse_absence(members)
        return DeleteAction(self.path, Value(to_attribute(members)))

    # Terms.

    def plus(self: Ref[N], amount: N) -> Term[N]:
        """This number and `amount`."""
        return Term(Arithmetic("+", self.path, Value(to_attribute(amount))))

    def minus(self: Ref[N], amount: N) -> Term[N]:
        """This number less `amount`."""
        return Term(Arithmetic("-", self.path, Value(to_attribute(amount))))

    def or_default(self, default: T) -> Term[T]:
        """This value, or the default where it is missing."""
        self._refuse_absence(default)
        return Term(IfNotExists(self.path, self._operand(default)))

    def with_appended(self: Ref[list[M]], elements: list[M]) -> Term[list[M]]:
        """This list and then the elements."""
        return Term(ListAppend(self.path, Value(to_attribute(elements))))

    def with_prepended(self: Ref[list[M]], elements: list[M]) -> Term[list[M]]:
        """The elements and then this list."""
        return Term(ListAppend(Value(to_attribute(elements)), self.path))


def f(field: T) -> Ref[T]:
    """A reference to a field, named on the class: `f(Task.status)`, `f(Task.address.city)`, `f(Task.tags[0])`.

    Raises:
        OperationError: what was given is not a field of an entity class.
    """
    if isinstance(field, FieldPath):
        return Ref(Path(field._parts), field._encode, nullable=field._nullable)  # noqa: SLF001 - its other half
    raise OperationError(f"{field!r:.60} is not a field.", hint="Name the field on the class, as in f(Task.status).")


def all_of(*conditions: Condition) -> Condition:
    """All conditions hold."""
    _refuse_nothing(conditions)
    return conditions[0] if len(conditions) == 1 else And(conditions)


def any_of(*conditions: Condition) -> Condition:
    """One of the conditions holds."""
    _refuse_nothing(conditions)
    return conditions[0] if len(conditions) == 1 else Or(conditions)


def _refuse_nothing(conditions: tuple[Condition, ...]) -> None:
    if not conditions:
        raise OperationError("There is no condition to combine.")


def not_(condition: Condition) -> Condition:
    """The condition does not hold."""
    return Not(condition)
