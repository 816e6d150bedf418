"""References to fields: `f(Task.status)` is a `Ref[Status]`, whose methods build typed conditions and changes."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, Final, Generic, TypeAlias, TypeVar, get_args, overload

from msgspec import Struct

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
from partita.model._field_path import Encode, FieldPath

T = TypeVar("T")
N = TypeVar("N", int, Decimal, float)
M = TypeVar("M")
MutableSetOf = set  # a name that Ref.set does not shadow


_CONDITIONS: Final = get_args(Condition)


class RemoveAction(Struct, frozen=True, gc=False):
    """`REMOVE path`."""

    path: Path


Change: TypeAlias = SetAction | RemoveAction | AddAction | DeleteAction
"""One change of an update, as returned by the methods of `Ref`."""


class Term(Generic[T]):
    """A right-hand side of `Ref.set`, computed by the store: `f(Task.count).plus(1)`."""

    __slots__ = ("operand",)

    def __init__(self, operand: Operand) -> None:
        self.operand = operand


class DefaultTerm(Term[T]):
    """A value, or a default if it is missing, to add or append to: `f(Task.notes).or_default([])`."""

    __slots__ = ("_encode",)

    def __init__(self, operand: IfNotExists, encode: Encode) -> None:
        super().__init__(operand)
        self._encode = encode

    def plus(self: DefaultTerm[N], amount: N) -> Term[N]:
        """This number and `amount`."""
        return Term(Arithmetic("+", self.operand, Value(to_attribute(amount))))

    def minus(self: DefaultTerm[N], amount: N) -> Term[N]:
        """This number less `amount`."""
        return Term(Arithmetic("-", self.operand, Value(to_attribute(amount))))

    @overload
    def with_appended(self: DefaultTerm[list[M]], elements: list[M]) -> Term[list[M]]: ...
    @overload
    def with_appended(self: DefaultTerm[list[M] | None], elements: list[M]) -> Term[list[M] | None]: ...
    def with_appended(self: DefaultTerm[Any], elements: list[Any]) -> Term[Any]:
        """This list, followed by the elements."""
        return Term(ListAppend(self.operand, Value(self._encode(elements))))

    @overload
    def with_prepended(self: DefaultTerm[list[M]], elements: list[M]) -> Term[list[M]]: ...
    @overload
    def with_prepended(self: DefaultTerm[list[M] | None], elements: list[M]) -> Term[list[M] | None]: ...
    def with_prepended(self: DefaultTerm[Any], elements: list[Any]) -> Term[Any]:
        """The elements, followed by this list."""
        return Term(ListAppend(Value(self._encode(elements)), self.operand))


class Comparable(Generic[T]):
    """An operand of conditions: a field of type `T`, or the size of a field."""

    __slots__ = ("_encode", "operand")

    def __init__(self, operand: Operand, encode: Encode = to_attribute) -> None:
        self.operand = operand
        self._encode = encode

    def _operand(self, value: T | Term[T] | Comparable[T]) -> Operand:
        return value.operand if isinstance(value, Term | Comparable) else Value(self._encode(value))

    # Python's operators cannot be typed here (== falls back to object equality), so these are named methods.

    def eq(self, other: T | Comparable[T]) -> Condition:
        """Equal to."""
        return Compare("=", self.operand, self._operand(other))

    def ne(self, other: T | Comparable[T]) -> Condition:
        """Not equal to; also true if the attribute is missing."""
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
        """Return the options; those of a set in an order that is the same in every process.

        Raises:
            OperationError: there are none, or they are the characters of a text.
        """
        if isinstance(options, str | bytes):
            raise OperationError(f"is_in({options!r:.60}) has no list of options.", hint="Write is_in([…]), or eq(…).")
        if not isinstance(options, AbstractSet | list | tuple):
            options = list(options)
        if not options:
            hint = "Nothing is in an empty list: do without the request."
            raise OperationError("is_in() needs at least one option.", hint=hint)
        if not isinstance(options, AbstractSet):
            return list(options)
        # None may represent a missing attribute, and then it has no attribute value.
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
        """Whether the value is stored by omitting the attribute: None by default, and every empty set."""
        return (value is None and self.nullable) or empty_set(value)

    def _refuse_absence(self, value: Any) -> None:
        if self._is_absence(value):
            message = f"{self!r}: {value!r} is represented by a missing attribute."
            raise OperationError(message, hint="There is nothing to change, so leave it out.")

    # Conditions.

    def eq(self, other: T | Comparable[T]) -> Condition:
        """Equal to. Equal to None means that the attribute is missing."""
        return self.missing() if self._is_absence(other) else super().eq(other)

    def ne(self, other: T | Comparable[T]) -> Condition:
        """Not equal to; also true if the attribute is missing. Not equal to None means that it exists."""
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
        """The list or set contains the member."""
        return Contains(self.path, Value(to_attribute(member)))

    def size(self) -> Comparable[int]:
        """The length of a text, binary, list, map or set, for comparisons."""
        return Comparable(Size(self.path))

    # Changes.

    def set(self, value: T | Term[T] | Ref[T]) -> Change:
        """Set the field; None removes the attribute if None is represented by a missing attribute."""
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

    @overload
    def add(self: Ref[N], amount: N) -> Change: ...
    @overload
    def add(self: Ref[N | None], amount: N) -> Change: ...
    def add(self: Ref[Any], amount: Any) -> Change:
        """Add to a number, starting at zero if the attribute is missing."""
        return AddAction(self.path, Value(to_attribute(amount)))

    @overload
    def append(self: Ref[list[M]], elements: list[M]) -> Change: ...
    @overload
    def append(self: Ref[list[M] | None], elements: list[M]) -> Change: ...
    def append(self: Ref[Any], elements: list[Any]) -> Change:
        """Append to a list, starting with an empty list if the attribute is missing."""
        return SetAction(self.path, ListAppend(self._or_empty(), Value(self._encode(elements))))

    @overload
    def prepend(self: Ref[list[M]], elements: list[M]) -> Change: ...
    @overload
    def prepend(self: Ref[list[M] | None], elements: list[M]) -> Change: ...
    def prepend(self: Ref[Any], elements: list[Any]) -> Change:
        """Prepend to a list, starting with an empty list if the attribute is missing."""
        return SetAction(self.path, ListAppend(Value(self._encode(elements)), self._or_empty()))

    def _or_empty(self) -> IfNotExists:
        return IfNotExists(self.path, Value([]))

    @overload
    def add_members(self: Ref[MutableSetOf[M]], members: AbstractSet[M]) -> Change: ...
    @overload
    def add_members(self: Ref[frozenset[M]], members: AbstractSet[M]) -> Change: ...
    def add_members(self: Ref[Any], members: AbstractSet[Any]) -> Change:
        """Add members to a set."""
        self._refuse_absence(members)
        return AddAction(self.path, Value(to_attribute(members)))

    @overload
    def remove_members(self: Ref[MutableSetOf[M]], members: AbstractSet[M]) -> Change: ...
    @overload
    def remove_members(self: Ref[frozenset[M]], members: AbstractSet[M]) -> Change: ...
    def remove_members(self: Ref[Any], members: AbstractSet[Any]) -> Change:
        """Remove members from a set."""
        self._refuse_absence(members)
        return DeleteAction(self.path, Value(to_attribute(members)))

    # Terms.

    def plus(self: Ref[N], amount: N) -> Term[N]:
        """This number and `amount`."""
        return Term(Arithmetic("+", self.path, Value(to_attribute(amount))))

    def minus(self: Ref[N], amount: N) -> Term[N]:
        """This number less `amount`."""
        return Term(Arithmetic("-", self.path, Value(to_attribute(amount))))

    def or_default(self, default: T) -> DefaultTerm[T]:
        """This value, or the default if it is missing."""
        self._refuse_absence(default)
        return DefaultTerm(IfNotExists(self.path, self._operand(default)), self._encode)

    def with_appended(self: Ref[list[M]], elements: list[M]) -> Term[list[M]]:
        """This list, which must exist, followed by the elements."""
        return Term(ListAppend(self.path, Value(self._encode(elements))))

    def with_prepended(self: Ref[list[M]], elements: list[M]) -> Term[list[M]]:
        """The elements, followed by this list, which must exist."""
        return Term(ListAppend(Value(self._encode(elements)), self.path))


def f(field: T) -> Ref[T]:
    """Return a reference to a field of an entity class: `f(Task.status)`, `f(Task.address.city)`, `f(Task.tags[0])`.

    Raises:
        OperationError: the argument is not a field of an entity class.
    """
    if isinstance(field, FieldPath):
        return Ref(Path(field._parts), field._encode, nullable=field._nullable)  # noqa: SLF001 - its other half
    raise OperationError(f"{field!r:.60} is not a field.", hint="Access the field on the class, as in f(Task.status).")


def all_of(*conditions: Condition) -> Condition:
    """All conditions hold."""
    _check_conditions(conditions)
    return conditions[0] if len(conditions) == 1 else And(conditions)


def any_of(*conditions: Condition) -> Condition:
    """One of the conditions holds."""
    _check_conditions(conditions)
    return conditions[0] if len(conditions) == 1 else Or(conditions)


def not_(condition: Condition) -> Condition:
    """The condition does not hold."""
    _check_conditions((condition,))
    return Not(condition)


def _check_conditions(conditions: tuple[Condition, ...]) -> None:
    if not conditions:
        raise OperationError("There is no condition to combine.")
    for condition in conditions:
        if not isinstance(condition, _CONDITIONS):
            hint = "Pass each condition as an argument of its own: all_of(f(Task.done).eq(True), f(Task.due).lt(day))."
            raise OperationError(f"{condition!r:.60} is not a condition.", hint=hint)
