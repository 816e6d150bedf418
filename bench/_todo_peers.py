"""The same routes in other stacks: FastAPI that stores nothing, and FastAPI with SQLAlchemy on SQLite.

All run on the same HTTP server and event loop as `partita serve`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import uvicorn
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field

TASKS: Final = 20


class Draft(BaseModel):
    """The fields of a task that a caller sends."""

    title: str = Field(min_length=1, max_length=200)
    priority: str = "low"


class Task(Draft):
    """A task in a response, with as many fields as in To-Do."""

    user_id: str = "ann"
    task_id: str
    description: str | None = None
    status: str = "pending"
    category: str | None = None
    due_date: str | None = None
    created_at: int = 1_794_944_904
    updated_at: int = 1_794_944_904
    completed_at: int | None = None
    ttl: int | None = None
    version: int = 1


def bare(_: Path) -> FastAPI:
    """An app that validates and encodes, and stores nothing."""
    app = FastAPI()

    @app.get("/tasks/{task_id}")
    async def show(task_id: str) -> Task:
        return Task(task_id=task_id, title="A task")

    @app.get("/tasks")
    async def listing(limit: int = TASKS) -> list[Task]:
        return [Task(task_id=str(place), title="A task") for place in range(limit)]

    @app.post("/tasks", status_code=201)
    async def create(draft: Draft) -> Task:
        return Task(task_id="t", **draft.model_dump())

    return app


class Applicant(BaseModel):
    """The fields that an applicant may send."""

    display_name: str | None = None


class Application(BaseModel):
    """A request for an event in a response, with as many fields as in Events."""

    request_id: str
    event_id: str
    user_id: str = "ann"
    status: str = "RECEIVED"
    event_type: str = "FIRST_COME"
    created_at: str = "2026-01-01T00:00:00.000000Z"
    queued_at: str | None = None
    decided_at: str | None = None
    reason: str | None = None
    display_name: str | None = None


def accepting(_: Path) -> FastAPI:
    """An app that accepts requests for an event, and stores nothing."""
    app = FastAPI()

    @app.post("/events/api/events/{event_id}/requests", status_code=202)
    async def apply(event_id: str, applicant: Applicant | None = None) -> Application:
        name = None if applicant is None else applicant.display_name
        return Application(request_id="r", event_id=event_id, display_name=name)

    return app


def sqlalchemy(folder: Path) -> FastAPI:
    """The same API as it is usually written: a session for each request, and durable commits."""
    # SQLAlchemy is a peer that may not be installed, so its types are unknown, too.
    sa: Any = import_module("sqlalchemy")
    orm: Any = import_module("sqlalchemy.orm")
    base = orm.declarative_base()
    columns = {
        "number": sa.Column(sa.Integer, primary_key=True),
        "user_id": sa.Column(sa.String, index=True),
        "task_id": sa.Column(sa.String, index=True),
        "title": sa.Column(sa.String),
        "priority": sa.Column(sa.String),
    }
    row_type: Any = type("Row", (base,), {"__tablename__": "tasks", **columns})

    engine = sa.create_engine(f"sqlite:///{folder / 'peer.db'}", connect_args={"check_same_thread": False})

    def make_durable(connection: Any, _: object) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")

    sa.event.listen(engine, "connect", make_durable)
    base.metadata.create_all(engine)
    app = FastAPI()

    @app.get("/tasks/{task_id}")
    def show(task_id: str) -> Task:
        with orm.Session(engine) as session:
            row = session.scalars(sa.select(row_type).where(row_type.task_id == task_id)).first()
            if row is None:
                raise HTTPException(404)
            return _task(row)

    @app.get("/tasks")
    def listing(limit: int = TASKS) -> list[Task]:
        with orm.Session(engine) as session:
            found = session.scalars(
                sa.select(row_type).where(row_type.user_id == "ann").order_by(row_type.number).limit(limit)
            )
            return [_task(row) for row in found]

    @app.post("/tasks", status_code=201)
    def create(draft: Draft) -> Task:
        with orm.Session(engine) as session:
            row = row_type(user_id="ann", task_id="new", **draft.model_dump())
            session.add(row)
            session.flush()
            row.task_id = f"t{row.number}"
            session.commit()
            return _task(row)

    return app


def _task(row: Any) -> Task:
    return Task(task_id=row.task_id, title=row.title, priority=row.priority)


PEERS: Final[dict[str, Callable[[Path], FastAPI]]] = {
    "bare": bare,
    "accepting": accepting,
    "sqlalchemy": sqlalchemy,
}


def main(name: str, folder: str, port: str) -> None:
    """Serve one of the apps."""
    uvicorn.run(PEERS[name](Path(folder)), port=int(port), http="httptools", log_level="error", server_header=False)
