"""Reading names, paths, literals and operands; a question mark stands for the next parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from partita.errors import ValidationFailed
from partita.expressions import Arithmetic, ListAppend, Operand, Path, Size, Value
from partita.values import MAX_DIGITS, AttributeValue, number
from partita.wire.partiql._tokens import Tokens, wrong

_CONSTANTS: Final[dict[str, AttributeValue]] = {"true": True, "false": False, "null": None}
_UNEQUAL: Final = "Number of parameters in request and statement don't match."


class OperandReader:
    """Reads what stands on either side of an operator."""

    def __init__(self, text: str, parameters: Sequence[AttributeValue]) -> None:
        self.tokens = Tokens(text)
        self._parameters = list(parameters)
        self._used = 0

    def finish(self) -> None:
        """Refuse words and parameters that are left over."""
        self.tokens.expect_end()
        if self._used != len(self._parameters):
            raise ValidationFailed(_UNEQUAL)

    def name(self) -> str:
        """The name of a table, an index or an attribute."""
        kind, text = self.tokens.next()
        if kind == "quoted":
            return text[1:-1].replace('""', '"')
        if kind != "name":
            raise wrong(text)
        return text

    def path(self) -> Path:
        """A document path: `a.b[0]`, `"a"."b"`."""
        parts: list[str | int] = [self.name()]
        while True:
            if self.tokens.sign("."):
                parts.append(self.name())
            elif self.tokens.sign("["):
                parts.append(self._position())
                self.tokens.expect("]")
            else:
                return Path(tuple(parts))

    def _position(self) -> str | int:
        kind, text = self.tokens.next()
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind != "number" or not text.isdigit() or len(text) > MAX_DIGITS:
            raise wrong(text)
        return int(text)

    def sum(self) -> Operand:
        """An operand, or the sum or difference of two."""
        left = self.operand()
        if sign := self.tokens.sign("+", "-"):
            return Arithmetic(sign, left, self.operand())  # type: ignore[arg-type]  # one of both
        return left

    def operand(self) -> Operand:
        """A path, a literal, a size, or a list with another at its end."""
        function = self.tokens.call("list_append", "size")
        if function == "size":
            path = self.path()
            self.tokens.expect(")")
            return Size(path)
        if function == "list_append":
            first = self.operand()
            self.tokens.expect(",")
            second = self.operand()
            self.tokens.expect(")")
            return ListAppend(first, second)
        kind, text = self.tokens.peek()
        if kind == "quoted" or (kind == "name" and text.lower() not in _CONSTANTS):
            return self.path()
        return Value(self.literal())

    def literal(self) -> AttributeValue:
        """A value as it is written, or a parameter."""
        kind, text = self.tokens.next()
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind == "number":
            return number(text)
        if kind == "name" and text.lower() in _CONSTANTS:
            return _CONSTANTS[text.lower()]
        if text in ("-", "+"):
            return self._signed(text)
        if text == "?":
            return self._parameter()
        self.tokens.enter()
        literal = self._structure(text)
        self.tokens.leave()
        return literal

    def _signed(self, sign: str) -> AttributeValue:
        kind, text = self.tokens.next()
        if kind != "number":
            raise wrong(text)
        return number(sign + text)

    def _structure(self, opening: str) -> AttributeValue:
        if opening == "[":
            return self._members("]")
        if opening == "<<":
            return _set_of(self._members(">>"))
        if opening != "{":
            raise wrong(opening)
        fields: dict[str, AttributeValue] = {}
        while not self.tokens.sign("}"):
            if fields:
                self.tokens.expect(",")
            kind, text = self.tokens.next()
            if kind not in ("text", "quoted"):
                raise wrong(text)
            self.tokens.expect(":")
            fields[text[1:-1].replace("''", "'")] = self.literal()
        return fields

    def _members(self, closing: str) -> list[Any]:
        members: list[Any] = []
        while not self.tokens.sign(closing):
            if members:
                self.tokens.expect(",")
            members.append(self.literal())
        return members

    def _parameter(self) -> AttributeValue:
        if self._used >= len(self._parameters):
            raise ValidationFailed(_UNEQUAL)
        self._used += 1
        return self._parameters[self._used - 1]


def _set_of(members: list[Any]) -> AttributeValue:
    if any(isinstance(member, list | dict) for member in members):
        raise ValidationFailed("A set holds only strings, only numbers or only binaries.")
    return frozenset(members)
