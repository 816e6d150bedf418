"""The capacity that a response consumed: `X-Consumed-Capacity: update_task;rcu=0;wcu=6, task_by_id;rcu=0.5;wcu=0`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from partita import Consumption

HEADER: Final = "X-Consumed-Capacity"
_RAW: Final = HEADER.lower().encode()


def capacity_text(consumptions: Iterable[Consumption]) -> str:
    """The header's value: one entry for each access pattern, in order of their first run; `none` if none ran."""
    totals: dict[str, tuple[float, float]] = {}
    for run in consumptions:
        read, write = totals.get(run.name, (0.0, 0.0))
        totals[run.name] = read + run.read, write + run.write
    return ", ".join(f"{name};rcu={read:g};wcu={write:g}" for name, (read, write) in totals.items()) or "none"


def capacity_header(consumptions: Iterable[Consumption]) -> tuple[bytes, bytes]:
    """The header of a response."""
    return _RAW, capacity_text(consumptions).encode("latin-1")
