"""Combine a caller's changes into one update expression."""

from __future__ import annotations

from collections.abc import Sequence

from partita.expressions import AddAction, DeleteAction, SetAction, Update
from partita.model._fields import Change, RemoveAction


def to_update(changes: Sequence[Change]) -> Update:
    """Return the update expression that makes all changes at once."""
    sets = tuple([change for change in changes if type(change) is SetAction])
    if len(sets) == len(changes):
        return Update(sets)
    return Update(
        sets=sets,
        removes=tuple(change.path for change in changes if isinstance(change, RemoveAction)),
        adds=tuple(change for change in changes if isinstance(change, AddAction)),
        deletes=tuple(change for change in changes if isinstance(change, DeleteAction)),
    )
