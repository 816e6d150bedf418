"""Attacks: states of other browsers, pages of other sites, session fixation, forged events, secrets in logs."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from msgspec.structs import replace
from starlette.types import ASGIApp
from tests.services.commitcollect.simulated import APPLICATION, serving_simulator, simulated
from tests.services.commitcollect.strava_model import ATHLETE, SUBSCRIPTION
from tests.services.commitcollect.world import SETTINGS, WEBHOOK, ListQueue, World, new_world, queued_world

from partita import AsyncSession
from partita.app import build_app
from partita.http import AppState, Caller, Identity
from partita_services.commitcollect.bootstrap import SERVICE
from partita_services.commitcollect.signin.sessions import SESSIONS
from partita_services.commitcollect.strava.client import StravaClient
from partita_services.commitcollect.strava.interface import Exchange, StravaError, Subscribe
from partita_services.commitcollect.strava.settings import Settings

HTTPS = "https://collect.test/commitcollect"
LOOPBACK = "http://127.0.0.1/commitcollect"
LOCAL = {"public_url": "http://127.0.0.1", "is_loopback": True}
"""The settings of an installation that only this machine can reach."""
COOKIE = "__Host-commitcollect"
IDENTITY = Identity(b"k" * 32)
HOUR = 3600
DAY = 24 * HOUR

Browsing = Callable[..., httpx.AsyncClient]


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        yield world


def site_of(world: World, **settings: Any) -> ASGIApp:
    """Return the site with some settings changed."""
    session = AsyncSession(world.db.store, clock=world.clock, secret=b"fake", strict_budgets=True)
    application = replace(world.app, settings=replace(SETTINGS, **settings))
    tools = replace(world.tools, application=application)
    return build_app([SERVICE], AppState(session, IDENTITY, {SERVICE.name: tools}))


@pytest.fixture
async def browser(world: World) -> AsyncIterator[Browsing]:
    """A function that opens a browser with its own cookies, on a site with some settings changed."""
    opened = list[httpx.AsyncClient]()

    def browser(base_url: str = HTTPS, **settings: Any) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(site_of(world, **settings))
        opened.append(httpx.AsyncClient(transport=transport, base_url=base_url))
        return opened[-1]

    yield browser
    for one in opened:
        await one.aclose()


async def leave_for_strava(browser: httpx.AsyncClient) -> str:
    """Begin a sign-in, and return its state."""
    response = await browser.get("/auth/login")
    assert response.status_code == 302
    return parse_qs(urlsplit(response.headers["Location"]).query)["state"][0]


async def come_back(browser: httpx.AsyncClient, state: str, **more: str) -> httpx.Response:
    fields = {"code": f"code-{ATHLETE}", "scope": "read,activity:read", "state": state} | more
    return await browser.get("/auth/callback", params=fields)


async def log_in(browser: httpx.AsyncClient) -> httpx.Response:
    response = await come_back(browser, await leave_for_strava(browser))
    assert response.headers["Location"] == "/commitcollect/"
    return response


def refused(response: httpx.Response) -> str:
    """Check that a sign-in was refused and began no session, and return the code of the problem."""
    assert response.status_code == 303
    assert [name for name, cookie in cookies(response).items() if cookie["max-age"] != "0"] == []
    target = urlsplit(response.headers["Location"])
    assert target.path == "/commitcollect/"
    return parse_qs(target.query)["problem"][0]


def cookies(response: httpx.Response) -> dict[str, Any]:
    lines = response.headers.get_list("Set-Cookie")
    return {name: cookie for line in lines for name, cookie in SimpleCookie(line).items()}


async def is_logged_in(browser: httpx.AsyncClient) -> bool:
    return (await browser.get("/api/me")).status_code == 200


# --- the sign-in


@pytest.mark.req("C01")
async def test_a_state_is_good_once(browser: Browsing) -> None:
    ann = browser()
    state = await leave_for_strava(ann)
    kept = dict(ann.cookies)
    assert (await come_back(ann, state)).headers["Location"] == "/commitcollect/"
    again = browser()
    again.cookies.update(kept)
    assert refused(await come_back(again, state)) == "state_invalid"


@pytest.mark.req("C01")
async def test_a_state_is_of_the_browser_that_it_was_given_to(browser: Browsing, world: World) -> None:
    ann, eve = browser(), browser()
    state = await leave_for_strava(ann)
    await leave_for_strava(eve)
    assert refused(await come_back(eve, state)) == "state_invalid"
    assert refused(await come_back(browser(), state)) == "state_invalid"
    assert world.strava.requests == []  # no authorization code was used up
    assert (await come_back(ann, state)).headers["Location"] == "/commitcollect/"


@pytest.mark.req("C01")
@pytest.mark.parametrize(("seconds", "is_in"), [(599, True), (601, False)])
async def test_a_state_is_good_for_ten_minutes(browser: Browsing, world: World, seconds: int, is_in: bool) -> None:  # noqa: FBT001
    ann = browser()
    state = await leave_for_strava(ann)
    kept = dict(ann.cookies)
    world.clock.advance(seconds)
    ann.cookies.update(kept)
    response = await come_back(ann, state)
    assert (response.headers["Location"] == "/commitcollect/") is is_in
    assert await is_logged_in(ann) is is_in


@pytest.mark.req("C01")
@pytest.mark.parametrize("state", ["", "guessed", "guessed-guessed-guessed-guessed"])
async def test_a_state_that_was_never_given_is_refused(browser: Browsing, world: World, state: str) -> None:
    ann = browser()
    await leave_for_strava(ann)
    assert refused(await come_back(ann, state)) == "state_invalid"
    assert world.strava.requests == []


@pytest.mark.req("C01")
async def test_without_the_scope_nobody_is_logged_in(browser: Browsing, world: World) -> None:
    ann = browser()
    assert refused(await come_back(ann, await leave_for_strava(ann), scope="read")) == "scope_missing"
    assert world.strava.requests == []
    denied = await come_back(ann, await leave_for_strava(ann), error="access_denied", code="")
    assert refused(denied) == "access_denied"


@pytest.mark.req("C01")
async def test_a_login_goes_to_the_named_strava_and_comes_back_here_alone(browser: Browsing) -> None:
    ann = browser()
    asked = urlsplit((await ann.get("/auth/login", params={"redirect_uri": "https://eve.test/"})).headers["Location"])
    assert f"{asked.scheme}://{asked.netloc}{asked.path}" == "https://strava.test/oauth/authorize"
    assert parse_qs(asked.query)["redirect_uri"] == ["https://collect.test/commitcollect/auth/callback"]


# --- the session


@pytest.mark.req("C20")
async def test_cookies_over_https_are_for_this_host_and_no_script(browser: Browsing) -> None:
    ann = browser()
    begun = cookies(await ann.get("/auth/login"))
    assert list(begun) == [f"{COOKIE}-login"]
    given = cookies(await log_in(ann))
    assert given[f"{COOKIE}-login"]["max-age"] == "0"
    for cookie, age in ((begun[f"{COOKIE}-login"], "600"), (given[COOKIE], str(7 * DAY))):
        attributes = {name: value for name, value in cookie.items() if value}
        assert attributes == {"httponly": True, "max-age": age, "path": "/", "samesite": "lax", "secure": True}


@pytest.mark.req("C20")
async def test_on_this_machine_plain_http_has_a_cookie_of_its_own(browser: Browsing) -> None:
    ann = browser(LOOPBACK, **LOCAL)
    given = cookies(await log_in(ann))
    assert "commitcollect-dev" in given
    assert not any(name.startswith("__Host-") for name in given)
    attributes = {name: value for name, value in given["commitcollect-dev"].items() if value}
    assert attributes == {"httponly": True, "max-age": str(7 * DAY), "path": "/", "samesite": "lax"}
    assert await is_logged_in(ann)


ELSEWHERE: list[dict[str, Any]] = [
    {"public_url": "http://collect.test", "is_loopback": True},
    {"public_url": "http://192.0.2.7:8321"},
    {"public_url": "http://127.0.0.1:8321"},
]
"""Settings for plain HTTP in which either the public URL or the socket is not of this machine."""


@pytest.mark.req("C20")
@pytest.mark.parametrize("base", ["http://collect.test", "http://127.0.0.1:8321", "http://localhost", "http://[::1]"])
@pytest.mark.parametrize("settings", ELSEWHERE, ids=str)
@pytest.mark.parametrize("path", ["/auth/login", "/auth/callback", "/api/me"])
async def test_plain_http_from_elsewhere_has_no_session_whatever_the_host_header(
    browser: Browsing, path: str, settings: dict[str, Any], base: str
) -> None:
    response = await browser(f"{base}/commitcollect", **settings).get(path)
    assert (response.status_code, response.json()["code"]) == (403, "https_required")
    assert "Set-Cookie" not in response.headers


@pytest.mark.req("C20")
@pytest.mark.parametrize("header", ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"])
async def test_a_proxy_that_nobody_spoke_of_has_no_session(browser: Browsing, header: str) -> None:
    """The visitors of the proxy are on other machines, although the proxy connects to a socket of this machine."""
    response = await browser(LOOPBACK, **LOCAL).get("/auth/login", headers={header: "192.0.2.7"})
    assert (response.status_code, response.json()["code"]) == (403, "https_required")
    assert "PARTITA_COMMITCOLLECT_URL" in response.json()["hint"]


@pytest.mark.req("C20", "C21")
async def test_behind_a_proxy_with_https_the_public_address_decides(browser: Browsing) -> None:
    """The proxy connects to a socket of this machine over plain HTTP, with a host name that is not the public one."""
    ann = browser(LOOPBACK, is_loopback=True)
    given = cookies(await ann.get("/auth/login"))
    assert [(name, cookie["secure"]) for name, cookie in given.items()] == [(f"{COOKIE}-login", True)]
    own = await ann.post("/auth/logout", headers={"Origin": SETTINGS.public_url})
    foreign = await ann.post("/auth/logout", headers={"Origin": "https://eve.test"})
    assert [response.json()["code"] for response in (own, foreign)] == ["unauthenticated", "cross_site"]


@pytest.mark.req("C20")
async def test_the_cookie_of_plain_http_is_nothing_over_https(browser: Browsing) -> None:
    ann = browser(LOOPBACK, **LOCAL)
    await log_in(ann)
    secure = browser()
    secure.cookies.set("commitcollect-dev", ann.cookies["commitcollect-dev"])
    assert not await is_logged_in(secure)


@pytest.mark.req("C20")
async def test_a_session_id_that_somebody_else_has_set_is_not_the_one_that_is_used(browser: Browsing) -> None:
    known = "eve-knows-this-session-id-very-well"
    ann, eve = browser(), browser()
    for one in (ann, eve):
        one.cookies.set(COOKIE, known, domain="collect.test", path="/")
    given = cookies(await log_in(ann))[COOKIE].value
    assert given != known
    assert len(given) >= 22  # 128 bits in base 64
    assert not await is_logged_in(eve)


@pytest.mark.req("C20")
async def test_a_login_ends_the_session_before_it(browser: Browsing) -> None:
    ann, old = browser(), browser()
    await log_in(ann)
    old.cookies.update(dict(ann.cookies))
    assert await is_logged_in(old)
    await log_in(ann)
    assert await is_logged_in(ann)
    assert not await is_logged_in(old)


@pytest.mark.req("C20")
async def test_a_session_ends_when_it_is_idle(browser: Browsing, world: World) -> None:
    ann = browser()
    await log_in(ann)
    world.clock.advance(7 * HOUR)
    assert await is_logged_in(ann)
    world.clock.advance(7 * HOUR)
    assert await is_logged_in(ann)
    world.clock.advance(8 * HOUR)
    assert not await is_logged_in(ann)


@pytest.mark.req("C20")
async def test_a_session_ends_after_a_week_however_busy(browser: Browsing, world: World) -> None:
    ann = browser()
    await log_in(ann)
    for _ in range(7 * 4 - 1):
        world.clock.advance(6 * HOUR)
        assert await is_logged_in(ann)
    world.clock.advance(6 * HOUR)
    assert not await is_logged_in(ann)


@pytest.mark.req("C20")
async def test_after_logging_out_a_copy_of_the_cookie_is_worth_nothing(browser: Browsing) -> None:
    ann, copy = browser(), browser()
    await log_in(ann)
    copy.cookies.update(dict(ann.cookies))
    response = await ann.post("/auth/logout")
    assert (response.status_code, cookies(response)[COOKIE]["max-age"]) == (204, "0")
    assert not await is_logged_in(copy)


@pytest.mark.req("C20", "C23")
async def test_deleting_the_account_ends_every_session(browser: Browsing, world: World) -> None:
    laptop, phone = browser(), browser()
    await log_in(laptop)
    await log_in(phone)
    assert (await laptop.delete("/api/me")).status_code == 202
    world.work()
    assert not await is_logged_in(phone)


@pytest.mark.req("C20")
async def test_neither_a_token_of_other_services_nor_a_hash_is_a_session(browser: Browsing, world: World) -> None:
    ann, eve = browser(), browser()
    await log_in(ann)
    eve.headers["Authorization"] = f"Bearer {IDENTITY.token(Caller(world.user_id or 'demo'))}"
    assert not await is_logged_in(eve)
    session = world.db.run(SESSIONS.resolve(ann.cookies[COOKIE]))
    assert session is not None
    eve.cookies.set(COOKIE, session.session_hash)
    assert not await is_logged_in(eve)


# --- pages of other sites

UNSAFE = [
    ("POST", "/auth/logout"),
    ("POST", "/api/milestones"),
    ("PATCH", "/api/milestones/m1"),
    ("POST", "/api/sync"),
    ("DELETE", "/api/me"),
]
FOREIGN = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "https://eve.test"},
    {"Origin": "https://collect.test.eve.test"},
    {"Origin": "https://collect.test:8443"},
    {"Origin": "http://collect.test"},
    {"Origin": "null"},
]


@pytest.mark.req("C21")
@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize(("method", "path"), UNSAFE)
async def test_a_page_of_another_site_changes_nothing(
    browser: Browsing, world: World, method: str, path: str, headers: dict[str, str]
) -> None:
    ann = browser()
    await log_in(ann)
    response = await ann.request(method, path, headers=headers, json={})
    assert (response.status_code, response.json()["code"]) == (403, "cross_site")
    assert await is_logged_in(ann)


@pytest.mark.req("C21")
@pytest.mark.parametrize("headers", [{}, {"Origin": "https://collect.test", "Sec-Fetch-Site": "same-origin"}], ids=str)
async def test_our_own_page_may(browser: Browsing, headers: dict[str, str]) -> None:
    ann = browser()
    await log_in(ann)
    assert (await ann.post("/auth/logout", headers=headers)).status_code == 204


@pytest.mark.req("C01", "C21")
async def test_strava_may_send_a_browser_back(browser: Browsing) -> None:
    ann = browser()
    state = await leave_for_strava(ann)
    ann.headers.update({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})
    assert (await come_back(ann, state)).headers["Location"] == "/commitcollect/"


# --- the webhook


def an_event(**changes: Any) -> dict[str, Any]:
    fields = {"object_type": "activity", "object_id": 7, "aspect_type": "create", "owner_id": ATHLETE}
    return {**fields, "subscription_id": SUBSCRIPTION, "event_time": 1_767_225_600, "updates": {}} | changes


def queued(world: World) -> int:
    assert isinstance(world.tools.queue, ListQueue)
    return len(world.tools.queue.sent)


@pytest.mark.req("C04")
async def test_events_of_a_subscription_that_is_not_ours_are_dropped(browser: Browsing, world: World) -> None:
    strava = browser()
    assert (await strava.post(WEBHOOK, json=an_event())).status_code == 403  # there is no subscription yet
    await log_in(browser())
    world.work()
    before = queued(world)
    for forged in (SUBSCRIPTION + 1, 0, 2**63 - 1):
        response = await strava.post(WEBHOOK, json=an_event(subscription_id=forged))
        assert (response.status_code, response.json()["code"]) == (403, "forbidden")
    assert queued(world) == before
    assert (await strava.post(WEBHOOK, json=an_event())).status_code == 200
    assert queued(world) == before + 1


@pytest.mark.req("C03")
@pytest.mark.parametrize(
    ("mode", "token", "status"),
    [
        ("subscribe", SETTINGS.verify_token, 200),
        ("subscribe", "guessed", 403),
        ("subscribe", "", 403),
        ("subscribe", "gü", 403),
        ("unsubscribe", SETTINGS.verify_token, 403),
    ],
)
async def test_only_strava_knows_the_token_of_the_webhook(
    browser: Browsing, mode: str, token: str, status: int
) -> None:
    asked = {"hub.mode": mode, "hub.challenge": "15f7d1a9", "hub.verify_token": token}
    response = await browser().get(WEBHOOK, params=asked)
    assert response.status_code == status
    assert (response.json() == {"hub.challenge": "15f7d1a9"}) is (status == 200)
    assert SETTINGS.verify_token not in response.text


@pytest.mark.req("C04", "X04")
@pytest.mark.parametrize("is_declared", [True, False])
@pytest.mark.parametrize("path", [WEBHOOK, "/api/milestones"])
async def test_oversized_bodies_are_refused(browser: Browsing, world: World, path: str, is_declared: bool) -> None:  # noqa: FBT001
    ann = browser()
    await log_in(ann)
    before = queued(world)

    async def in_pieces() -> AsyncIterator[bytes]:
        for _ in range(21):
            yield b" " * 50_000

    body: Any = b" " * 1_000_001 if is_declared else in_pieces()
    response = await ann.post(path, content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")
    assert queued(world) == before


@pytest.mark.req("C04")
@pytest.mark.parametrize(
    "changes",
    [{"updates": {f"field-{number}": "x" for number in range(21)}}, {"object_id": -1}, {"object_type": "x" * 41}],
    ids=["many updates", "negative", "long"],
)
async def test_events_that_strava_would_not_send_are_refused(
    browser: Browsing, world: World, changes: dict[str, Any]
) -> None:
    await log_in(browser())
    world.work()
    response = await browser().post(WEBHOOK, json=an_event(**changes))
    assert response.status_code == 422
    assert queued(world) == 0


# --- logs


@pytest.mark.req("C02", "X04")
async def test_neither_logs_nor_responses_have_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with queued_world() as world:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(site_of(world)), base_url=HTTPS) as ann:
            state = await leave_for_strava(ann)
            secrets = {state, *ann.cookies.values()}
            said = [await come_back(ann, state)]
            secrets |= {ann.cookies[COOKIE], f"code-{ATHLETE}", SETTINGS.client_secret, SETTINGS.verify_token}
            world.strava.failures = 3
            world.work()
            world.strava.expire()
            world.clock.advance(HOUR)
            said.append(await ann.post("/api/sync"))
            world.work()
            said += [await ann.get(f"/api/{what}") for what in ("me", "audit", "workouts", "milestones", "nothing")]
            said += [await come_back(ann, "wrong"), await ann.get("https://collect.test/metrics")]
        for tokens in world.strava.tokens.values():
            secrets |= {tokens.access_token, tokens.refresh_token}
    texts = [record.getMessage() for record in caplog.records if record.name != "httpx"]  # not the test's browser
    assert any("will be tried again" in text for text in texts)
    texts += [f"{response.text} {response.headers.get('Location')}" for response in said]
    assert [(secret, text) for secret in secrets for text in texts if secret in text] == []


@pytest.mark.req("C02")
def test_requests_to_strava_leave_no_secret_in_the_logs(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    strava = simulated(world.clock)
    code = strava.oauth.approve(ATHLETE, ("read", "activity:read")).code
    with serving_simulator(strava, delivers=False) as address:
        settings = Settings(address, address, APPLICATION.client_id, APPLICATION.client_secret, "verify-me", b"k" * 32)
        client = StravaClient(settings)
        grant = client.execute(Exchange(code))
        with pytest.raises(StravaError):
            client.execute(Subscribe(settings.webhook_url))  # no server confirms the address
        httpx.get(settings.webhook_url, trust_env=False)
        client.close()
    secrets = {code, grant.access_token, grant.refresh_token, APPLICATION.client_secret, "verify-me"}
    secrets.add(settings.webhook_key)
    texts = [record.getMessage() for record in caplog.records]
    assert any("/commitcollect/webhooks/strava/" in text for text in texts)
    assert [(secret, text) for secret in secrets for text in texts if secret in text] == []
