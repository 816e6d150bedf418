"""Live changes: server-sent events name which data of a user has changed. The page reads the data from the API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

import apsw
from pydantic import BaseModel

from partita import AsyncSession
from partita.change import RECENT_CHANGES, ItemChange, SqliteProjection, note_change
from partita.http import NewsEvent, describe_news
from partita.model import Entity
from partita_services.commitcollect.model import Award, Connection, Milestone, Profile, Workout
from partita_services.commitcollect.signin.sessions import SESSIONS

PARTS: Final[dict[type[Entity], str]] = {
    Profile: "me",
    Connection: "me",
    Workout: "workouts",
    Milestone: "milestones",
    Award: "milestones",
}
"""The name that events use for changes of each entity."""
LOOKS: Final = 10
"""After this many looks the session is read again. That is often enough, because events do not contain any data."""

STREAM: Final[dict[int | str, dict[str, Any]]] = describe_news(
    "`change`: some of the caller's data has changed: `me`, `workouts` or `milestones`", "change"
)


class ChangeNews(BaseModel):
    """A change of some of the user's data."""

    what: str


class UserChanges(SqliteProjection):
    """The projection of the latest changes by user. The table's stream contains only keys."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, tables=RECENT_CHANGES, apply=_apply, keys_only=True)


async def user_news(parts: Sequence[str]) -> Sequence[NewsEvent]:
    """Return the events for changes."""
    return [NewsEvent("change", ChangeNews(what=part).model_dump_json()) for part in parts]


def session_check(db: AsyncSession, session_id: str) -> Callable[[], Awaitable[bool]]:
    """Return a function that reports whether a browser is still signed in; it reads the session only now and then."""
    looks = 0

    async def is_valid() -> bool:
        nonlocal looks
        looks += 1
        return looks % LOOKS != 0 or await db.run(SESSIONS.resolve(session_id)) is not None

    return is_valid


def _apply(connection: apsw.Connection, change: ItemChange) -> None:
    part = PARTS.get(change.entity) if change.entity is not None else None
    if part is not None:
        note_change(connection, change.keys["PK"].partition("#")[2], part)
