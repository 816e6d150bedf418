"""One syntax tree for conditions, updates, projections and key conditions.

The library builds it, the embedded store evaluates it, the remote store renders it to
DynamoDB's text and the wire server parses text into it. Nodes are frozen and compare by value.

A write creates dozens of nodes, so the garbage collector does not track those that do not contain nodes of their own
kind (`gc=False`): they cannot be part of a cycle. It tracks those that nest, because it also frees deep trees without
recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NoReturn, TypeAlias, overload

from msgspec import Struct, structs

from partita.errors import OperationError
from partita.values import AttributeValue

Comparator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]
RangeOperator: TypeAlias = Literal["<", "<=", ">", ">=", "BETWEEN", "BEGINS_WITH"]


class Path(Struct, frozen=True, gc=False):
    """A document path: attribute names and list positions, such as `("address", "lines", 0)`."""

    parts: tuple[str | int, ...]


class Value(Struct, frozen=True, gc=False):
    """A literal value."""

    value: AttributeValue


class Size(Struct, frozen=True, gc=False):
    """`size(path)`: conditions only."""

    path: Path


class IfNotExists(Struct, frozen=True):
    """`if_not_exists(path, default)`: right-hand sides of SET only."""

    path: Path
    default: Operand


class ListAppend(Struct, frozen=True):
    """`list_append(first, second)`: right-hand sides of SET only."""

    first: Operand
    second: Operand


class Arithmetic(Struct, frozen=True):
    """`left + right` or `left - right`: right-hand sides of SET only."""

    sign: Literal["+", "-"]
    left: Operand
    right: Operand


Operand: TypeAlias = Path | Value | Size | IfNotExists | ListAppend | Arithmetic
"""An operand that a condition compares or an update assigns."""


class _ConditionNode(Struct, frozen=True):
    """The base of all conditions. It has no truth value, because `and` would silently drop its first operand."""

    def __bool__(self) -> NoReturn:
        hint = "Combine conditions with all_of(), any_of() and not_()."
        raise OperationError("A condition is neither true nor false before the store evaluates it.", hint=hint)


class Compare(_ConditionNode, frozen=True, gc=False):
    """`left <op> right`."""

    op: Comparator
    left: Operand
    right: Operand


class Between(_ConditionNode, frozen=True, gc=False):
    """`operand BETWEEN low AND high`, both ends included."""

    operand: Operand
    low: Operand
    high: Operand


class In(_ConditionNode, frozen=True, gc=False):
    """`operand IN (a, b, …)`, at most 100 options."""

    operand: Operand
    options: tuple[Operand, ...]


class Exists(_ConditionNode, frozen=True, gc=False):
    """`attribute_exists(path)`."""

    path: Path


class Missing(_ConditionNode, frozen=True, gc=False):
    """`attribute_not_exists(path)`."""

    path: Path


class HasType(_ConditionNode, frozen=True, gc=False):
    """`attribute_type(operand, type)`."""

    operand: Operand
    type: Operand


class BeginsWith(_ConditionNode, frozen=True, gc=False):
    """`begins_with(operand, prefix)`."""

    operand: Operand
    prefix: Operand


class Contains(_ConditionNode, frozen=True, gc=False):
    """`contains(operand, member)`: substring, set member or list element."""

    operand: Operand
    member: Operand


class And(_ConditionNode, frozen=True):
    """All terms hold."""

    terms: tuple[Condition, ...]


class Or(_ConditionNode, frozen=True):
    """One term holds."""

    terms: tuple[Condition, ...]


class Not(_ConditionNode, frozen=True):
    """The term does not hold."""

    term: Condition


Condition: TypeAlias = Compare | Between | In | Exists | Missing | HasType | BeginsWith | Contains | And | Or | Not
"""A condition that an item satisfies or not."""


class SetAction(Struct, frozen=True, gc=False):
    """`SET path = operand`."""

    path: Path
    operand: Operand


class AddAction(Struct, frozen=True, gc=False):
    """`ADD path value`: adds a number, or adds members to a set."""

    path: Path
    value: Value


class DeleteAction(Struct, frozen=True, gc=False):
    """`DELETE path value`: removes members from a set."""

    path: Path
    value: Value


class Update(Struct, frozen=True, gc=False):
    """All clauses of one update expression. An empty one only ensures that the item exists."""

    sets: tuple[SetAction, ...] = ()
    removes: tuple[Path, ...] = ()
    adds: tuple[AddAction, ...] = ()
    deletes: tuple[DeleteAction, ...] = ()


class KeyRange(Struct, frozen=True, gc=False):
    """The range condition of a key condition: two values for BETWEEN, one for the other operators."""

    name: str
    op: RangeOperator
    values: tuple[AttributeValue, ...]


class KeyCondition(Struct, frozen=True, gc=False):
    """Equalities on the partition key and leading sort keys, then at most one range."""

    equal: tuple[tuple[str, AttributeValue], ...]
    range: KeyRange | None = None


Projection: TypeAlias = tuple[Path, ...]
"""The paths that a read requests."""


@overload
def both(first: Condition, second: Condition | None) -> Condition: ...
@overload
def both(first: Condition | None, second: Condition) -> Condition: ...
@overload
def both(first: Condition | None, second: Condition | None) -> Condition | None: ...
def both(first: Condition | None, second: Condition | None) -> Condition | None:
    """Return the conjunction of two conditions, either of which may be None."""
    if first is None or second is None:
        return second if first is None else first
    terms = (*(first.terms if isinstance(first, And) else (first,)),)
    return And((*terms, *(second.terms if isinstance(second, And) else (second,))))


def values_in(node: Condition | Operand) -> Iterator[Value]:
    """Yield every literal value in a condition or operand."""
    if isinstance(node, Value):
        yield node
    elif isinstance(node, Struct):
        for part in structs.astuple(node):
            for child in part if isinstance(part, tuple) else (part,):
                yield from values_in(child)


def paths_in(node: Condition | Operand) -> Iterator[Path]:
    """Yield every path that a condition or operand reads."""
    if isinstance(node, Path):
        yield node
    elif isinstance(node, Struct) and not isinstance(node, Value):
        for part in structs.astuple(node):
            for child in part if isinstance(part, tuple) else (part,):
                yield from paths_in(child)
