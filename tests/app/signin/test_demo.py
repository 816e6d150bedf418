"""One-click sign-in works only on this machine; requests from anywhere else get no token, whatever they contain."""

from __future__ import annotations

import pytest
from tests.app.signin.conftest import OWN, Browser

from partita.app.signin import DemoSignIn, SignIn
from partita.http import Caller, Identity, Role

pytestmark = pytest.mark.req("X16")

ME, OTHER = 1000, 1001
ROLES = {"user": Caller("demo"), "operator": Caller("demo-operator", Role.OPERATOR)}


def demo(identity: Identity, peer: int | None = ME) -> SignIn:
    return SignIn(demo=DemoSignIn(identity, own_account=lambda: ME, account_of=lambda *_: peer))


@pytest.mark.parametrize("role", list(ROLES))
async def test_a_page_on_this_machine_gets_a_token(browser: Browser, identity: Identity, role: str) -> None:
    async with browser(demo(identity)) as page:
        given = await page.post("/signin/api/demo", json={"role": role})
    assert (given.status_code, given.headers["Cache-Control"]) == (200, "no-store")
    assert identity.caller(given.json()["token"]) == ROLES[role]


@pytest.mark.parametrize("url", ["http://localhost:8321", "http://[::1]:8321"])
async def test_by_every_name_of_this_machine(browser: Browser, identity: Identity, url: str) -> None:
    async with browser(demo(identity), url=url) as page:
        given = await page.post("/signin/api/demo", json={"role": "user"})
    # httpx takes the host of the URL for the server's address, so that here it can be the name `localhost`.
    assert given.status_code == 200


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Origin": "https://evil.example"}, "cross_site"),
        ({"Origin": "null"}, "cross_site"),
        ({"Origin": ""}, "cross_site"),
        ({"Origin": "http://127.0.0.1:9999"}, "cross_site"),
        ({"Sec-Fetch-Site": "cross-site"}, "cross_site"),
        ({"Sec-Fetch-Site": "same-site"}, "cross_site"),
        ({"X-Forwarded-For": "203.0.113.7"}, "demo_sign_in_refused"),
        ({"Forwarded": "for=203.0.113.7"}, "demo_sign_in_refused"),
        ({"Via": "1.1 proxy"}, "demo_sign_in_refused"),
        ({"X-Real-IP": "203.0.113.7"}, "demo_sign_in_refused"),
    ],
)
async def test_what_another_site_or_a_proxy_sends_is_refused(
    browser: Browser, identity: Identity, headers: dict[str, str], code: str
) -> None:
    async with browser(demo(identity)) as page:
        refused = await page.post("/signin/api/demo", json={"role": "operator"}, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, code)
    assert "token" not in refused.json()


async def test_a_request_without_an_origin_is_refused(browser: Browser, identity: Identity) -> None:
    async with browser(demo(identity)) as page:
        del page.headers["Origin"]
        refused = await page.post("/signin/api/demo", json={"role": "operator"})
    assert (refused.status_code, refused.json()["code"]) == (403, "cross_site")


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        ('{"role": "operator"}', "text/plain"),
        ("role=operator", "application/x-www-form-urlencoded"),
        ('{"role": "operator"}', ""),
    ],
)
async def test_a_form_cannot_send_it(browser: Browser, identity: Identity, content: str, media_type: str) -> None:
    async with browser(demo(identity)) as page:
        refused = await page.post("/signin/api/demo", content=content, headers={"Content-Type": media_type})
    assert refused.status_code == 422


async def test_another_name_is_refused_even_where_the_server_answers_to_it(
    browser: Browser, identity: Identity
) -> None:
    async with browser(demo(identity), url="http://rebound.example:8321") as page:
        refused = await page.post("/signin/api/demo", json={"role": "operator"})
    assert (refused.status_code, refused.json()["code"]) == (403, "demo_sign_in_refused")


async def test_a_connection_from_elsewhere_is_refused(browser: Browser, identity: Identity) -> None:
    async with browser(demo(identity), client="203.0.113.7") as page:
        refused = await page.post("/signin/api/demo", json={"role": "operator"})
    assert (refused.status_code, refused.json()["code"]) == (403, "demo_sign_in_refused")


@pytest.mark.parametrize(("peer", "status"), [(ME, 200), (0, 200), (OTHER, 403), (None, 403)])
async def test_another_account_of_this_machine_is_refused(
    browser: Browser, identity: Identity, peer: int | None, status: int
) -> None:
    async with browser(demo(identity, peer)) as page:
        assert (await page.post("/signin/api/demo", json={"role": "user"})).status_code == status


async def test_where_accounts_are_not_told_apart_everybody_at_the_machine_may(
    browser: Browser, identity: Identity
) -> None:
    sign_in = SignIn(demo=DemoSignIn(identity, own_account=lambda: None, account_of=lambda *_: None))
    async with browser(sign_in) as page:
        assert (await page.post("/signin/api/demo", json={"role": "user"})).status_code == 200


async def test_a_server_beyond_this_machine_has_no_demo_user(browser: Browser) -> None:
    async with browser(SignIn()) as page:
        refused = await page.post("/signin/api/demo", json={"role": "operator"})
        site = (await page.get("/site.json")).json()
    assert (refused.status_code, site["sign_in"]) == (404, {"demo": False, "issuer": None})


async def test_the_site_says_what_there_is(browser: Browser, identity: Identity) -> None:
    async with browser(demo(identity)) as page:
        site = (await page.get("/site.json", headers={"Host": OWN.removeprefix("http://")})).json()
    assert site == {
        "services": [{"name": "toy", "title": "Toy", "page": None}],
        "sign_in": {"demo": True, "issuer": None},
    }
