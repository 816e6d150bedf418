"""Computes the size of an update expression, which DynamoDB limits separately from the size of the item.

`UpdateItem` measures two sizes against 409,600 bytes: that of the resulting item, and that of the update itself. The
second includes every clause, and every value as often as it is used; attributes that the update does not change,
including the key, do not count. AWS does not document this. The figures were measured by others in October 2026, and
hold in 22 of 33 regions.

| | bytes |
| --- | --- |
| the update | 3 |
| SET, ADD | 19, the path, and what is assigned or added |
| REMOVE, DELETE | 1 and the path |
| a path that is written | its first name, then 4 and the part for each further part |
| a path that is read | 1, then 14 and the part for each part |
| a value | its size |
| `+`, `-`, `list_append`, `if_not_exists` | 34, 37, 37, 39, and both operands |
"""

from __future__ import annotations

from typing import Final

from partita.errors import ValidationFailed
from partita.expressions import Arithmetic, IfNotExists, ListAppend, Operand, Path, Update, Value
from partita.store import Json
from partita.values import MAX_ITEM_BYTES, text_size, value_size

SMALL: Final = 200
"""An expression cannot use values of this length often enough to exceed the limit."""

_UPDATE: Final = 3
_WRITE: Final = 19
_REMOVE: Final = 1
_FURTHER: Final = 4
_READ: Final = 14
_SIGNS: Final = {"+": 34, "-": 37}
_LIST_APPEND: Final = 37
_IF_NOT_EXISTS: Final = 39


def check_charge(update: Update, values: Json | None) -> None:
    """Refuse an update that is too large by itself; `values` are the values in wire format.

    Raises:
        ValidationFailed: it is too large.
    """
    if values is None or all(map(_is_small, values.values())):
        return
    if charge(update) > MAX_ITEM_BYTES:
        raise ValidationFailed("Item size to update has exceeded the maximum allowed size")


def _is_small(tagged: Json) -> bool:
    for tag, content in tagged.items():
        if tag in ("L", "M", "SS", "NS", "BS") or (type(content) is str and len(content) > SMALL):
            return False
    return True


def charge(update: Update) -> int:
    """The size of an update in bytes."""
    written = [(action.path, _operand(action.operand)) for action in update.sets]
    written += [(action.path, value_size(action.value.value)) for action in update.adds]
    removed = [*update.removes, *(action.path for action in update.deletes)]
    return (
        _UPDATE
        + sum(_WRITE + _target(path) + size for path, size in written)
        + sum(_REMOVE + _target(path) for path in removed)
    )


def _part(part: str | int) -> int:
    return text_size(str(part))


def _target(path: Path) -> int:
    first, *others = path.parts
    return _part(first) + sum(_FURTHER + _part(part) for part in others)


def _operand(operand: Operand) -> int:
    match operand:
        case Value(value):
            return value_size(value)
        case Path(parts):
            return 1 + sum(_READ + _part(part) for part in parts)
        case Arithmetic(sign, left, right):
            return _SIGNS[sign] + _operand(left) + _operand(right)
        case ListAppend(first, second):
            return _LIST_APPEND + _operand(first) + _operand(second)
        case IfNotExists(path, default):
            return _IF_NOT_EXISTS + _operand(path) + _operand(default)
    return 0
