"""The format of a table's keys: what separates their parts, and how values are written between the separators."""

from __future__ import annotations

import re
from typing import Final, Literal

from msgspec import Struct

from partita.errors import InvalidKey, ModelError

_SEPARATOR: Final = re.compile(r"[^\w\s{}%]+")
_TO_ESCAPE: Final = re.compile("[\\0-%]")
_ESCAPED: Final = {code: f"%{code:02X}" for code in range(ord("%") + 1)}
_CODE: Final = re.compile("%([0-9A-F]{2})")


def escape(text: str) -> str:
    """Escape separators in a text: every character up to `%` becomes its code, such as `%23` for `#`.

    All other characters sort after the separator, and codes sort like their characters, so keys sort like their parts.
    """
    return text.translate(_ESCAPED) if _TO_ESCAPE.search(text) else text


def unescape(text: str) -> str:
    """Return the original of an escaped text."""
    return _CODE.sub(lambda code: chr(int(code[1], 16)), text)


class KeyFormat(Struct, frozen=True):
    """How a table writes its keys. The default suits new tables; use another format to match an existing table.

    `Table("app", keys=KeyFormat("|", values="raw"))`
    """

    separator: str = "#"
    """The text between the parts of a key."""
    values: Literal["escaped", "raw"] = "escaped"
    """Whether values are escaped and may contain any character, or are written unescaped, without the separator."""

    def __post_init__(self) -> None:
        if not _SEPARATOR.fullmatch(self.separator):
            hint = "Use characters such as # | : / or ::."
            raise ModelError(f"{self.separator!r} cannot separate the parts of a key.", hint=hint)
        if self.values not in ("escaped", "raw"):
            raise ModelError(f'{self.values!r} is not a format for values: use "escaped" or "raw".')
        if self.values == "escaped" and self.separator != "#":
            message = f"Escaped values are separated by '#', not by {self.separator!r}."
            raise ModelError(message, hint=f'Write KeyFormat({self.separator!r}, values="raw").')

    @property
    def special(self) -> re.Pattern[str]:
        """A pattern that finds a character in a value that needs special treatment in a key."""
        return _TO_ESCAPE if self.values == "escaped" else re.compile(f"[{re.escape(self.separator)}]")

    @property
    def part(self) -> str:
        """A regular expression for the text that may occur between separators."""
        if len(self.separator) == 1:
            return f"[^{re.escape(self.separator)}]+"
        return f"(?:(?!{re.escape(self.separator)}).)+"

    def written(self, text: str) -> str:
        """Return a text as it is written between separators.

        Raises:
            InvalidKey: the text would be read as more than one part, or as a different one.
        """
        if self.values == "escaped":
            return escape(text)
        if (text + self.separator).index(self.separator) != len(text):
            message = f"{text!r:.60} contains the separator {self.separator!r}, so the key would be ambiguous."
            raise InvalidKey(message, hint="This table writes values into keys unescaped; choose another value.")
        return text

    def read(self, text: str) -> str:
        """Return the text that was written as this one."""
        return unescape(text) if self.values == "escaped" else text


DEFAULT_FORMAT: Final = KeyFormat()
