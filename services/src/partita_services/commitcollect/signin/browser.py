"""Requests of browsers: the session in a cookie, and checks of where a request comes from."""

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
"""The name without the `__Host-` prefix, which browsers accept over https only: for plain http on this machine."""
LOGIN: Final = "-login"
COOKIE_AGE: Final = timedelta(days=7)

SAFE: Final = ("GET", "HEAD", "OPTIONS")
FORWARDED: Final = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto")
"""Headers that a proxy adds."""

_COOKIE: Final = APIKeyCookie(
    name=SECURE, auto_error=False, description=f"The session of a browser; `{DEVELOPMENT}` on this machine only."
)


class Visitor(Struct, frozen=True):
    """A browser that is signed in."""

    user_id: str
    session_id: str


class SessionCookie(Struct, frozen=True):
    """The cookie of a browser's session, and the cookie that it has during a sign-in."""

    name: str

    def read(self, request: Request, *, login: bool = False) -> str:
        """Return the value of the cookie in a request; empty if it is missing."""
        return request.cookies.get(self._called(login), "")

    def give(self, response: Response, value: str, *, login: bool = False) -> None:
        """Set the cookie in a response."""
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
        """Delete the cookie."""
        response.delete_cookie(self._called(login), path="/", secure=self.name == SECURE, httponly=True, samesite="lax")

    def _called(self, login: bool) -> str:  # noqa: FBT001 - as the callers have it
        return self.name + LOGIN if login else self.name


async def session_cookie(request: Request, tools: Resources[Tools]) -> SessionCookie:
    """Return the cookie of this installation. It depends on where the service is served, not on request headers.

    Raises:
        HttpProblem: 403, the service can be reached over plain http from elsewhere, so a cookie would not be safe.
    """
    settings: Settings = tools.application.settings
    if urlsplit(settings.public_url).scheme == "https":
        return SessionCookie(SECURE)
    if settings.is_local and not any(name in request.headers for name in FORWARDED):
        return SessionCookie(DEVELOPMENT)
    hint = f"Set {PUBLIC_URL} to an https:// address, or serve it on this machine only."
    raise HttpProblem(403, "https_required", "Sessions require https.", hint=hint)


CurrentCookie = Annotated[SessionCookie, Depends(session_cookie)]
"""The cookie of this installation; 403 if a cookie would not be safe."""


def is_other_loopback(request: Request, public_url: str) -> bool:
    """Whether the browser uses another name of this machine than Strava's redirect, which would lose its cookies."""
    ours, theirs = urlsplit(public_url).hostname or "", request.url.hostname or ""
    return is_loopback(ours) and is_loopback(theirs) and theirs != ours


async def same_site(request: Request, tools: Resources[Tools]) -> None:
    """Check that a request that changes something does not come from another site's page; a dependency of all routes.

    Raises:
        HttpProblem: 403, a page of another site has sent it.
    """
    if request.method in SAFE:
        return
    site: str | None = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    public = urlsplit(tools.application.settings.public_url)
    own = (f"{request.url.scheme}://{request.url.netloc}", f"{public.scheme}://{public.netloc}")
    if site in ("cross-site", "same-site") or (origin is not None and origin not in own):
        raise HttpProblem(403, "cross_site", "The request comes from another site.", hint="Use the service's pages.")


async def visitor(
    request: Request,
    db: Db,
    cookie: CurrentCookie,
    described: Annotated[str | None, Security(_COOKIE)],  # noqa: ARG001 - only for the OpenAPI description: its name may differ
) -> Visitor:
    """Return the signed-in visitor, and count the request towards the user's rate limit.

    Raises:
        HttpProblem: 401, nobody is signed in.
        RateLimited: 429, the user has sent too many requests.
    """
    session_id = cookie.read(request)
    session = await db.run(SESSIONS.resolve(session_id)) if session_id else None
    if session is None:
        headers, hint = {"WWW-Authenticate": "Cookie"}, "Sign in with Strava."
        raise HttpProblem(401, "unauthenticated", "You are not signed in.", hint=hint, headers=headers)
    await admit(request, session.user_id)
    return Visitor(session.user_id, session_id)


CurrentVisitor = Annotated[Visitor, Depends(visitor)]
"""The signed-in visitor; 401 if nobody is signed in."""


async def as_caller(visitor: CurrentVisitor) -> Caller:
    """The visitor as the caller that shared dependencies expect."""
    return Caller(visitor.user_id)


def _trace(request: Request) -> Trace:
    request_id = request.state.request_id
    return Trace(request_id, request_id)


CurrentTrace = Annotated[Trace, Depends(_trace)]
"""The ids of the request, for the audit trail."""
