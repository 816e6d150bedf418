"""Where our own server is known to do otherwise than AWS, by the name of the probe, with the reason."""

from __future__ import annotations

from typing import Final

KNOWN_DIFFERENCES: Final[dict[str, str]] = {
    "a scan is not in the order of partition keys": "partitions are in the order of their keys",
}
