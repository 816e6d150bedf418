"""Live changes: which accounts have changed, for those who may see them, as server-sent events.

The projection remembers accounts by whose they are, by themselves for those whom they are shared with, and all of them
for operators. What is shared with a reader is read now and then.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import apsw
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from partita import AsyncSession
from partita.change import (
    RECENT_CHANGES,
    ItemChange,
    RecentChanges,
    SqliteProjection,
    changes_after,
    note_change,
)
from partita.http import NewsEvent, describe_news
from partita_services.accounts.access import Actor
from partita_services.accounts.model import grants_to

LOOKS: Final = 20
"""After so many looks it is read again what is shared with the reader."""
MAX_SHARED: Final = 1_000
"""So many accounts that are shared with a reader are listened to."""
SHARED: Final = ""
"""The item that stands for what is shared with the reader; no account has an empty key."""

STREAM: Final[dict[int | str, dict[str, Any]]] = describe_news(
    "`account` that one was opened, closed or has changed, `shared` that others are shared with the caller",
    "account",
    "shared",
)


class AccountNews(BaseModel):
    """An account that was opened, closed or has changed."""

    pk: str


class AccountChanges(SqliteProjection):
    """Which accounts have changed last."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, tables=RECENT_CHANGES, apply=_apply)


class Listener:
    """Looks for what one reader may hear of."""

    def __init__(self, actor: Actor, projection: AccountChanges, db: AsyncSession) -> None:
        self._actor = actor
        self._projection = projection
        self._db = db
        self._shared: dict[str, str] | None = None
        self._looks = 0

    async def look(self, after: int | None) -> RecentChanges:
        """What has changed after a number, of what the reader may see."""
        is_new = await self._look_at_shared()
        seen = await run_in_threadpool(changes_after, self._projection, after, self._topics())
        return RecentChanges(seen.number, (SHARED, *seen.items), seen.is_forgotten) if is_new else seen

    async def tell(self, items: Sequence[str]) -> Sequence[NewsEvent]:
        """The events that say so."""
        return [_event(item) for item in items]

    async def _look_at_shared(self) -> bool:
        """Whether it is known to be others than before."""
        if self._actor.is_operator:
            return False
        due = self._looks % LOOKS == 0
        self._looks += 1
        if not due:
            return False
        before, self._shared = self._shared, await self._read_shared()
        return before is not None and before != self._shared

    async def _read_shared(self) -> dict[str, str]:
        """The accounts of others that the reader may see, and what they may do with each."""
        grants = await self._db.run(grants_to(self._actor.user_id).walk(max_items=MAX_SHARED))
        return {grant.account: grant.access for grant in grants.items}

    def _topics(self) -> list[str]:
        if self._actor.is_operator:
            return [_ALL]
        return [_owned_by(self._actor.user_id), *map(_one, self._shared or ())]


_ALL: Final = "all"


def _owned_by(user_id: str) -> str:
    return f"owner {user_id}"


def _one(pk: str) -> str:
    return f"account {pk}"


def _event(item: str) -> NewsEvent:
    return NewsEvent("shared") if item == SHARED else NewsEvent("account", AccountNews(pk=item).model_dump_json())


def _apply(connection: apsw.Connection, change: ItemChange) -> None:
    if change.kind == "snapshot":
        return
    pk = change.keys["pk"]
    images = (change.old_item, change.new_item)
    owners = {image["owner"] for image in images if image is not None and image.get("owner")}
    for topic in (_ALL, _one(pk), *map(_owned_by, sorted(owners))):
        note_change(connection, topic, pk)
