"""Translates names, paths and literals of a statement; a question mark becomes its parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from partita.errors import ValidationFailed
from partita.expressions import Operand, Path, Size, Value
from partita.values import MAX_DIGITS, AttributeValue, kind_of, number
from partita.wire._wording import duplicate_members, older_number
from partita.wire.partiql._tokens import Token
from partita.wire.partiql._tree import Call, Group, Literal, Mapping, Name, Node, Parameter, PathTo

UNEQUAL: Final = "Number of parameters in request and statement don't match."
_NAMES: Final = ("name", "quoted")


def unrecognized(function: Call) -> ValidationFailed:
    """The error for a function that is not allowed in this place."""
    return ValidationFailed(f"Unrecognized function: {function.function} at {function.token.at}")


def wrong_count(function: Call) -> ValidationFailed:
    """The error for a wrong number of operands."""
    return ValidationFailed(
        "Incorrect number of operands for operator or function; "
        f"operator or function: {function.function}, number of operands: {len(function.arguments)}"
    )


def name_of(token: Token) -> str:
    """The name of a token; raise ValidationFailed if it is empty."""
    if not token.text:
        raise ValidationFailed("Path component cannot be an empty string")
    return token.text


def path_of(node: Node) -> Path:
    """Translate an expression into a document path.

    Raises:
        ValidationFailed: the expression is not a path.
    """
    if isinstance(node, Name):
        return Path((name_of(node.token),))
    if isinstance(node, PathTo) and isinstance(node.root, Name):
        return Path((name_of(node.root.token), *map(_part, node.steps)))
    raise _unexpected(node.token)


def _unexpected(token: Token) -> ValidationFailed:
    return ValidationFailed(f"Unexpected path component at {token.at}")


def _part(step: Token | Node) -> str | int:
    if isinstance(step, Token):
        if step.kind in _NAMES:
            return name_of(step)
        raise _unexpected(step)
    if isinstance(step, Literal) and not step.sign:
        if step.token.kind == "text":
            return name_of(step.token)
        if step.token.kind == "number" and step.token.text.isdigit() and len(step.token.text) <= MAX_DIGITS:
            return int(step.token.text)
    raise _unexpected(step.token)


class Operands:
    """Translates operands, with the parameters of the request."""

    def __init__(self, parameters: Sequence[AttributeValue]) -> None:
        self._parameters = parameters

    def operand(self, node: Node) -> Operand:
        """A path, a value, or the size of the value at a path."""
        if isinstance(node, Name | PathTo):
            return path_of(node)
        if isinstance(node, Call):
            return self._size(node)
        return Value(self.value(node))

    def _size(self, call: Call) -> Operand:
        if call.function != "size":
            raise unrecognized(call)
        if len(call.arguments) != 1:
            raise wrong_count(call)
        argument = call.arguments[0]
        if not isinstance(argument, Name | PathTo):
            kind = kind_of(self.value(argument))
            message = f"operator or function: size, operand type: {kind}"
            raise ValidationFailed(f"Incorrect operand type for operator or function; {message}")
        return Size(path_of(argument))

    def value(self, node: Node, place: str = "root") -> AttributeValue:
        """The value of an expression; `place` is its position in a document, for messages.

        Raises:
            ValidationFailed: the expression is not a value, or breaks a rule of values.
        """
        if isinstance(node, Parameter):
            return self._parameters[node.position]
        if isinstance(node, Literal) and node.token.kind != "missing":
            return _literal(node, place)
        if isinstance(node, Group):
            if node.is_bag:
                return _set_of([self.value(member, place) for member in node.members])
            return [self.value(member, f"{place}[{index}]") for index, member in enumerate(node.members)]
        if isinstance(node, Mapping):
            return {key: self.value(member, f"{place}.{key}") for key, member in self.fields(node)}
        shown = node.token.text
        raise ValidationFailed(f"Unsupported data type: {shown} under key {place} at {node.token.at}")

    def fields(self, node: Mapping) -> list[tuple[str, Node]]:
        """The keys of a map, each with its expression."""
        return [(_key(key), member) for key, member in node.members]


def _key(node: Node) -> str:
    if isinstance(node, Literal | Name) and node.token.kind in ("text", "quoted"):
        return node.token.text
    raise ValidationFailed(f"Unsupported data type: {node.token.text} under key root at {node.token.at}")


def _literal(node: Literal, place: str) -> AttributeValue:
    kind, text = node.token.kind, node.token.text
    if kind == "text":
        return text
    if kind != "number":
        return None if kind == "null" else text == "true"
    try:
        return number(node.sign + text)
    except ValidationFailed as error:
        raise ValidationFailed(f"{older_number(node.sign + text, error.message)} under {place}") from None


def _set_of(members: list[Any]) -> AttributeValue:
    if not members:
        raise ValidationFailed("Empty bags are not supported")
    kinds = {kind_of(member) for member in members}
    if len(kinds) > 1 or not kinds <= {"S", "N", "B"}:
        raise ValidationFailed("A set holds only strings, only numbers or only binaries.")
    found = frozenset(members)
    if len(found) < len(members):
        raise duplicate_members(f"{kinds.pop()}S", members)
    return found
