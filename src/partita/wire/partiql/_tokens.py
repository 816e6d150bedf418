"""The tokens of a statement, read one after another."""

from __future__ import annotations

import re
from typing import Final

from partita.errors import ValidationFailed

MAX_NESTING: Final = 64
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<quoted>\"(?:[^\"]|\"\")*\")"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign><<|>>|<=|>=|<>|!=|[=<>()\[\]{},.:?*+-])|(?P<end>\Z))"
)


class Tokens:
    """Reads tokens from left to right; what does not fit refuses the statement."""

    def __init__(self, text: str) -> None:
        self._tokens = _split(text)
        self._at = 0
        self._depth = 0

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        """Kind and text of a token that is still to be read."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def next(self) -> tuple[str, str]:
        """The next token, whatever it is."""
        token = self.peek()
        if token[0] == "end":
            raise wrong(token[1])
        self._at += 1
        return token

    def word(self, *words: str) -> str | None:
        """The next token, if it is one of these words."""
        kind, text = self.peek()
        if kind == "name" and text.upper() in words:
            self._at += 1
            return text.upper()
        return None

    def sign(self, *signs: str) -> str | None:
        """The next token, if it is one of these signs."""
        kind, text = self.peek()
        if kind == "sign" and text in signs:
            self._at += 1
            return text
        return None

    def call(self, *functions: str) -> str | None:
        """The next token with the parenthesis after it, if it calls one of these functions."""
        kind, text = self.peek()
        if kind == "name" and text.lower() in functions and self.peek(1) == ("sign", "("):
            self._at += 2
            return text.lower()
        return None

    def expect_word(self, word: str) -> None:
        """Read a word that must be there."""
        if self.word(word) is None:
            raise wrong(self.peek()[1])

    def expect(self, sign: str) -> None:
        """Read a sign that must be there."""
        if self.sign(sign) is None:
            raise wrong(self.peek()[1])

    def expect_end(self) -> None:
        """Refuse whatever is left."""
        if self.peek()[0] != "end":
            raise wrong(self.peek()[1])

    def enter(self) -> None:
        """Go a level deeper, which must not be too deep."""
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise ValidationFailed("The statement is nested too deeply.")

    def leave(self) -> None:
        """Come back from a deeper level."""
        self._depth -= 1


def _split(text: str) -> list[tuple[str, str]]:
    tokens, at = [], 0
    text = text.rstrip().removesuffix(";")
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            raise wrong(text[at : at + 10])
        kind = match.lastgroup or "end"
        tokens.append((kind, match[kind]))
        if kind == "end":
            return tokens
        at = match.end()


def wrong(near: str) -> ValidationFailed:
    """The error for what cannot be parsed."""
    return ValidationFailed(f"Statement wasn't well formed, can't be processed: Unexpected {near!r}")
