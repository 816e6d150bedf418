"""Beside the API: logging in and out through Strava."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse

from partita.http import Db, Now, Resources, describe_problems
from partita_services.commitcollect.signin.browser import (
    LOGIN,
    CurrentTrace,
    CurrentVisitor,
    clear_cookie,
    cookie_name,
    is_other_loopback,
    same_site,
    session_id_of,
    set_cookie,
)
from partita_services.commitcollect.signin.login import LoginRefused, Return, arrive, depart, log_out
from partita_services.commitcollect.work import Tools, do_async

ROUTER: Final = APIRouter(dependencies=[Depends(same_site)], responses=describe_problems(403))

HOME: Final = "/commitcollect/"


@ROUTER.get("/auth/login", status_code=302, response_class=RedirectResponse)
async def log_in(request: Request, db: Db, now: Now, tools: Resources[Tools]) -> Response:
    """Go to Strava and come back logged in."""
    cookie_name(request)  # refuses where a session would not be safe
    public_url: str = tools.application.settings.public_url
    if is_other_loopback(request, public_url):
        return RedirectResponse(f"{public_url}/commitcollect/auth/login", status_code=302)
    departure = await db.run(depart(tools.application.settings, now))
    response = RedirectResponse(departure.url, status_code=302)
    set_cookie(request, response, departure.browser, login=True)
    return response


@ROUTER.get("/auth/callback", status_code=303, response_class=RedirectResponse)
async def come_back(
    request: Request,
    db: Db,
    tools: Resources[Tools],
    trace: CurrentTrace,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=200)] = "",
    scope: Annotated[str, Query(max_length=200)] = "",
    error: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Come back from Strava: to the dashboard, logged in, or with the code of what went wrong."""
    back = Return(
        state=state,
        browser=request.cookies.get(cookie_name(request) + LOGIN, ""),
        code=code,
        scopes=frozenset(filter(None, scope.split(","))),
        error=error,
        session_id=session_id_of(request),
    )
    try:
        session_id = await do_async(arrive(tools.application, back, trace), db, tools)
    except LoginRefused as refused:
        response = RedirectResponse(f"{HOME}?problem={refused.code}", status_code=303)
    else:
        response = RedirectResponse(HOME, status_code=303)
        set_cookie(request, response, session_id)
    clear_cookie(request, response, login=True)
    return response


@ROUTER.post("/auth/logout", status_code=204, response_class=Response)
async def leave(visitor: CurrentVisitor, db: Db, trace: CurrentTrace, request: Request, response: Response) -> None:
    """Log this browser out."""
    await db.run(log_out(visitor.session_id, visitor.user_id, trace))
    clear_cookie(request, response)
