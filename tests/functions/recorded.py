"""Events as AWS documents them for each source, and the context that a function gets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec import Struct

EVENTS = Path(__file__).parent / "events"


def recorded(name: str) -> dict[str, Any]:
    """Return an event of a source, as a new object for each caller."""
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return event


class Context(Struct, frozen=True):
    """The context of an invocation, as AWS Lambda passes it."""

    milliseconds: int = 30_000

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds
