"""Text that people can see: a rule for fields that callers write, such as names, titles and notes.

Name = Annotated[str, StringConstraints(min_length=1, max_length=80), VisibleText()]
Note = Annotated[str, StringConstraints(max_length=2_000), VisibleText(lines=True)]
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

__all__ = ["VisibleText"]

_CONTROLS: Final = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
_CONTROLS_IN_LINES: Final = r"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
_DIRECTIONS: Final = r"\u202a-\u202e\u2066-\u2069\u206a-\u206f"
"""Embeddings, overrides and isolates, which reorder what follows, and their outdated relatives."""
_MARKS: Final = r"\u061c\u200e\u200f"
"""Marks that right-to-left text needs next to figures and signs. They reorder nothing beyond these."""
_JOINERS: Final = r"\u180e\u200b-\u200d"
"""Characters between others that emoji and many scripts need: joiners, and places where a line may break."""
_SELECTORS: Final = r"\u034f\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Characters that change the one before, such as the emoji selector."""
_BLANKS: Final = r"\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and symbols without a shape."""
_FORMATS: Final = r"\xad\u2060-\u2065\ufeff\ufff0-\ufffb"
_FAR_FORMATS: Final = r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
_HIDDEN: Final = _DIRECTIONS + _MARKS + _JOINERS + _SELECTORS + _BLANKS + _FORMATS + _FAR_FORMATS
"""Unicode's default-ignorable characters, blanks, and the anchors of annotations."""

_VISIBLE: Final = re.compile(rf"[^\s{_CONTROLS}{_HIDDEN}]")
_FOREIGN: Final = rf"[^\x00-\x7f\s{_CONTROLS}{_DIRECTIONS}{_MARKS}{_JOINERS}{_BLANKS}{_FORMATS}{_FAR_FORMATS}]"
_NEEDED: Final = re.compile(
    rf"(?<={_FOREIGN})[{_JOINERS}]|[{_JOINERS}](?={_FOREIGN})"
    rf"|(?<=[^\s{_CONTROLS}{_HIDDEN}])[{_SELECTORS}]"
    r"|(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,20}\U000e007f"
)
"""Hidden characters where they have an effect: next to one that is not ASCII, after a visible one, in a flag."""
_NEEDED_MARKS: Final = re.compile(rf"[{_MARKS}]")
_RIGHT_TO_LEFT: Final = frozenset(("R", "AL", "AN"))

_BREAKS: Final = re.compile(r"\r\n|[\r\v\f\x85\u2028\u2029]")
_WRONG_IN_LINE: Final = re.compile(rf"[{_CONTROLS}{_HIDDEN}]")
_WRONG_IN_LINES: Final = re.compile(rf"[{_CONTROLS_IN_LINES}{_DIRECTIONS}]")
_DIRECTION: Final = re.compile(f"[{_DIRECTIONS}]")

_LINE_PATTERN: Final = f"^[^{_CONTROLS}{_DIRECTIONS}{_BLANKS}{_FORMATS}]*$".replace(r"\x", r"\u00")
_LINES_PATTERN: Final = f"^[^{_CONTROLS_IN_LINES}{_DIRECTIONS}]*$".replace(r"\x", r"\u00")
"""For descriptions, which cannot express what depends on neighbouring characters."""


class VisibleText:
    """Restrict a text that people write and read: `Annotated[str, VisibleText()]`.

    Control characters and characters that reorder text are refused, and a text that is not blank must have a visible
    character. In a single line, so are invisible characters, except where a script or an emoji needs them. A text of
    several lines may have line breaks and tabs; all of its line breaks become those of Unix.

    Put it on fields of requests, not of entities: stored items are validated when they are read.
    """

    def __init__(self, *, lines: bool = False) -> None:
        """Restrict a text.

        Args:
            lines: whether the text may have several lines.
        """
        self.lines = lines

    def checked(self, text: str) -> str:
        """Return the text, with uniform line breaks.

        Raises:
            ValueError: the text has a character that is not allowed, or none that is visible.
        """
        if text.isascii() and text.isprintable():
            return text
        if self.lines:
            text = _BREAKS.sub("\n", text)
            _check(_WRONG_IN_LINES, text)
        else:
            _check(_WRONG_IN_LINE, _without_needed(text))
        if text and not text.isspace() and _VISIBLE.search(text) is None:
            raise ValueError("has no visible character")
        return text

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        shape, rule = handler(schema), {"pattern": _LINES_PATTERN if self.lines else _LINE_PATTERN}
        return {**shape, "allOf": [rule]} if "pattern" in shape else {**shape, **rule}


def _without_needed(text: str) -> str:
    """The text with other characters in place of hidden ones that it needs; all stay at their positions."""
    rest = _NEEDED.sub(lambda found: "x" * len(found[0]), text)
    letters = _NEEDED_MARKS.sub("", rest)
    if len(letters) < len(rest) and any(unicodedata.bidirectional(each) in _RIGHT_TO_LEFT for each in letters):
        return _NEEDED_MARKS.sub("x", rest)
    return rest


def _check(wrong: re.Pattern[str], text: str) -> None:
    found = wrong.search(text)
    if found is None:
        return
    character, position = found[0], found.start() + 1
    code = f"U+{ord(character):04X}, at position {position}"
    if character in "\t\n\v\f\r\x85\u2028\u2029":
        raise ValueError(f"must be one line without tabs; it has {code}")
    if _DIRECTION.match(character):
        raise ValueError(f"has a character that changes the direction of text: {code}")
    kind = "a control" if unicodedata.category(character) == "Cc" else "an invisible"
    raise ValueError(f"has {kind} character: {code}")
