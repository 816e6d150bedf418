"""Short constructors of expression trees: a text is a path, anything else that is not a node is a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from partita.expressions import _ast as ast

_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def path(text: str) -> ast.Path:
    """Return the path written as `a.b[0].c`."""
    return ast.Path(tuple(name or int(position) for name, position in _PART.findall(text)))


def val(value: Any) -> ast.Value:
    """Return a literal; needed only if a text would become a path."""
    return ast.Value(value)


def operand(value: Any) -> ast.Operand:
    """Return a node unchanged, and anything else as a literal."""
    return value if isinstance(value, get_args(ast.Operand)) else ast.Value(value)


def _left(value: Any) -> ast.Operand:
    return path(value) if isinstance(value, str) else operand(value)


def compare(left: Any, op: ast.Comparator, right: Any) -> ast.Compare:
    """`left op right`: a text on the left is a path, on the right a literal."""
    return ast.Compare(op, _left(left), operand(right))


def eq(left: Any, right: Any) -> ast.Compare:
    """`left = right`."""
    return compare(left, "=", right)


def between(left: Any, low: Any, high: Any) -> ast.Between:
    """`left BETWEEN low AND high`."""
    return ast.Between(_left(left), operand(low), operand(high))


def is_in(left: Any, *options: Any) -> ast.In:
    """`left IN (options)`."""
    return ast.In(_left(left), tuple(map(operand, options)))


def exists(text: str) -> ast.Exists:
    """`attribute_exists(path)`."""
    return ast.Exists(path(text))


def missing(text: str) -> ast.Missing:
    """`attribute_not_exists(path)`."""
    return ast.Missing(path(text))


def has_type(text: str, kind: Any) -> ast.HasType:
    """`attribute_type(path, kind)`."""
    return ast.HasType(path(text), operand(kind))


def begins(left: Any, prefix: Any) -> ast.BeginsWith:
    """`begins_with(left, prefix)`."""
    return ast.BeginsWith(_left(left), operand(prefix))


def contains(left: Any, member: Any) -> ast.Contains:
    """`contains(left, member)`."""
    return ast.Contains(_left(left), operand(member))


def size(text: str) -> ast.Size:
    """`size(path)`."""
    return ast.Size(path(text))


def if_missing(text: str, default: Any) -> ast.IfNotExists:
    """`if_not_exists(path, default)`."""
    return ast.IfNotExists(path(text), operand(default))


def append(first: Any, second: Any) -> ast.ListAppend:
    """`list_append(first, second)`."""
    return ast.ListAppend(operand(first), operand(second))


def plus(left: Any, right: Any) -> ast.Arithmetic:
    """`left + right`."""
    return ast.Arithmetic("+", _left(left), operand(right))


def minus(left: Any, right: Any) -> ast.Arithmetic:
    """`left - right`."""
    return ast.Arithmetic("-", _left(left), operand(right))


def setting(changes: Mapping[str, Any]) -> ast.Update:
    """`SET path = operand, …`."""
    return ast.Update(sets=tuple(ast.SetAction(path(text), operand(each)) for text, each in changes.items()))


def removing(*texts: str) -> ast.Update:
    """`REMOVE path, …`."""
    return ast.Update(removes=tuple(map(path, texts)))


def adding(changes: Mapping[str, Any]) -> ast.Update:
    """`ADD path value, …`."""
    return ast.Update(adds=tuple(ast.AddAction(path(text), val(each)) for text, each in changes.items()))


def deleting(changes: Mapping[str, Any]) -> ast.Update:
    """`DELETE path value, …`."""
    return ast.Update(deletes=tuple(ast.DeleteAction(path(text), val(each)) for text, each in changes.items()))


def joined(*updates: ast.Update) -> ast.Update:
    """Return one update with the clauses of all."""
    return ast.Update(
        sets=tuple(action for update in updates for action in update.sets),
        removes=tuple(action for update in updates for action in update.removes),
        adds=tuple(action for update in updates for action in update.adds),
        deletes=tuple(action for update in updates for action in update.deletes),
    )


def projection(*texts: str) -> ast.Projection:
    """Return the paths of a projection."""
    return tuple(map(path, texts))
