"""Names for the access patterns that a recipe declares on an entity of the user's."""

from __future__ import annotations

import re
from typing import Final

_WORD_STARTS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake(name: str) -> str:
    """A class name as it stands in the name of a function: `WebSession` is `web_session`."""
    return _WORD_STARTS.sub("_", name).lower()
