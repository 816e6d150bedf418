"""Where our own server is known to do otherwise than AWS, by the name of the probe, with the reason."""

from __future__ import annotations

from typing import Final

KNOWN_DIFFERENCES: Final[dict[str, str]] = {
    "an export needs recovery to a point in time": "not served",
    "scaling of a table is described": "not served",
}
