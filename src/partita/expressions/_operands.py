"""Parsing of the parts that all expressions share: placeholders, document paths and operands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from partita.errors import ValidationFailed
from partita.expressions._ast import IfNotExists, ListAppend, Operand, Path, Size, Value
from partita.expressions._evaluate import size_of
from partita.expressions._invalid import (
    InvalidExpression,
    misused,
    nested_too_deeply,
    no_condition_function,
    no_update_function,
    path_required,
    redundant_parentheses,
    wrong_count,
    wrong_type,
)
from partita.expressions._paths import MISSING
from partita.expressions._reserved import RESERVED_WORDS
from partita.expressions._tokens import Tokens
from partita.expressions._update_rules import MAX_NESTED_FUNCTIONS
from partita.values import AttributeValue, kind_of

PREDICATES: Final = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
}
"""The functions that are conditions, with their numbers of operands."""

UPDATE_FUNCTIONS: Final = {"if_not_exists": 2, "list_append": 2}
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Substitutions:
    """The names and values of one request, which tracks those that its expressions have used."""

    def __init__(self, names: Mapping[str, str] = _NOTHING, values: Mapping[str, AttributeValue] = _NOTHING) -> None:
        _check_keys("ExpressionAttributeNames", "#", names)
        _check_keys("ExpressionAttributeValues", ":", values)
        self.names = names
        self.values = values
        self._unused = dict.fromkeys((*names, *values))

    def name(self, placeholder: str) -> str:
        """Return the attribute name of a `#placeholder`."""
        if placeholder not in self.names:
            raise InvalidExpression(
                f"An expression attribute name used in the document path is not defined; attribute name: {placeholder}"
            )
        self._unused.pop(placeholder, None)
        return self.names[placeholder]

    def value(self, placeholder: str) -> Value:
        """Return the value of a `:placeholder`."""
        if placeholder not in self.values:
            raise InvalidExpression(
                f"An expression attribute value used in expression is not defined; attribute value: {placeholder}"
            )
        self._unused.pop(placeholder, None)
        return Value(self.values[placeholder])

    def check_all_used(self) -> None:
        """Check that the expressions have used every name and value.

        Raises:
            ValidationFailed: one was not used.
        """
        for what, given in (("Names", self.names), ("Values", self.values)):
            unused = [placeholder for placeholder in given if placeholder in self._unused]
            if unused:
                raise ValidationFailed(
                    f"Value provided in ExpressionAttribute{what} unused in expressions: keys: {{{', '.join(unused)}}}"
                )


def _check_keys(what: str, sign: str, given: Mapping[str, Any]) -> None:
    for key in given:
        if not re.fullmatch(rf"{sign}[A-Za-z0-9_]+", key):
            raise ValidationFailed(f'{what} contains invalid key: Syntax error; key: "{key}"')


class OperandReader:
    """Parses paths and operands from the tokens of one expression."""

    def __init__(self, tokens: Tokens, substitutions: Substitutions, *, update: bool) -> None:
        self.tokens = tokens
        self._substitutions = substitutions
        self._update = update

    def path(self) -> Path:
        """Parse a document path."""
        return self._further(Path((self._name(),)))

    def value(self) -> Value:
        """Parse the placeholder of a value."""
        return self._substitutions.value(self.tokens.expect("colon").text)

    def operand(self, depth: int = 0) -> Operand:
        """Parse a path, a value or a function, possibly in parentheses."""
        if depth > MAX_NESTED_FUNCTIONS:
            raise nested_too_deeply()
        if self.tokens.skip("("):
            if self.tokens.kind() == "(" and self.tokens.kind_after_group() == ")":
                raise redundant_parentheses()
            inner = self.operand(depth + 1)
            self.tokens.expect(")")
            return self._further(inner) if isinstance(inner, Path) else inner
        if self.tokens.kind() == "colon":
            return self.value()
        return self.path() if self.tokens.called() is None else self._function(depth)

    def arguments(self, function: str, count: int, depth: int = 0) -> list[Operand]:
        """Parse the operands of a function whose name has been read."""
        operands = self.operands(depth + 1)
        if len(operands) != count:
            raise wrong_count(function, len(operands))
        return operands

    def operands(self, depth: int = 0) -> list[Operand]:
        """Parse operands in parentheses, separated by commas."""
        self.tokens.expect("(")
        operands = [self.operand(depth)]
        while self.tokens.skip(","):
            operands.append(self.operand(depth))
        self.tokens.expect(")")
        return operands

    def _name(self) -> str:
        if self.tokens.kind() == "hash":
            return self._substitutions.name(self.tokens.advance().text)
        name = self.tokens.expect("name").text
        if name.upper() in RESERVED_WORDS:
            raise InvalidExpression(f"Attribute name is a reserved keyword; reserved keyword: {name}")
        return name

    def _further(self, path: Path) -> Path:
        parts = list(path.parts)
        while True:
            if self.tokens.skip("."):
                parts.append(self._name())
            elif self.tokens.skip("["):
                parts.append(int(self.tokens.expect("index").text))
                self.tokens.expect("]")
            else:
                return Path(tuple(parts))

    def _function(self, depth: int) -> Operand:
        name = self.tokens.advance().text
        if name == "size":
            if self._update:
                raise no_update_function(name)
            return _size(self.arguments(name, 1, depth)[0])
        if name in UPDATE_FUNCTIONS:
            if not self._update:
                raise no_condition_function(name)
            return self._update_function(name, depth)
        if name in PREDICATES:
            raise no_update_function(name) if self._update else misused(name)
        raise InvalidExpression(f"Invalid function name; function: {name}")

    def _update_function(self, name: str, depth: int) -> Operand:
        first, second = self.arguments(name, UPDATE_FUNCTIONS[name], depth)
        if name == "list_append":
            return ListAppend(first, second)
        if not isinstance(first, Path):
            raise path_required(name)
        return IfNotExists(first, second)


def _size(operand: Operand) -> Operand:
    """Return the size of an operand. The tree has a node only for sizes of paths; that of a value is computed here."""
    if isinstance(operand, Path):
        return Size(operand)
    if not isinstance(operand, Value):
        raise wrong_type("size", "N")
    size = size_of(operand.value)
    if size is MISSING:
        raise wrong_type("size", kind_of(operand.value))
    return Value(size)
