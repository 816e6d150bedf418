"""Events in the shapes that AWS documents for each source, and the context that a function is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec import Struct

EVENTS = Path(__file__).parent / "events"


def recorded(name: str) -> dict[str, Any]:
    """An event of a source, a new one for each caller."""
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return event


class Context(Struct, frozen=True):
    """What AWS Lambda says of an invocation."""

    milliseconds: int = 30_000

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds
