"""How the keys of a table are written: what separates their parts, and in which form values stand between."""

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
    """The text without separators: every character up to `%` becomes its code, as `%23` for `#`.

    What is left sorts after the separator and the codes sort as their characters do, so that keys sort as their parts.
    """
    return text.translate(_ESCAPED) if _TO_ESCAPE.search(text) else text


def unescape(text: str) -> str:
    """The text that was escaped."""
    return _CODE.sub(lambda code: chr(int(code[1], 16)), text)


class KeyFormat(Struct, frozen=True):
    """How a table writes its keys. The default is what new tables want; give another to match a table that exists.

    `Table("app", keys=KeyFormat("|", values="raw"))`
    """

    separator: str = "#"
    """What stands between the parts of a key."""
    values: Literal["escaped", "raw"] = "escaped"
    """Whether a value may contain anything, and is escaped, or stands as it is, and must not contain the separator."""

    def __post_init__(self) -> None:
        if not _SEPARATOR.fullmatch(self.separator):
            hint = "Use characters such as # | : / or ::."
            raise ModelError(f"{self.separator!r} cannot separate the parts of a key.", hint=hint)
        if self.values not in ("escaped", "raw"):
            raise ModelError(f'{self.values!r} is not a form of values: use "escaped" or "raw".')
        if self.values == "escaped" and self.separator != "#":
            message = f"Escaped values are separated by '#', not by {self.separator!r}."
            raise ModelError(message, hint=f'Write KeyFormat({self.separator!r}, values="raw").')

    @property
    def special(self) -> re.Pattern[str]:
        """Finds a character in a value that must be looked at before the value stands in a key."""
        return _TO_ESCAPE if self.values == "escaped" else re.compile(f"[{re.escape(self.separator)}]")

    @property
    def part(self) -> str:
        """A regular expression for what may stand between separators."""
        if len(self.separator) == 1:
            return f"[^{re.escape(self.separator)}]+"
        return f"(?:(?!{re.escape(self.separator)}).)+"

    def written(self, text: str) -> str:
        """A text as it stands between separators.

        Raises:
            InvalidKey: it would be taken for more than one part, or for another one.
        """
        if self.values == "escaped":
            return escape(text)
        if (text + self.separator).index(self.separator) != len(text):
            message = f"{text!r:.60} contains the separator {self.separator!r}, so the key would be ambiguous."
            raise InvalidKey(message, hint="Values of this table stand in keys as they are; choose another value.")
        return text

    def read(self, text: str) -> str:
        """The text that was written as this one."""
        return unescape(text) if self.values == "escaped" else text


DEFAULT_FORMAT: Final = KeyFormat()
