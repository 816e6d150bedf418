"""What a browser brings along: its session in a cookie, and where its request comes from."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response, Security
from fastapi.security import APIKeyCookie
from msgspec import Struct

from partita.http import Caller, Db, HttpProblem, Resources, admit
from partita.recipes.audit import Trace
from partita.runtime import is_loopback
from partita_services.commitcollect.signin.sessions import LOGIN_SECONDS, SESSIONS
from partita_services.commitcollect.strava.settings import PUBLIC_URL, Settings
from partita_services.commitcollect.work import Tools

SECURE: Final = "__Host-commitcollect"
DEVELOPMENT: Final = "commitcollect-dev"
"""Without the prefix, which browsers take over https alone: for plain http on this machine alone."""
LOGIN: Final = "-login"
COOKIE_AGE: Final = timedelta(days=7)

SAFE: Final = ("GET", "HEAD", "OPTIONS")
FORWARDED: Final = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto")
"""What a proxy adds."""

_COOKIE: Final = APIKeyCookie(
    name=SECURE, auto_error=False, description=f"The session of a browser; `{DEVELOPMENT}` on this machine alone."
)


class Visitor(Struct, frozen=True):
    """A browser that is logged in."""

    user_id: str
    session_id: str


class SessionCookie(Struct, frozen=True):
    """The cookie that has a browser's session, and the one that it keeps during a login."""

    name: str

    def read(self, request: Request, *, login: bool = False) -> str:
        """What the browser brings; empty without it."""
        return request.cookies.get(self._called(login), "")

    def give(self, response: Response, value: str, *, login: bool = False) -> None:
        """Have the browser keep it."""
        response.set_cookie(
            self._called(login),
            value,
            max_age=LOGIN_SECONDS if login else int(COOKIE_AGE.total_seconds()),
            path="/",
            secure=self.name == SECURE,
            httponly=True,
            samesite="lax",
        )

    def clear(self, response: Response, *, login: bool = False) -> None:
        """Take it away again."""
        response.delete_cookie(self._called(login), path="/", secure=self.name == SECURE, httponly=True, samesite="lax")

    def _called(self, login: bool) -> str:  # noqa: FBT001 - as the callers have it
        return self.name + LOGIN if login else self.name


async def session_cookie(request: Request, tools: Resources[Tools]) -> SessionCookie:
    """The cookie of this installation. Where it is served decides, and nothing that a request says.

    Raises:
        HttpProblem: 403, it can be reached over plain http from elsewhere: a cookie would not be safe.
    """
    settings: Settings = tools.application.settings
    if urlsplit(settings.public_url).scheme == "https":
        return SessionCookie(SECURE)
    if settings.is_local and not any(name in request.headers for name in FORWARDED):
        return SessionCookie(DEVELOPMENT)
    hint = f"Set {PUBLIC_URL} to an https:// address, or serve it on this machine alone."
    raise HttpProblem(403, "https_required", "Sessions need https.", hint=hint)


CurrentCookie = Annotated[SessionCookie, Depends(session_cookie)]
"""The cookie of this installation; 403 where one would not be safe."""


def is_other_loopback(request: Request, public_url: str) -> bool:
    """Whether the browser calls this machine by another name than Strava will: its cookies would not come back."""
    ours, theirs = urlsplit(public_url).hostname or "", request.url.hostname or ""
    return is_loopback(ours) and is_loopback(theirs) and theirs != ours


async def same_site(request: Request, tools: Resources[Tools]) -> None:
    """A dependency of all routes: what changes something must come from our own pages, or from no page at all.

    Raises:
        HttpProblem: 403, another site's page has sent it.
    """
    if request.method in SAFE:
        return
    site: str | None = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    public = urlsplit(tools.application.settings.public_url)
    own = (f"{request.url.scheme}://{request.url.netloc}", f"{public.scheme}://{public.netloc}")
    if site in ("cross-site", "same-site") or (origin is not None and origin not in own):
        raise HttpProblem(403, "cross_site", "This request comes from another site.", hint="Use our own pages.")


async def visitor(
    request: Request,
    db: Db,
    cookie: CurrentCookie,
    described: Annotated[str | None, Security(_COOKIE)],  # noqa: ARG001 - for the description alone: its name may differ
) -> Visitor:
    """Who is logged in; the request is counted as one of theirs.

    Raises:
        HttpProblem: 401, nobody is.
        RateLimited: 429, the user has sent too many requests.
    """
    session_id = cookie.read(request)
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
