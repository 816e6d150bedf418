"""Live changes: what of a user's has changed, as server-sent events. What it is now, the page reads from the API."""

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
"""What of a user's an entity is a part of, as the API calls it."""
LOOKS: Final = 10
"""After so many looks it is read again whether the reader is still logged in: news say nothing of what has changed."""

STREAM: Final[dict[int | str, dict[str, Any]]] = describe_news(
    "`change` that something of the caller's has changed: `me`, `workouts` or `milestones`", "change"
)


class ChangeNews(BaseModel):
    """What has changed."""

    what: str


class UserChanges(SqliteProjection):
    """What of which users has changed last: of what has changed, only the keys are in the stream."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, tables=RECENT_CHANGES, apply=_apply, keys_only=True)


async def user_news(parts: Sequence[str]) -> Sequence[NewsEvent]:
    """The events that say what has changed."""
    return [NewsEvent("change", ChangeNews(what=part).model_dump_json()) for part in parts]


def session_check(db: AsyncSession, session_id: str) -> Callable[[], Awaitable[bool]]:
    """Says whether a browser is still logged in, as far as is known."""
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
