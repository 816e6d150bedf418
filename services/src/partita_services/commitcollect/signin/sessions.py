"""The sessions of browsers, and sign-ins in progress. Of the values that a browser has, only hashes are stored."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar, Final

from partita import Delete, Entity, Index, Key, Put, Rcu, Table, Wcu, delete, f, get, insert, pattern
from partita.recipes.web_sessions import WebSession, WebSessions, session_hash

SESSIONS_TABLE: Final = Table("CommitCollectSessions", indexes=[Index("GSI1")], ttl="ttl")

LOGIN_SECONDS: Final = 600
"""How long a sign-in may take."""


class LoginSession(WebSession, table=SESSIONS_TABLE):
    """The session of a browser that is signed in."""

    primary: ClassVar = Key("SESSION#{session_hash}", "META")
    by_user: ClassVar = Key("USER#{user_id}", "SESSION#{session_hash}", index="GSI1")
    in_lake: ClassVar = False


SESSIONS: Final = WebSessions(LoginSession, idle=timedelta(hours=8), absolute=timedelta(days=7))


class LoginAttempt(Entity, table=SESSIONS_TABLE):
    """A browser that was sent to Strava and has not come back yet."""

    primary: ClassVar = Key("LOGIN#{state_hash}", "META")
    in_lake: ClassVar = False

    state_hash: str
    browser_hash: str
    """The hash of the browser's sign-in cookie, so that no other browser can finish the sign-in."""
    ttl: int


@get(LoginAttempt, budget=Rcu(0.5))
def login_attempt(state_hash: str) -> None:
    """A sign-in in progress."""


@pattern(budget=Wcu(1))
def begin_login(state: str, browser: str, now: int) -> Put[LoginAttempt]:
    """Store that a browser was redirected to Strava."""
    hashes = {"state_hash": session_hash(state), "browser_hash": session_hash(browser)}
    return insert(LoginAttempt(**hashes, ttl=now + LOGIN_SECONDS))


@pattern(budget=Wcu(1))
def finish_login(state: str, browser: str) -> Delete[LoginAttempt]:
    """Use up a state, which is valid once, if the browser is the one that it was issued to."""
    is_same = f(LoginAttempt.browser_hash).eq(session_hash(browser))
    return delete(login_attempt(session_hash(state))).when(is_same)
