"""Read a stream of news while actions run between its polls, without a running server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from inspect import isawaitable
from typing import Any

import httpx
import pytest

from partita.http import NEWS_MEDIA_TYPE, ServiceState

Turn = Callable[[], Any]


def state_of(api: httpx.AsyncClient) -> ServiceState[Any]:
    """Return the state of the service that the client calls."""
    server: Any = api._transport
    path = api.base_url.path.rstrip("/")
    app = next(route.app for route in server.app.routes if route.path == path)
    state: ServiceState[Any] = app.state.service
    return state


async def heard(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, path: str, *turns: Turn, last: int | None = None
) -> list[tuple[str, dict[str, Any]]]:
    """Return the events that a stream sends while each action runs between two polls; then the server stops."""
    left: Iterator[Turn] = iter(turns)
    state = state_of(api)
    state.stopping.clear()

    async def instead_of_sleeping(seconds: float) -> None:
        turn = next(left, state.stopping.set)
        if isawaitable(work := turn()):
            await work

    monkeypatch.setattr(asyncio, "sleep", instead_of_sleeping)
    response = await api.get(path, headers={} if last is None else {"Last-Event-ID": str(last)})
    assert response.headers["Content-Type"].startswith(NEWS_MEDIA_TYPE)
    return [_read(block) for block in response.text.split("\n\n") if block and not block.startswith(":")]


def _read(block: str) -> tuple[str, dict[str, Any]]:
    event, *_, data = block.split("\n")
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))
