"""Every response says what it consumed: `X-Consumed-Capacity: update_task;rcu=0;wcu=6, task_by_id;rcu=0.5;wcu=0`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from partita import Consumption, Meter

HEADER: Final = "X-Consumed-Capacity"


class ConsumedCapacity:
    """Middleware that meters each request and reports what its operations consumed, by access pattern."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self.app = app
        self.meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        with self.meter.watch() as seen:

            async def send_with_capacity(message: Message) -> None:
                if message["type"] == "http.response.start":
                    MutableHeaders(scope=message)[HEADER] = capacity_text(seen)
                await send(message)

            await self.app(scope, receive, send_with_capacity)


def capacity_text(consumptions: Iterable[Consumption]) -> str:
    """The header's value: one entry for each access pattern, in the order they first ran; `none` where none did."""
    totals: dict[str, tuple[float, float]] = {}
    for run in consumptions:
        read, write = totals.get(run.name, (0.0, 0.0))
        totals[run.name] = read + run.read, write + run.write
    return ", ".join(f"{name};rcu={read:g};wcu={write:g}" for name, (read, write) in totals.items()) or "none"
