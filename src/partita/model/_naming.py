"""Names for the access patterns that a recipe declares on a user's entity."""

from __future__ import annotations

import re
from typing import Final

_WORD_STARTS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake(name: str) -> str:
    """Convert a class name for use in a function name: `WebSession` becomes `web_session`."""
    return _WORD_STARTS.sub("_", name).lower()
