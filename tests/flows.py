"""The six flows of the architecture page, each run once while every call is recorded."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import BuiltinFunctionType, FrameType, FunctionType
from typing import Any, Self

import httpx
from tests.services.events.acting import opened
from tests.wire.support import serving

from partita import AsyncSession, EmbeddedStore, Session
from partita.app import build_app
from partita.change import Consumer
from partita.change.lake import Lake
from partita.http import AppState, Caller, Identity
from partita.queue.embedded import EmbeddedQueue
from partita.service import OpenProjection, Service
from partita.store import PutItem
from partita.store.remote import Credentials, RemoteStore
from partita_services.events.bootstrap import SERVICE as EVENTS
from partita_services.events.changes.notices import POLICY as NOTICES_POLICY
from partita_services.events.changes.notices import QUEUE as NOTICES
from partita_services.events.figures.projection import RequestProjection
from partita_services.events.model import TABLE as EVENTS_TABLE
from partita_services.events.queueing.messages import NAME, POLICY
from partita_services.events.queueing.tools import Tools
from partita_services.events.queueing.worker import Worker
from partita_services.todo.bootstrap import SERVICE as TODO
from partita_services.todo.model import TABLE, Task, create_task, task_by_id
from partita_services.todo.projection import TaskProjection


class Calls:
    """Records the calls in a block, by this thread and by every thread that is started in the block."""

    def __init__(self, hops: Iterable[object]) -> None:
        self._called: list[object] = []
        self._in_c = [hop for hop in hops if isinstance(hop, BuiltinFunctionType)]

    def __enter__(self) -> Self:
        threading.setprofile(self._record)
        sys.setprofile(self._record)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _record(self, frame: FrameType, event: str, function: object) -> None:
        if event == "call":
            self._called.append((frame.f_code.co_filename, frame.f_code.co_qualname))
        elif event == "c_call" and function in self._in_c:
            self._called.append(function)

    def first_missed(self, hops: dict[str, Any]) -> str | None:
        """Return the name of the first of these functions or classes that was not called after the one before it."""
        called = iter(self._called)
        for name, hop in hops.items():
            if not any(_is(hop, call) for call in called):
                return name
        return None


def _is(hop: Any, call: object) -> bool:
    """Whether a call is to a function, to a function inside it, or to a method of a class."""
    if not isinstance(call, tuple):
        return bool(call == hop)
    file, name = call
    if isinstance(hop, FunctionType) and (file, name) == (hop.__code__.co_filename, hop.__code__.co_qualname):
        return True  # a pattern is a function that was created for its declaration
    wanted = getattr(hop, "__qualname__", "")
    is_within = name == wanted or name.startswith(f"{wanted}.")
    return is_within and bool(file == sys.modules[hop.__module__].__file__)


TASK = Task(user_id="ada", task_id="t1", title="Call", created_at=1, updated_at=1)


@contextmanager
def _store(folder: Path) -> Iterator[EmbeddedStore]:
    """Open a store with one task."""
    with EmbeddedStore(folder / "partita.db", durable=False) as store:
        db = Session(store)
        db.create_tables([TABLE])
        db.run(create_task(TASK))
        yield store


async def _send(service: Service, state: AppState, method: str, path: str, **given: Any) -> None:
    """Send a request to the app of a service, as `ada`."""
    transport = httpx.ASGITransport(build_app([service], state))
    token = {"Authorization": f"Bearer {Identity(b'k' * 32).token(Caller('ada'))}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=token) as client:
        (await client.request(method, path, **given)).raise_for_status()


def embedded_get(folder: Path, calls: Calls) -> None:
    """Read a task."""
    with _store(folder) as store, calls:
        Session(store).run(task_by_id("ada", "t1"))


def patch_of_a_task(folder: Path, calls: Calls) -> None:
    """Change a task, and read the change into the projection."""
    with _store(folder) as store, closing(TaskProjection(folder / "projection.db")) as sink:
        consumer = Consumer(store, TABLE, sink)
        consumer.catch_up()
        opened = {"todo": OpenProjection(sink, consumer)}
        state = AppState(AsyncSession(store), Identity(b"k" * 32), projections=opened)
        with calls:
            asyncio.run(_send(TODO, state, "PATCH", "/todo/api/tasks/t1", json={"status": "completed"}))
            consumer.catch_up()


@contextmanager
def _remote(store: EmbeddedStore) -> Iterator[RemoteStore]:
    keys = Credentials("test", "test")
    with serving(store) as (host, port), RemoteStore(f"http://{host}:{port}", credentials=keys) as remote:
        yield remote


def remote_get(folder: Path, calls: Calls) -> None:
    """Read a task from a server."""
    with _store(folder) as store, calls, _remote(store) as remote:
        asyncio.run(AsyncSession(remote).run(task_by_id("ada", "t1")))


def put_over_the_wire(folder: Path, calls: Calls) -> None:
    """Write an item to a server."""
    with _store(folder) as store, calls, _remote(store) as remote:
        remote.execute(PutItem(TABLE.name, {"PK": "a", "SK": "b"}))


def event_request(folder: Path, calls: Calls) -> None:
    """Apply for an event, decide it, and read that into the projection."""
    with (
        EmbeddedStore(folder / "partita.db", durable=False) as store,
        EmbeddedQueue(folder / "queue.db", NAME, policy=POLICY, durable=False) as queue,
        EmbeddedQueue(folder / "notices.db", NOTICES, policy=NOTICES_POLICY, durable=False) as notices,
        closing(RequestProjection(folder / "projection.db")) as sink,
    ):
        db = Session(store)
        db.create_tables([EVENTS_TABLE])
        consumer, path = Consumer(store, EVENTS_TABLE, sink), f"/events/api/events/{opened(db, 1).event_id}/requests"
        consumer.catch_up()
        projections = {"events": OpenProjection(sink, consumer)}
        state = AppState(AsyncSession(store), Identity(b"k" * 32), {"events": Tools(queue, notices)}, projections)
        with calls:
            asyncio.run(_send(EVENTS, state, "POST", path, headers={"Idempotency-Key": "first"}))
            Worker(db, queue, "worker").serve()
            consumer.catch_up()


def change_into_the_lake(folder: Path, calls: Calls) -> None:
    """Write a task, and read the change into a lake."""
    with _store(folder) as store, closing(Lake(folder / "lake", TABLE)) as lake:
        consumer = Consumer(store, TABLE, lake)
        consumer.catch_up()
        with calls:
            Session(store).run(create_task(TASK.model_copy(update={"task_id": "t2"})))
            consumer.catch_up()


FLOWS: dict[str, Callable[[Path, Calls], None]] = {
    "A get on the embedded store": embedded_get,
    "PATCH of a task, to the stream and the projection": patch_of_a_task,
    "A get on DynamoDB, with `await`": remote_get,
    "PutItem over the wire": put_over_the_wire,
    "An event request, from acceptance to decision": event_request,
    "A change into the lake": change_into_the_lake,
}
"""The function that runs each flow of the page, by its heading."""
