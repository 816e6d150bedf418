"""Live changes: server-sent events that name the changed accounts to users who may see them.

The projection stores every change under three topics: the owner, the account itself (for users whom it is shared with),
and one topic for all accounts (for operators). The list of accounts shared with a reader is read from time to time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from partita.runtime import chunks
from partita_services.accounts.access import Actor
from partita_services.accounts.model import Grant, accounts_by_pk, grants_to

LOOKS: Final = 20
"""After this many looks, the list of accounts shared with the reader is read again."""
MAX_SHARED: Final = 1_000
"""The maximum number of accounts shared with a reader whose changes are reported."""
AT_ONCE: Final = 100
"""How many accounts are read in one request."""
SHARED: Final = ""
"""The item that stands for the list of accounts shared with the reader; no account has an empty key."""

STREAM: Final[dict[int | str, dict[str, Any]]] = describe_news(
    "`account`: an account was opened, closed or changed; `shared`: the accounts shared with the caller have changed",
    "account",
    "shared",
)


class AccountNews(BaseModel):
    """An account that was opened, closed or changed."""

    pk: str


class AccountChanges(SqliteProjection):
    """The projection of the latest changes of accounts."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, tables=RECENT_CHANGES, apply=_apply)


class Listener:
    """Finds the changes that one reader may see."""

    def __init__(self, actor: Actor, projection: AccountChanges, db: AsyncSession) -> None:
        self._actor = actor
        self._projection = projection
        self._db = db
        self._shared: dict[str, Grant] | None = None
        self._valid: dict[tuple[str, int], bool] = {}
        self._looks = 0

    async def changes_since(self, after: int | None) -> RecentChanges:
        """Return the changes after a number that the reader may see."""
        is_new = await self._read_shared_if_due()
        seen = await run_in_threadpool(changes_after, self._projection, after, self._topics())
        await self._forget_closed(seen.items)
        return RecentChanges(seen.number, (SHARED, *seen.items), seen.is_forgotten) if is_new else seen

    async def events_of(self, items: Sequence[str]) -> Sequence[NewsEvent]:
        """Return the events for these items."""
        return [_event(item) for item in items]

    async def _read_shared_if_due(self) -> bool:
        """Read the accounts shared with the reader again if that is due, and return whether they have changed."""
        if self._actor.is_operator:
            return False
        due = self._looks % LOOKS == 0
        self._looks += 1
        if not due:
            return False
        before, self._shared = self._shared, await self._read_shared()
        return before is not None and _access(before) != _access(self._shared)

    async def _read_shared(self) -> dict[str, Grant]:
        """Read the grants of the reader, without those on accounts that were closed."""
        grants = (await self._db.run(grants_to(self._actor.user_id).walk(max_items=MAX_SHARED))).items
        await self._check([grant for grant in grants if (grant.account, grant.opened) not in self._valid])
        return {grant.account: grant for grant in grants if self._is_valid(grant)}

    async def _forget_closed(self, changed: Sequence[str]) -> None:
        """Stop following shared accounts that were closed: an account that is opened later with the key is another."""
        shared = self._shared or {}
        grants = [shared[pk] for pk in changed if pk in shared]
        await self._check(grants)
        for grant in grants:
            if not self._is_valid(grant):
                del shared[grant.account]

    async def _check(self, grants: Sequence[Grant]) -> None:
        """Find out which grants are on an account that exists; a closed account never comes back."""
        for some in chunks(grants, AT_ONCE):
            accounts = await self._db.run(accounts_by_pk([grant.account for grant in some]))
            for grant, account in zip(some, accounts, strict=True):
                key, opened = (grant.account, grant.opened), grant.opened if account is None else account.opened or 0
                if (account is None and key not in self._valid) or opened < grant.opened:
                    continue  # an eventually consistent read may not see a new account yet
                self._valid[key] = account is not None and opened == grant.opened

    def _is_valid(self, grant: Grant) -> bool:
        return self._valid.get((grant.account, grant.opened), False)

    def _topics(self) -> list[str]:
        if self._actor.is_operator:
            return [_ALL]
        return [_owned_by(self._actor.user_id), *map(_one, self._shared or ())]


def _access(shared: Mapping[str, Grant]) -> dict[str, str]:
    return {pk: grant.access for pk, grant in shared.items()}


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
