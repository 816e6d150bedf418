"""The routes of the sign-in through Strava and of the sign-out, which are not part of the API."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse

from partita.http import Db, HttpProblem, Now, Resources, describe_problems
from partita_services.commitcollect.signin.browser import (
    CurrentCookie,
    CurrentTrace,
    CurrentVisitor,
    is_other_loopback,
    same_site,
    session_cookie,
)
from partita_services.commitcollect.signin.login import (
    LoginRefused,
    Return,
    arrive,
    depart,
    log_out,
    log_out_everywhere,
)
from partita_services.commitcollect.strava.settings import STRAVA_URL
from partita_services.commitcollect.work import Tools, do_async

ROUTER: Final = APIRouter(dependencies=[Depends(same_site)], responses=describe_problems(403))

HOME: Final = "/commitcollect/"


@ROUTER.get("/auth/login", status_code=302, response_class=RedirectResponse, responses=describe_problems(503))
async def sign_in(request: Request, db: Db, now: Now, tools: Resources[Tools]) -> Response:
    """Redirect to Strava to sign in; 503 if no Strava is set up."""
    if tools.application.settings.strava_url is None:
        hint = f"The operator has to set {STRAVA_URL}."
        raise HttpProblem(503, "strava_not_set_up", "Strava is not set up, so nobody can sign in.", hint=hint)
    cookie = await session_cookie(request, tools)
    public_url: str = tools.application.settings.public_url
    if is_other_loopback(request, public_url):
        return RedirectResponse(f"{public_url}/commitcollect/auth/login", status_code=302)
    departure = await db.run(depart(tools.application.settings, now))
    response = RedirectResponse(departure.url, status_code=302)
    cookie.give(response, departure.browser, login=True)
    return response


async def _returning(
    request: Request,
    cookie: CurrentCookie,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=200)] = "",
    scope: Annotated[str, Query(max_length=200)] = "",
    error: Annotated[str, Query(max_length=200)] = "",
) -> Return:
    """The parameters of the redirect from Strava, and the browser's cookies."""
    return Return(
        state=state,
        browser=cookie.read(request, login=True),
        code=code,
        scopes=frozenset(filter(None, scope.split(","))),
        error=error,
        session_id=cookie.read(request),
    )


@ROUTER.get("/auth/callback", status_code=303, response_class=RedirectResponse)
async def come_back(
    back: Annotated[Return, Depends(_returning)],
    cookie: CurrentCookie,
    db: Db,
    tools: Resources[Tools],
    trace: CurrentTrace,
) -> Response:
    """The way back from Strava: redirects to the dashboard, signed in, or with `?problem=` and a code."""
    try:
        session_id = await do_async(arrive(tools.application, back, trace), db, tools)
    except LoginRefused as refused:
        response = RedirectResponse(f"{HOME}?problem={refused.code}", status_code=303)
    else:
        response = RedirectResponse(HOME, status_code=303)
        cookie.give(response, session_id)
    cookie.clear(response, login=True)
    return response


@ROUTER.post("/auth/logout", status_code=204, response_class=Response)
async def leave(
    visitor: CurrentVisitor, db: Db, trace: CurrentTrace, cookie: CurrentCookie, response: Response
) -> None:
    """Sign this browser out."""
    await db.run(log_out(visitor.session_id, visitor.user_id, trace))
    cookie.clear(response)


@ROUTER.post("/auth/logout-everywhere", status_code=204, response_class=Response)
async def leave_everywhere(
    visitor: CurrentVisitor, db: Db, trace: CurrentTrace, cookie: CurrentCookie, response: Response
) -> None:
    """Sign the user out in all browsers."""
    await db.run(log_out_everywhere(visitor.user_id, trace))
    cookie.clear(response)
