"""The Strava simulator for tests: as an object that knows the application, or served on a free port."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import uvicorn

from partita.runtime import Clock
from partita_services.commitcollect.simulator.app import build_simulator
from partita_services.commitcollect.simulator.strava import SimulatedStrava
from partita_services.commitcollect.simulator.world import Application

APPLICATION = Application("4711", "secret-of-the-application")
CREDENTIALS = {"client_id": APPLICATION.client_id, "client_secret": APPLICATION.client_secret}
ALEX = 1001
CALLBACK = "http://127.0.0.1/commitcollect/auth/callback"


def simulated(clock: Clock, **more: Any) -> SimulatedStrava:
    """Return a simulator that behaves the same in every run."""
    return SimulatedStrava(APPLICATION, clock=clock, rng=random.Random(5), **more)


def asking(scope: str = "read,activity:read", state: str = "s1") -> dict[str, str]:
    """Return the parameters with which an application asks an athlete for authorization."""
    return {
        "client_id": APPLICATION.client_id,
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "scope": scope,
        "state": state,
    }


def redirected_with(response: httpx.Response) -> dict[str, str]:
    """Return the parameters with which the athlete's decision redirects to the application."""
    assert response.status_code == 303
    return {name: value for name, (value,) in parse_qs(urlsplit(response.headers["Location"]).query).items()}


@contextmanager
def serving_simulator(strava: SimulatedStrava, *, delivers: bool = True) -> Iterator[str]:
    """Serve the simulator on a free port in another thread, and yield its URL."""
    config = uvicorn.Config(build_simulator(strava, delivers=delivers), log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
