"""Application of updates to items.

Every operand is read from the item before the update. Then all changes are made at once, copying only the
maps and lists on their paths. Positions in lists therefore always refer to the old list.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from partita.errors import ValidationFailed
from partita.expressions._ast import (
    AddAction,
    Arithmetic,
    DeleteAction,
    IfNotExists,
    ListAppend,
    Operand,
    Path,
    SetAction,
    Update,
    Value,
)
from partita.expressions._paths import MISSING, project, resolve
from partita.values import Item, kind_of, number, plus

WRONG_OPERAND: Final = "An operand in the update expression has an incorrect data type"
"""DynamoDB's message for a value with a type that an action does not accept."""


class _Branch(dict[str | int, Any]):
    """The changes below one map or list, by name or position: a new value, MISSING, or a branch."""


def apply_update(update: Update, item: Item) -> Item:
    """Return the item after the update; `{}` represents a missing item. The given item is not changed.

    Raises:
        ValidationFailed: a path does not exist, or a value has a type that the action does not accept.
    """
    changes = _Branch()
    for action in update.sets:
        operand, parts = action.operand, action.path.parts
        value = operand.value if type(operand) is Value else _READERS[type(operand)](operand, item)
        if len(parts) == 1:  # nearly every path
            changes[parts[0]] = value
        else:
            _place(changes, action.path, value)
    for addition in update.adds:
        _place(changes, addition.path, _sum(addition, item))
    if item:  # nothing can be removed from a missing item
        for path in update.removes:
            _place(changes, path, MISSING)
        for deletion in update.deletes:
            _place(changes, deletion.path, _difference(deletion, item))
    return _changed_map(item, changes)


def creates(update: Update) -> bool:
    """Whether the update creates a missing item: with only REMOVE and DELETE, it does not."""
    return bool(update.sets or update.adds) or not (update.removes or update.deletes)


def touched(update: Update, item: Item) -> Item:
    """Return only the touched paths of the image before or after the update, with lists compacted.

    Positions are looked up in the given image, so after `REMOVE a[1]` the element that moved there is found.
    """
    actions: tuple[SetAction | AddAction | DeleteAction, ...] = (*update.sets, *update.adds, *update.deletes)
    return project((*(action.path for action in actions), *update.removes), item)


def _place(changes: _Branch, path: Path, value: Any) -> None:
    branch = changes
    for part in path.parts[:-1]:
        branch = branch.setdefault(part, _Branch())
    branch[path.parts[-1]] = value


def _changed(container: Any, changes: _Branch) -> Any:
    by_name = type(next(iter(changes))) is str
    if by_name and type(container) is dict:
        return _changed_map(container, changes)
    if not by_name and type(container) is list:
        return _changed_list(container, changes)
    raise ValidationFailed("The document path provided in the update expression is invalid for update")


def _changed_map(members: dict[str, Any], changes: _Branch) -> dict[str, Any]:
    changed: dict[Any, Any] = dict(members)
    for name, change in changes.items():
        if type(change) is _Branch:
            changed[name] = _changed(changed.get(name), change)
        elif change is MISSING:
            changed.pop(name, None)
        else:
            changed[name] = change
    return changed


def _changed_list(elements: list[Any], changes: _Branch) -> list[Any]:
    changed = list(elements)
    for position, change in sorted(changes.items()):
        inside = type(position) is int and position < len(elements)
        if type(change) is _Branch:
            change = _changed(elements[position] if inside else None, change)  # type: ignore[index]  # noqa: PLW2901
        if inside:
            changed[position] = change  # type: ignore[index]
        elif change is not MISSING:
            changed.append(change)
    return [element for element in changed if element is not MISSING]


def _sum(action: AddAction, item: Item) -> Any:
    addend: Any = action.value.value
    current = resolve(action.path, item)
    kind = kind_of(addend)
    if current is MISSING:
        return number(addend) if kind == "N" else frozenset(addend)
    _require(kind_of(current) == kind)
    return plus(current, addend) if kind == "N" else frozenset(current) | addend


def _difference(action: DeleteAction, item: Item) -> Any:
    members: Any = action.value.value
    current = resolve(action.path, item)
    if current is MISSING:
        return MISSING
    _require(kind_of(current) == kind_of(members))
    return (frozenset(current) - members) or MISSING


def _require(right_type: bool) -> None:  # noqa: FBT001 - an assertion
    if not right_type:
        raise ValidationFailed(WRONG_OPERAND)


def _read_value(operand: Value, _: Item) -> Any:
    return operand.value


def _read_path(operand: Path, item: Item) -> Any:
    value = resolve(operand, item)
    if value is MISSING:
        message = "The provided expression refers to an attribute that does not exist in the item"
        raise ValidationFailed(message)
    return value


def _read_or_default(operand: IfNotExists, item: Item) -> Any:
    value = resolve(operand.path, item)
    return _read(operand.default, item) if value is MISSING else value


def _read_joined(operand: ListAppend, item: Item) -> Any:
    first, second = _read(operand.first, item), _read(operand.second, item)
    _require(type(first) is list and type(second) is list)
    return first + second


def _read_result(operand: Arithmetic, item: Item) -> Any:
    left, right = _read(operand.left, item), _read(operand.right, item)
    _require(kind_of(left) == kind_of(right) == "N")
    return plus(left, right if operand.sign == "+" else _negative(right))


def _negative(value: int | Decimal) -> int | Decimal:
    # The minus sign would round a Decimal to the precision of the thread's context.
    return value.copy_negate() if isinstance(value, Decimal) else -value


def _read(operand: Operand, item: Item) -> Any:
    return _READERS[type(operand)](operand, item)


_READERS: Final[dict[type, Callable[[Any, Item], Any]]] = {
    Value: _read_value,
    Path: _read_path,
    IfNotExists: _read_or_default,
    ListAppend: _read_joined,
    Arithmetic: _read_result,
}
