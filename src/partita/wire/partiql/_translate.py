"""Translates statement trees into the operations that DynamoDB supports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from partita.errors import ValidationFailed
from partita.expressions import Condition, Path, Update
from partita.values import AttributeValue
from partita.wire._parameters import refuse, violated
from partita.wire.partiql._conditions import Conditions, unsupported
from partita.wire.partiql._operands import UNEQUAL, Operands, name_of, path_of
from partita.wire.partiql._statements import parse
from partita.wire.partiql._tokens import Token
from partita.wire.partiql._tree import Call, InsertNode, Mapping, ModifyNode, Name, Node, Parameter, PathTo, SelectNode
from partita.wire.partiql._updates import Updates

MAX_STATEMENT: Final = 8_192
_WITH_INDEX: Final = 2


class Order(Struct, frozen=True):
    """One key of ORDER BY."""

    name: str
    descending: bool = False


class Select(Struct, frozen=True):
    """Reads items; without columns, whole items."""

    table: str
    index: str | None
    columns: tuple[Node, ...]
    where: Condition | None
    order: tuple[Order, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """The selected paths.

        Raises:
            ValidationFailed: a column is not a path. This is checked only after the table and its index are known.
        """
        return tuple(map(path_of, self.columns))


class Insert(Struct, frozen=True):
    """Inserts an item that must not exist yet."""

    table: str
    item: dict[str, Any]


class Modify(Struct, frozen=True):
    """Updates an item, or deletes it if there is no update."""

    table: str
    update: Update | None
    where: Condition | None
    returning: str | None = None


class Check(Struct, frozen=True):
    """Requires that an item exists and satisfies the condition."""

    table: str
    where: Condition | None


Statement: TypeAlias = Select | Insert | Modify | Check


def read_statement(text: str, parameters: Sequence[AttributeValue] = ()) -> Statement:
    """Parse a statement and fill in its parameters.

    Raises:
        ValidationFailed: the text is not a statement, or the number of parameters is wrong.
    """
    if not text:
        refuse(violated("", "statement", "Member must have length greater than or equal to 1"))
    if len(text) > MAX_STATEMENT:
        refuse(violated(text, "statement", f"Member must have length less than or equal to {MAX_STATEMENT}"))
    node, wanted = parse(text)
    if wanted != len(parameters):
        raise ValidationFailed(UNEQUAL)
    if isinstance(node, SelectNode):
        return _select(node, parameters)
    if isinstance(node, InsertNode):
        return _insert(node, parameters)
    if isinstance(node, ModifyNode):
        return _modify(node, parameters)
    if isinstance(node, Call) and node.function == "exists":
        return _check(node, parameters)
    raise unsupported(node)


def _check(node: Call, parameters: Sequence[AttributeValue]) -> Check:
    inner = node.arguments[0] if len(node.arguments) == 1 else None
    if not isinstance(inner, SelectNode):
        raise unsupported(node)
    select = _select(inner, parameters)
    return Check(select.table, select.where)


def _select(node: SelectNode, parameters: Sequence[AttributeValue]) -> Select:
    if node.aliased:
        raise ValidationFailed("Aliasing is not supported")
    names = _names(node.source)
    if node.clause is not None:
        raise _unsupported_clause(node.clause)
    where = None if node.where is None else Conditions(parameters).condition(node.where)
    order = tuple(Order(_key(key), descending) for key, descending in node.order)
    return Select(names[0], names[1] if len(names) == _WITH_INDEX else None, node.columns, where, order)


def _unsupported_clause(clause: Token) -> ValidationFailed:
    return ValidationFailed(f"Unsupported clause: {clause.text.upper().replace('_', ' ')} at {clause.at}")


def _names(node: Node) -> list[str]:
    """The table name, and optionally the index name."""
    path = path_of(node)
    if len(path.parts) > _WITH_INDEX:
        raise ValidationFailed("A path may contain at most 2 components in the FROM clause")
    return [str(part) for part in path.parts]


def _key(node: Node) -> str:
    return ".".join(map(str, path_of(node).parts))


def _insert(node: InsertNode, parameters: Sequence[AttributeValue]) -> Insert:
    if isinstance(node.target, PathTo):
        message = "FROM clause may only contain a single table name in data manipulation statements"
        raise ValidationFailed(f"{message} at {node.target.token.at}")
    if node.clause is not None:
        raise _unsupported_clause(node.clause)
    assert isinstance(node.target, Name)  # noqa: S101 - a simple path is a Name or a PathTo
    table, operands = name_of(node.target.token), Operands(parameters)
    if isinstance(node.value, Mapping):
        return Insert(table, {name: operands.value(member) for name, member in operands.fields(node.value)})
    item = operands.value(node.value) if isinstance(node.value, Parameter) else None
    if not isinstance(item, dict):
        raise ValidationFailed("The VALUE of an INSERT must be a map.")
    return Insert(table, item)


def _modify(node: ModifyNode, parameters: Sequence[AttributeValue]) -> Modify:
    if node.aliased:
        raise ValidationFailed("Aliasing is not supported")
    names = _names(node.target)
    where = None if node.where is None else Conditions(parameters).condition(node.where)
    if not node.changes and node.returning not in (None, "ALL OLD"):
        allowed = "Only RETURNING ALL OLD * is allowed in DELETE statements."
        raise ValidationFailed(f"Invalid returning clause: RETURNING {node.returning} *. {allowed}")
    update = Updates(parameters).update(node.changes) if node.changes else None
    if len(names) == _WITH_INDEX:
        raise ValidationFailed("This operation is not supported on an index")
    returning = None if node.returning is None else node.returning.replace(" ", "_").replace("MODIFIED", "UPDATED")
    return Modify(names[0], update, where, returning)
