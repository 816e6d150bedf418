"""An instant as written on the command line: an ISO time, or an age such as `90m ago`."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import Any, Final

import click

_AGO: Final = re.compile(r"(\d+(?:\.\d+)?)([smhd]) ago")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class Instant(click.ParamType[float]):
    """Seconds since the epoch, from `2026-01-31T12:00:00Z` or `90m ago`."""

    name = "instant"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse the instant, in UTC if it has no time zone."""
        if isinstance(value, float):
            return value
        ago = _AGO.fullmatch(value.strip())
        if ago is not None:
            return time.time() - float(ago[1]) * _SECONDS[ago[2]]
        try:
            read = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not an instant such as 2026-01-31T12:00:00Z or '90m ago'.", param, ctx)
        return (read if read.tzinfo is not None else read.replace(tzinfo=UTC)).timestamp()


def shown(instant: float | None) -> str:
    """An instant as it is displayed."""
    return "" if instant is None else datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
