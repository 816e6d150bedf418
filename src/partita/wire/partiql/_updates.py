"""Translates SET and REMOVE into the update that stores apply."""

from __future__ import annotations

from typing import Final

from partita.errors import ValidationFailed
from partita.expressions import (
    AddAction,
    Arithmetic,
    DeleteAction,
    ListAppend,
    Operand,
    Path,
    SetAction,
    Update,
    Value,
    validate_update,
)
from partita.wire.partiql._operands import Operands, path_of, unrecognized, wrong_count
from partita.wire.partiql._tree import Call, Change, Group, Name, Node, Operation, Parameter, PathTo

_SET_FUNCTIONS: Final = ("set_add", "set_delete")
_PAIR: Final = 2


class Updates(Operands):
    """Translates the changes of one UPDATE."""

    def update(self, changes: tuple[Change, ...]) -> Update:
        """Translate all changes into one update, and check the rules for all updates.

        Raises:
            ValidationFailed: a change breaks a rule.
        """
        sets: list[SetAction] = []
        removes: list[Path] = []
        adds: list[AddAction] = []
        deletes: list[DeleteAction] = []
        for change in changes:
            path = path_of(change.path)
            if change.value is None:
                removes.append(path)
            elif not isinstance(change.value, Call) or change.value.function not in _SET_FUNCTIONS:
                sets.append(SetAction(path, self._assigned(change.value)))
            elif change.value.function == "set_add":
                adds.append(AddAction(path, self._members(path, change.value)))
            else:
                deletes.append(DeleteAction(path, self._members(path, change.value)))
        update = Update(tuple(sets), tuple(removes), tuple(adds), tuple(deletes))
        validate_update(update, what=None)
        return update

    def _assigned(self, node: Node) -> Operand:
        if isinstance(node, Operation) and node.operator in ("+", "-") and len(node.operands) == _PAIR:
            left, right = map(self._term, node.operands)
            return Arithmetic("+" if node.operator == "+" else "-", left, right)
        return self._term(node)

    def _term(self, node: Node) -> Operand:
        if not isinstance(node, Call):
            return self.operand(node)
        if node.function != "list_append":
            raise unrecognized(node)
        if len(node.arguments) != _PAIR:
            raise wrong_count(node)
        return ListAppend(self._term(node.arguments[0]), self._term(node.arguments[1]))

    def _members(self, path: Path, call: Call) -> Value:
        """The members that a set gains or loses; its path must be the assigned one."""
        shown = call.function.upper()
        if len(call.arguments) != _PAIR:
            raise ValidationFailed(f"{shown} must have exactly two arguments at {call.token.at}")
        target, given = call.arguments
        if not isinstance(target, Name | PathTo) or path_of(target) != path:
            message = f"The first argument to {shown} must equal the assignment value at {call.token.at}"
            raise ValidationFailed(message)
        members = self.value(given) if isinstance(given, Group | Parameter) else None
        if not isinstance(members, frozenset):
            message = f"The second argument to {shown} must be a value with type SET at {target.token.at}"
            raise ValidationFailed(message)
        return Value(members)
