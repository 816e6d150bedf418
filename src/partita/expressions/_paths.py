"""Document paths: finding a value in an item, and projecting an item to some paths."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, TypeAlias

from partita.expressions._ast import Path, Projection
from partita.values import Item


class _Absent(Enum):
    MISSING = "missing"


MISSING: Final = _Absent.MISSING
"""The result for a path without a value; distinct from a stored null, which is None."""

_Tree: TypeAlias = dict[str | int, Any]
"""The parts of several paths, merged into a tree; a path ends at None."""


def resolve(path: Path, item: Item) -> Any:
    """Return the value at the path, or MISSING."""
    value: Any = item
    for part in path.parts:
        if isinstance(part, str):
            if type(value) is not dict or part not in value:
                return MISSING
            value = value[part]
        elif type(value) is list and part < len(value):
            value = value[part]
        else:
            return MISSING
    return value


def project(projection: Projection, item: Item) -> Item:
    """Return only these paths of the item, with lists compacted in the order of their positions."""
    tree: _Tree = {}
    for path in projection:
        branch = tree
        for part in path.parts[:-1]:
            branch = branch.setdefault(part, {})
        branch[path.parts[-1]] = None
    picked = _pick(tree, item)
    return {} if picked is MISSING else picked


def _pick(tree: _Tree | None, value: Any) -> Any:
    if tree is None:
        return value
    if type(value) is dict:
        return _pick_members(tree, value)
    return _pick_elements(tree, value) if type(value) is list else MISSING


def _pick_members(tree: _Tree, members: dict[str | int, Any]) -> Any:
    picked = {}
    for name, branch in tree.items():
        if name in members:
            value = _pick(branch, members[name])
            if value is not MISSING:
                picked[name] = value
    return picked or MISSING


def _pick_elements(tree: _Tree, elements: list[Any]) -> Any:
    positions = sorted(part for part in tree if type(part) is int and part < len(elements))
    picked = [_pick(tree[position], elements[position]) for position in positions]
    return [value for value in picked if value is not MISSING] or MISSING
