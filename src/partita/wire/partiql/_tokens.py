"""Splits a statement into tokens with their positions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from partita.errors import ValidationFailed
from partita.wire._wording import is_convertible
from partita.wire.partiql._keywords import KEYWORDS, MERGED, PRECEDENCE

_TOKEN: Final = re.compile(
    r"""
    (?P<space> [\t\v\f\ \r\n]+ | --[^\r\n]* | /\*[\s\S]*?\*/ )
    | ' (?P<text> (?: [^'] | '' )* ) '
    | " (?P<quoted> (?: [^"] | "" )* ) "
    | (?P<number> (?: [0-9]+ (?: \. [0-9]* )? | \.[0-9]+ ) (?: [eE] [+-]? [0-9]+ )? )
    | (?P<word> [A-Za-z_$] [A-Za-z0-9_$]* )
    | (?P<operator> \|\| | != | <= | <> | >= | <(?!<) | >(?!>) | /(?!\*) | [-%=@+] )
    | (?P<sign> << | >> | [()\[\]{}:,*;?.] )
    """,
    re.VERBOSE,
)
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_OPERATOR_WORDS: Final = frozenset(word for word in PRECEDENCE if word.isalpha())
_OWN_KINDS: Final = frozenset(("as", "at", "by", "for", "asc", "desc", "null", "missing"))
_HAVE_WORDS: Final = frozenset(("operator", "keyword", *_OWN_KINDS))


class Token(Struct, frozen=True):
    """A token of a statement: its kind, its text without quotes, and its position."""

    kind: str
    text: str
    line: int
    column: int
    length: int

    @property
    def word(self) -> str | None:
        """The keyword or operator in lower case; None for other tokens."""
        return self.text if self.kind in _HAVE_WORDS else None

    @property
    def at(self) -> str:
        """Its position in the format of messages: line, column and length."""
        return f"{self.line}:{self.column}:{self.length}"


def malformed(detail: str = "") -> ValidationFailed:
    """The error for a statement that cannot be parsed; an invalid token has no detail."""
    return ValidationFailed(f"Statement wasn't well formed, can't be processed: {detail}")


def tokenize(text: str) -> list[Token]:
    """Split a statement into tokens, the last of which is the end token.

    Raises:
        ValidationFailed: a part of the statement is not a token.
    """
    tokens: list[Token] = []
    for token in _split(text):
        _add(tokens, token)
    return tokens


def _split(text: str) -> Iterator[Token]:
    at, line, line_start = 0, 1, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or (match.lastgroup == "number" and not _is_number(match[0], text[match.end() :][:1])):
            raise malformed()
        kind = match.lastgroup or ""
        if kind != "space":
            yield _token(kind, match[kind], (line, at - line_start + 1, len(match[0])))
        for end in _LINE_END.finditer(match[0]):
            line, line_start = line + 1, at + end.end()
        at = match.end()
    yield Token("end", "", line, at - line_start + 1, 0)


def _is_number(text: str, following: str) -> bool:
    """Whether the number is valid; an exponent needs digits."""
    return is_convertible(text) and ("e" in text.lower() or following not in ("e", "E"))


def _token(kind: str, text: str, place: tuple[int, int, int]) -> Token:
    if kind in ("text", "quoted"):
        quote = "'" if kind == "text" else '"'
        text = text.replace(quote * 2, quote)
    elif kind == "sign":
        kind = text
    elif text == "!=":
        text = "<>"
    elif kind == "word":
        kind, text = _word(text)
    return Token(kind, text, *place)


def _word(text: str) -> tuple[str, str]:
    """The kind and text of a word; keywords are case-insensitive."""
    lower = text.lower()
    if lower in _OPERATOR_WORDS:
        return "operator", lower
    if lower in _OWN_KINDS:
        return lower, lower
    if lower in ("true", "false"):
        return "truth", lower
    return ("keyword", lower) if lower in KEYWORDS else ("name", text)


def _add(tokens: list[Token], token: Token) -> None:
    """Append a token, or merge it with the previous word if the two form one token."""
    if tokens and (merged := MERGED.get((tokens[-1].word or "", token.word or ""))):
        first = tokens.pop()
        kind = "operator" if merged in PRECEDENCE else "keyword"
        token = Token(kind, merged, first.line, first.column, first.length)
    tokens.append(token)
