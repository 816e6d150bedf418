"""Strava's own endpoints: OAuth, and version 3 of the API."""

from __future__ import annotations

from typing import Annotated, Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from partita_services.commitcollect.simulator.faults import bad_request
from partita_services.commitcollect.simulator.oauth import SCOPES
from partita_services.commitcollect.simulator.strava import SimulatedStrava
from partita_services.commitcollect.simulator.webhook import wants_events
from partita_services.commitcollect.simulator.world import Grant

OAUTH: Final = APIRouter(prefix="/oauth")
API: Final = APIRouter()

FOREVER: Final = 2**53
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
# Without form-action, because the athlete's decision redirects to the application, wherever it is.
PAGE_SECURITY: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
TEMPLATES: Final = Environment(
    loader=PackageLoader("partita_services.commitcollect.simulator"), autoescape=True, undefined=StrictUndefined
)


async def strava_of(request: Request) -> SimulatedStrava:
    """Return the simulator, with the state that all processes share."""
    strava: SimulatedStrava = request.app.state.strava
    strava.refresh()
    return strava


Strava = Annotated[SimulatedStrava, Depends(strava_of)]


async def _given(request: Request) -> dict[str, str]:
    """Return the parameters of a request, from its query and its form."""
    return dict(request.query_params) | dict(await _form(request))


async def _form(request: Request) -> list[tuple[str, str]]:
    try:
        return parse_qsl((await request.body()).decode())
    except UnicodeDecodeError as error:
        raise bad_request("Request", "form") from error


Given = Annotated[dict[str, str], Depends(_given)]


def _bearer(request: Request) -> str:
    return request.headers.get("Authorization", "").removeprefix("Bearer ")


async def _grant(request: Request, strava: Strava) -> Grant:
    return strava.oauth.grant_of(_bearer(request))


async def _reader(request: Request, strava: Strava) -> Grant:
    return strava.oauth.reader(_bearer(request))


@OAUTH.get("/authorize")
async def show_authorization(request: Request, strava: Strava, given: Given) -> HTMLResponse:
    """Show the page on which the athlete authorizes an application."""
    strava.oauth.check_client(given.get("client_id", ""))
    page = TEMPLATES.get_template("authorize.html").render(
        athletes=strava.world.athletes.values(),
        asked={scope: SCOPES[scope] for scope in _asked_scopes(given)},
        application=urlsplit(_redirect_uri(request, given)).netloc,
        query=request.url.query,
    )
    return HTMLResponse(page, headers=PAGE_SECURITY)


@OAUTH.post("/authorize")
async def decide(request: Request, strava: Strava) -> RedirectResponse:
    """Handle the athlete's decision, and redirect to the application."""
    asked = dict(request.query_params)
    strava.oauth.check_client(asked.get("client_id", ""))
    target, form = _redirect_uri(request, asked), await _form(request)
    said = dict(form)
    if said.get("decision") != "authorize":
        return _back(target, state=asked.get("state", ""), error="access_denied")
    accepted = [scope for scope in _asked_scopes(asked) if ("scope", scope) in form or scope == "read"]
    with strava.changing():
        code = strava.oauth.approve(_athlete_id(strava, said), tuple(accepted))
    return _back(target, state=asked.get("state", ""), code=code.code, scope=",".join(accepted))


def _asked_scopes(given: dict[str, str]) -> list[str]:
    scopes = given.get("scope", "read").split(",")
    if not set(scopes) <= set(SCOPES):
        raise bad_request("Authorize", "scope")
    return scopes


def _redirect_uri(request: Request, given: dict[str, str]) -> str:
    """Return the redirect address, which must be on this machine, as Strava accepts only a registered domain."""
    target = given.get("redirect_uri", "")
    if _host_of(target) not in {*LOOPBACK, request.url.hostname}:
        raise bad_request("Application", "redirect_uri")
    return target


def _host_of(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _athlete_id(strava: SimulatedStrava, said: dict[str, str]) -> int:
    for athlete_id in strava.world.athletes:
        if str(athlete_id) == said.get("athlete"):
            return athlete_id
    raise bad_request("Athlete", "id")


def _back(target: str, **said: str) -> RedirectResponse:
    joint = "&" if urlsplit(target).query else "?"
    return RedirectResponse(f"{target}{joint}{urlencode(said)}", 303)


@OAUTH.post("/token")
async def give_tokens(strava: Strava, given: Given) -> dict[str, Any]:
    """Exchange a code or a refresh token for tokens."""
    strava.oauth.check_client(given.get("client_id", ""), given.get("client_secret", ""))
    with strava.changing():
        if given.get("grant_type") == "authorization_code":
            return strava.oauth.exchange(given.get("code", ""))
        if given.get("grant_type") == "refresh_token":
            return strava.oauth.refresh(given.get("refresh_token", ""))
    raise bad_request("Application", "grant_type")


@OAUTH.post("/deauthorize")
async def deauthorize(request: Request, strava: Strava, given: Given) -> dict[str, str]:
    """End the grant of an access token."""
    token = given.get("access_token") or _bearer(request)
    with strava.changing():
        strava.deauthorize(strava.oauth.grant_of(token).athlete_id)
    return {"access_token": token}


@API.get("/athlete")
async def show_athlete(strava: Strava, grant: Annotated[Grant, Depends(_grant)]) -> dict[str, Any]:
    """The athlete to whom the token belongs."""
    return strava.world.athletes[grant.athlete_id].shown()


@API.get("/athlete/activities")
async def list_activities(
    strava: Strava,
    grant: Annotated[Grant, Depends(_reader)],
    before: int = FOREVER,
    after: int | None = None,
    page: int = 1,
    per_page: int = 30,
) -> list[dict[str, Any]]:
    """The athlete's activities, in pages."""
    found = strava.activities(grant, before=before, after=after, page=page, per_page=per_page)
    return [activity.shown() for activity in found]


@API.get("/activities/{activity_id}")
async def show_activity(strava: Strava, grant: Annotated[Grant, Depends(_reader)], activity_id: int) -> dict[str, Any]:
    """One activity."""
    return strava.activity(grant, activity_id).shown()


@API.post("/push_subscriptions", status_code=201)
async def subscribe(strava: Strava, given: Given) -> dict[str, int]:
    """Subscribe an address to events, after it has returned the challenge."""
    strava.oauth.check_client(given.get("client_id", ""), given.get("client_secret", ""))
    callback, challenge = given.get("callback_url", ""), strava.new_challenge()
    if not await wants_events(callback, given.get("verify_token", ""), challenge):
        raise bad_request("PushSubscription", "callback url", "GET to callback URL does not return 200")
    with strava.changing():
        subscription = strava.subscribe(callback)
    return {"id": subscription.id}


@API.get("/push_subscriptions")
async def list_subscriptions(strava: Strava, given: Given) -> list[dict[str, Any]]:
    """The subscription, if there is one."""
    strava.oauth.check_client(given.get("client_id", ""), given.get("client_secret", ""))
    subscription = strava.world.subscription
    if subscription is None:
        return []
    return [{"id": subscription.id, "resource_state": 2, "callback_url": subscription.callback_url}]


@API.delete("/push_subscriptions/{subscription_id}", status_code=204, response_class=Response)
async def unsubscribe(strava: Strava, given: Given, subscription_id: int) -> None:
    """End the subscription."""
    strava.oauth.check_client(given.get("client_id", ""), given.get("client_secret", ""))
    with strava.changing():
        strava.unsubscribe(subscription_id)
