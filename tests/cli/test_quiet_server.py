"""A server without requests sleeps, but can be stopped from any thread, and sends the current date."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
import uvicorn

from partita.cli._quiet_server import DatedState, QuietServer
from partita.testing import FakeClock


async def _nothing(*_: object) -> None:
    """An app that is never called."""


def server() -> QuietServer:
    return QuietServer(uvicorn.Config(_nothing, log_config=None))


def stop(server: QuietServer) -> None:
    server.should_exit = True


def test_the_date_is_that_of_the_response() -> None:
    clock = FakeClock(0.5)
    state = DatedState(lambda: [(b"x", b"y")], clock)
    first = state.default_headers
    assert first == [(b"date", b"Thu, 01 Jan 1970 00:00:00 GMT"), (b"x", b"y")]
    clock.advance(0.4)
    assert state.default_headers is first
    clock.advance(0.1)
    assert state.default_headers[0] == (b"date", b"Thu, 01 Jan 1970 00:00:01 GMT")


async def test_no_timer_runs_while_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    running, timers = server(), list[float]()
    loop = asyncio.get_running_loop()
    later = loop.call_later

    def call_later(
        delay: float, callback: Callable[..., object], *given: object, **more: object
    ) -> asyncio.TimerHandle:
        timers.append(delay)
        return later(delay, callback, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "call_later", call_later)
    serving = asyncio.ensure_future(running.main_loop())
    for _ in range(100):
        await asyncio.sleep(0)
    assert not serving.done()
    assert timers == []
    stop(running)
    await serving


async def test_another_thread_stops_it() -> None:
    running = server()
    serving = asyncio.ensure_future(running.main_loop())
    await asyncio.sleep(0)
    thread = threading.Thread(target=stop, args=(running,))
    thread.start()
    await serving
    thread.join()


async def test_one_that_was_stopped_before_it_began_does_not_serve() -> None:
    running = server()
    stop(running)
    await running.main_loop()
    assert running.should_exit
