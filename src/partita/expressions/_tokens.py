"""Splitting of an expression's text into tokens, and reading these one after the other."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from partita.expressions._invalid import InvalidExpression

MAX_EXPRESSION_BYTES: Final = 4_096
_TOKEN: Final = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_]*)|(?P<hash>#[A-Za-z0-9_]+)|(?P<colon>:[A-Za-z0-9_]+)|(?P<index>[0-9]+)"
    r"|(?P<sign><=|>=|<>|[=<>()\[\],.+-])|(?P<space>[ \t\r\n]+)|(?P<unknown>.)",
    re.DOTALL,
)


class Token(NamedTuple):
    """A token. `kind` is the sign or keyword itself, or the kind of token."""

    kind: str
    text: str
    start: int


class Tokens:
    """The tokens of one expression, with the current position.

    Raises:
        InvalidExpression: the expression is empty or too long.
    """

    def __init__(self, text: str, keywords: frozenset[str], *, update: bool = False) -> None:
        if not text:
            raise InvalidExpression("The expression can not be empty;")
        size = len(text.encode(errors="surrogatepass"))
        if size > MAX_EXPRESSION_BYTES:
            shown = "" if update else f" expression size: {size}"  # AWS omits it for an update
            raise InvalidExpression(f"Expression size has exceeded the maximum allowed size;{shown}")
        self._text = text
        self._tokens = _split(text, keywords)
        self._closing = _pairs(self._tokens)
        self._at = 0

    def kind(self, ahead: int = 0) -> str:
        """Return the kind of the next token, or of one further ahead; "end" after the last."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)].kind

    def called(self) -> str | None:
        """Return the name of the function that comes next; None if no function does."""
        return self._tokens[self._at].text if self.kind() == "name" and self.kind(1) == "(" else None

    def advance(self) -> Token:
        """Read and return the next token."""
        token = self._tokens[self._at]
        if token.kind == "end":
            raise self.unexpected()
        self._at += 1
        return token

    def skip(self, *kinds: str) -> bool:
        """Read the next token if it is of one of these kinds, and return whether it was."""
        if self.kind() not in kinds:
            return False
        self._at += 1
        return True

    def expect(self, kind: str) -> Token:
        """Read the next token, which must be of this kind."""
        if self.kind() != kind:
            raise self.unexpected()
        return self.advance()

    def finish(self) -> None:
        """Raise if there are tokens left."""
        if self.kind() != "end":
            raise self.unexpected()

    def kind_after_group(self) -> str:
        """Return the kind of the token after the parenthesis that closes the next one; "end" if it is not closed."""
        closing = self._closing.get(self._at)
        return "end" if closing is None else self._tokens[closing + 1].kind

    def unexpected(self) -> InvalidExpression:
        """Return the error for an unexpected next token, which shows it with its neighbours."""
        token = self._tokens[self._at]
        before = self._tokens[max(self._at - 1, 0)]
        after = self._tokens[min(self._at + 1, len(self._tokens) - 1)]
        near = self._text[before.start : after.start + len(after.text)].strip()
        return InvalidExpression(f'Syntax error; token: "{token.text or "<EOF>"}", near: "{near}"')


def _split(text: str, keywords: frozenset[str]) -> list[Token]:
    tokens = []
    for match in _TOKEN.finditer(text):
        kind, piece = str(match.lastgroup), match[0]
        if kind == "sign":
            kind = piece
        elif kind == "name" and piece.upper() in keywords:
            kind = piece.upper()
        if kind != "space":
            tokens.append(Token(kind, piece, match.start()))
    tokens.append(Token("end", "", len(text)))
    return tokens


def _pairs(tokens: list[Token]) -> dict[int, int]:
    """Return the position of the closing parenthesis for that of each opening one."""
    closing, open_at = {}, []
    for place, token in enumerate(tokens):
        if token.kind == "(":
            open_at.append(place)
        elif token.kind == ")" and open_at:
            closing[open_at.pop()] = place
    return closing
