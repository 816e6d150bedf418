"""What a browser brings along: its session in a cookie, and where its request comes from."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response, Security
from fastapi.security import APIKeyCookie
from msgspec import Struct

from partita.http import Caller, Db, HttpProblem, admit
from partita.recipes.audit import Trace
from partita_services.commitcollect.signin.sessions import LOGIN_SECONDS, SESSIONS

SECURE: Final = "__Host-commitcollect"
DEVELOPMENT: Final = "commitcollect-dev"
"""Without the prefix, which browsers take over https alone: for plain http on this machine."""
LOGIN: Final = "-login"
COOKIE_AGE: Final = timedelta(days=7)

SAFE: Final = ("GET", "HEAD", "OPTIONS")
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

_COOKIE: Final = APIKeyCookie(
    name=SECURE, auto_error=False, description=f"The session of a browser; `{DEVELOPMENT}` on http://127.0.0.1."
)


class Visitor(Struct, frozen=True):
    """A browser that is logged in."""

    user_id: str
    session_id: str


def cookie_name(request: Request) -> str:
    """How the session's cookie is called where the request came to.

    Raises:
        HttpProblem: 403, plain http from elsewhere: a cookie would not be safe.
    """
    if request.url.scheme == "https":
        return SECURE
    if request.url.hostname in LOOPBACK:
        return DEVELOPMENT
    raise HttpProblem(403, "https_required", "Sessions need https.", hint="Serve it behind https, or on this machine.")


def is_other_loopback(request: Request, public_url: str) -> bool:
    """Whether the browser calls this machine by another name than Strava will: its cookies would not come back."""
    ours = urlsplit(public_url).hostname
    return ours in LOOPBACK and request.url.hostname in LOOPBACK and request.url.hostname != ours


def session_id_of(request: Request) -> str:
    """The session that the browser says it has; empty without one."""
    return request.cookies.get(cookie_name(request), "")


def set_cookie(request: Request, response: Response, value: str, *, login: bool = False) -> None:
    """Give the browser its session, or what it keeps during a login."""
    name = cookie_name(request)
    response.set_cookie(
        name + LOGIN if login else name,
        value,
        max_age=LOGIN_SECONDS if login else int(COOKIE_AGE.total_seconds()),
        path="/",
        secure=name == SECURE,
        httponly=True,
        samesite="lax",
    )


def clear_cookie(request: Request, response: Response, *, login: bool = False) -> None:
    """Take it away again."""
    name = cookie_name(request)
    response.delete_cookie(
        name + LOGIN if login else name, path="/", secure=name == SECURE, httponly=True, samesite="lax"
    )


async def same_site(request: Request) -> None:
    """A dependency of all routes: what changes something must come from our own pages, or from no page at all.

    Raises:
        HttpProblem: 403, another site's page has sent it.
    """
    if request.method in SAFE:
        return
    site: str | None = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    own = f"{request.url.scheme}://{request.url.netloc}"
    if site in ("cross-site", "same-site") or (origin is not None and origin != own):
        raise HttpProblem(403, "cross_site", "This request comes from another site.", hint="Use our own pages.")


async def visitor(
    request: Request,
    db: Db,
    cookie: Annotated[str | None, Security(_COOKIE)],  # noqa: ARG001 - for the description: its name depends on the scheme
) -> Visitor:
    """Who is logged in; the request is counted as one of theirs.

    Raises:
        HttpProblem: 401, nobody is.
        RateLimited: 429, the user has sent too many requests.
    """
    session_id = session_id_of(request)
    session = await db.run(SESSIONS.resolve(session_id)) if session_id else None
    if session is None:
        headers = {"WWW-Authenticate": "Cookie"}
        raise HttpProblem(401, "unauthenticated", "You are not logged in.", hint="Log in with Strava.", headers=headers)
    await admit(request, session.user_id)
    return Visitor(session.user_id, session_id)


CurrentVisitor = Annotated[Visitor, Depends(visitor)]
"""Who is logged in; 401 where nobody is."""


async def as_caller(visitor: CurrentVisitor) -> Caller:
    """The same, for what all services share."""
    return Caller(visitor.user_id)


def _trace(request: Request) -> Trace:
    request_id = request.state.request_id
    return Trace(request_id, request_id)


CurrentTrace = Annotated[Trace, Depends(_trace)]
"""The request, for the audit trail."""
