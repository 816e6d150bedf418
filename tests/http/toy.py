"""A service for tests: it raises the errors a test asks for, measures the text it is sent, and stores a note."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from fastapi import APIRouter, Body
from pydantic import BaseModel, Field

from partita import Entity, Key, Put, Rcu, Registry, Table, Wcu, get, pattern, put
from partita.http import CurrentCaller, Db, Now
from partita.service import Service

TABLE = Table("toy-notes", registry=Registry())

RAISED: dict[str, Exception] = {}
"""The exceptions that `GET /raise/{name}` raises; each test adds its own."""


class Note(Entity, table=TABLE):
    """A note."""

    primary: ClassVar = Key("USER#{user_id}", "NOTE#{note_id}")

    user_id: str
    note_id: str
    text: str = ""


@get(Note, budget=Rcu(0.5))
def note_by_id(user_id: str, note_id: str) -> None:
    """A note, if <it> exists."""


@pattern(budget=Wcu(1))
def write_note(note: Note) -> Put[Note]:
    """Write a note."""
    return put(note)


class Measured(BaseModel):
    """A body with rules."""

    size: int = Field(ge=1)
    inner: dict[str, int] = {}
    words: tuple[str, ...] = Field(default=(), max_length=2)
    ids: list[int] = Field(default=[1], min_length=1)
    table: dict[str, int] = Field(default={}, max_length=1)
    text: str = Field(default="x", pattern=r"\S")


ROUTER = APIRouter()


@ROUTER.get("/raise/{name}")
async def fail(name: str) -> None:
    """Raise what the test asked for."""
    raise RAISED[name]


@ROUTER.get("/me")
async def me(caller: CurrentCaller, now: Now) -> dict[str, Any]:
    """Return the caller and the time."""
    return {"user_id": caller.user_id, "role": caller.role, "now": now}


@ROUTER.get("/size")
async def least_size() -> int:
    """Return the length of the shortest text."""
    return 0


@ROUTER.post("/size")
async def size(body: Annotated[str, Body(embed=True)]) -> int:
    """Return the length of the text."""
    return len(body)


@ROUTER.post("/measured")
async def measured(body: Measured, unit: str) -> None:
    """Take a body with rules."""


@ROUTER.put("/notes/{note_id}")
async def write(caller: CurrentCaller, db: Db, note_id: str) -> Note:
    """Write a note, and read it twice."""
    saved = await db.run(write_note(Note(user_id=caller.user_id, note_id=note_id)))
    await db.run(note_by_id(caller.user_id, note_id))
    await db.run(note_by_id(caller.user_id, note_id))
    return saved


TOY = Service("toy", "Toy", "Made for <tests>.", (TABLE,), lambda: ROUTER)
