"""Where our own server is known to do otherwise than AWS, by the name of the probe, with the reason."""

from __future__ import annotations

from typing import Final

KNOWN_DIFFERENCES: Final[dict[str, str]] = {}
