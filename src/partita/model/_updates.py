"""Combine a caller's changes into one update expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

from partita.errors import OperationError
from partita.expressions import AddAction, DeleteAction, SetAction, Update
from partita.model._fields import Change, RemoveAction

_KINDS: Final = get_args(Change)


def check_kinds(changes: Sequence[Change]) -> None:
    """Raise if one of the arguments is not a change, such as a condition or a map of values."""
    for change in changes:
        if type(change) is not SetAction and not isinstance(change, _KINDS):
            hint = "Build changes with f(): update(task, f(Task.field).set(value))."
            raise OperationError(f"{change!r:.60} is not a change.", hint=hint)


def to_update(changes: Sequence[Change]) -> Update:
    """Return the update expression that makes all changes at once."""
    sets = tuple([change for change in changes if type(change) is SetAction])
    if len(sets) == len(changes):
        return Update(sets)
    check_kinds(changes)
    return Update(
        sets=sets,
        removes=tuple(change.path for change in changes if isinstance(change, RemoveAction)),
        adds=tuple(change for change in changes if isinstance(change, AddAction)),
        deletes=tuple(change for change in changes if isinstance(change, DeleteAction)),
    )
