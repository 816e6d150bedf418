"""How fast Events accepts requests for one event, compared with FastAPI that responds the same and stores nothing.

Each request comes from a different user with their own token, so nothing about it is cached. An accepted request is
stored and in the queue, both on the disk. There is no worker, because it would take a core from the server.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from pathlib import Path
from typing import Final

import httpx
from msgspec.structs import replace

from bench._compare import THOROUGH, Bar, Comparison, compare, duration
from bench._load import loaded
from bench._processor import Spent
from bench._servers import running
from partita.cli import DataFolder, identity_of
from partita.http import Caller, Role

REQUESTS: Final = 1_024
USERS: Final = 64
"""The number of users who apply at the same time."""
REPETITIONS: Final = 5
LEAST: Final = 0.4

_PARTITA: Final = Path(sys.executable).with_name("partita")
"""The installed program."""
_PEER: Final = (
    "import os, sys; sys.path[:0] = sys.argv[1].split(os.pathsep); "
    "from bench._todo_peers import main; main(*sys.argv[2:])"
)
_numbers = count()


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    data = folder / "acceptance"
    with ExitStack() as servers:
        peer = [sys.executable, "-c", _PEER, str(Path(__file__).parents[1]), "accepting", str(folder)]
        bare = servers.enter_context(running(peer, folder))
        for processes, name in ((1, "one process"), (2, "two processes")):
            with running(_events(data, processes), folder) as served:
                event = _event(served.port, data)
                applications = _applications(event, data)
                spent, spent_bare = Spent(served.pid), Spent(bare.pid)
                ours = spent.counting(loaded(served.port, iter(applications), REQUESTS, USERS), REQUESTS)
                theirs = spent_bare.counting(loaded(bare.port, applications[0], REQUESTS, USERS), REQUESTS)
                title = f"a request accepted by {name}, to bare FastAPI"
                found = compare(title, Bar("at least", LEAST), ours, theirs, repetitions=REPETITIONS)
                yield replace(found, note=_note(name, spent.per_call(), spent_bare.per_call()))


def _note(name: str, ours: float, theirs: float) -> str:
    if not ours:
        return ""
    taken = f"{duration(ours)} to {duration(theirs)}, {theirs / ours:.2f}x"
    return f"the processor time of a request accepted by {name}: {taken}"


def _events(data: Path, processes: int) -> list[str]:
    served = [str(_PARTITA), "serve", "events", "--data", str(data), "--rate-limit", "off"]
    return [*served, "--workers", "0", "--no-seed", "--processes", str(processes), "--port"]


def _event(port: int, data: Path) -> str:
    """Create an open event, and return its id."""
    now = datetime.now(UTC)
    draft = {"name": "A", "eventType": "FIRST_COME", "capacityTotal": 100}
    draft |= {"opensAt": now.isoformat(), "closesAt": (now + timedelta(hours=2)).isoformat()}
    token = identity_of(DataFolder(data)).token(Caller("ada", Role.OPERATOR))
    url, headers = f"http://127.0.0.1:{port}/events/api/events", {"Authorization": f"Bearer {token}"}
    response = httpx.post(url, json=draft, headers=headers, timeout=60)
    assert response.status_code == httpx.codes.CREATED, response.text
    return str(response.json()["eventId"])


def _applications(event: str, data: Path) -> list[bytes]:
    """Requests for the event, each from a user who has made none, enough for the longest comparison."""
    identity = identity_of(DataFolder(data))
    users = islice(_numbers, (THOROUGH.longest + 1) * REPETITIONS * REQUESTS)
    return [_message(event, identity.token(Caller(f"user-{user}"))) for user in users]


def _message(event: str, token: str) -> bytes:
    head = f"POST /events/api/events/{event}/requests HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    return f"{head}Authorization: Bearer {token}\r\nContent-Length: 0\r\n\r\n".encode()
