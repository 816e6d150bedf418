"""Signing in with an identity provider: the authorization code flow with PKCE, against a small local provider."""

from __future__ import annotations

import base64
import hashlib
import time
from typing import Any

import httpx
import pytest
from tests.app.signin.conftest import OWN, Browser
from tests.app.signin.provider import AUDIENCE, CLIENT, Provider

from partita.app.signin import IssuerClient, SignIn
from partita.http import Caller, Issuer, Role

pytestmark = pytest.mark.req("X16")

VERIFIER, NONCE, STATE = "v" * 43, "n" * 43, "s" * 43
BACK = f"{OWN}/signin/"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def client_of(provider: Provider, **given: Any) -> IssuerClient:
    issuer = Issuer(provider.url, audience=given.pop("audience", AUDIENCE))
    return IssuerClient(issuer, CLIENT, **{"clock": time.monotonic, **given})


def code_of(provider: Provider, *, verifier: str = VERIFIER, redirect_uri: str = BACK) -> str:
    """Return the code that the provider issues to a browser."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    asked = {"redirect_uri": redirect_uri, "state": STATE, "nonce": NONCE, "code_challenge": challenge}
    return httpx.URL(provider.authorize(asked)).params["code"]


async def exchanged(browser: Browser, client: IssuerClient, code: str, **given: str) -> httpx.Response:
    async with browser(SignIn(client=client), client.issuer) as page:
        data = {"code": code, "code_verifier": VERIFIER, "nonce": NONCE, **given}
        return await page.post("/signin/api/token", json=data)


async def test_the_page_learns_where_to_sign_in(browser: Browser, provider: Provider) -> None:
    client = client_of(provider)
    async with browser(SignIn(client=client), client.issuer) as page:
        assert (await page.get("/site.json")).json()["sign_in"] == {"demo": False, "issuer": "127.0.0.1"}
        shown = (await page.get("/signin/api/issuer")).json()
    assert shown == {"authorize": f"{provider.url}/authorize", "client_id": CLIENT, "scope": "openid"}


async def test_a_code_becomes_a_token_that_the_services_take(browser: Browser, provider: Provider) -> None:
    provider.claims = {"role": "operator"}
    client = client_of(provider)
    given = await exchanged(browser, client, code_of(provider))
    assert (given.status_code, given.headers["Cache-Control"]) == (200, "no-store")
    assert client.issuer.caller(given.json()["token"]) == Caller("ann", Role.OPERATOR)
    form = {"grant_type": "authorization_code", "code": "code-0", "redirect_uri": BACK, "client_id": CLIENT}
    assert provider.forms == [{**form, "code_verifier": VERIFIER}]
    assert provider.authorization == [None]


async def test_a_client_with_a_secret_says_it(browser: Browser, provider: Provider) -> None:
    await exchanged(browser, client_of(provider, secret="s&cret"), code_of(provider))
    assert provider.authorization == [f"Basic {base64.b64encode(b'partita-pages:s%26cret').decode()}"]


async def test_the_identity_token_serves_where_it_is_meant_for_us(browser: Browser, provider: Provider) -> None:
    provider.audience = "another service"
    client = client_of(provider, audience=CLIENT)
    given = await exchanged(browser, client, code_of(provider))
    assert client.issuer.caller(given.json()["token"]) == Caller("ann")


async def test_a_token_for_another_service_is_refused(browser: Browser, provider: Provider) -> None:
    provider.audience = "another service"
    assert (await exchanged(browser, client_of(provider), code_of(provider))).status_code == 401


async def test_a_stolen_code_is_worth_nothing_without_its_verifier(browser: Browser, provider: Provider) -> None:
    code = code_of(provider)
    stolen = await exchanged(browser, client_of(provider), code, code_verifier="x" * 43)
    assert (stolen.status_code, stolen.json()["code"]) == (401, "sign_in_failed")


async def test_a_code_is_taken_once(browser: Browser, provider: Provider) -> None:
    code, client = code_of(provider), client_of(provider)
    statuses = [(await exchanged(browser, client, code)).status_code for _ in range(2)]
    assert statuses == [200, 401]


async def test_a_token_of_another_sign_in_is_refused(browser: Browser, provider: Provider) -> None:
    provider.nonce = "of another sign-in"
    refused = await exchanged(browser, client_of(provider), code_of(provider))
    assert (refused.status_code, refused.json()["code"]) == (401, "sign_in_failed")


async def test_a_code_that_was_made_for_another_address_is_refused(browser: Browser, provider: Provider) -> None:
    code = code_of(provider, redirect_uri="https://evil.example/signin/")
    assert (await exchanged(browser, client_of(provider), code)).status_code == 401


@pytest.mark.parametrize("origin", ["https://evil.example", "null", ""])
async def test_another_site_cannot_exchange(browser: Browser, provider: Provider, origin: str) -> None:
    client = client_of(provider)
    async with browser(SignIn(client=client), client.issuer) as page:
        data = {"code": code_of(provider), "code_verifier": VERIFIER, "nonce": NONCE}
        refused = await page.post("/signin/api/token", json=data, headers={"Origin": origin})
    assert (refused.status_code, refused.json()["code"], provider.forms) == (403, "cross_site", [])


async def test_a_provider_that_is_away_is_503(browser: Browser, provider: Provider) -> None:
    provider.fails = True
    client = client_of(provider)
    async with browser(SignIn(client=client), client.issuer) as page:
        refused = await page.get("/signin/api/issuer")
    assert (refused.status_code, refused.json()["code"]) == (503, "issuer_unavailable")
    assert refused.headers["Retry-After"] == "5"


async def test_its_addresses_are_asked_for_now_and_then(provider: Provider) -> None:
    clock = Clock()
    client = client_of(provider, clock=clock)
    for now in (0, 10, 299, 301):
        clock.now = now
        client.endpoints()
    assert len(provider.asked) == 2


async def test_without_a_provider_there_is_nothing_to_exchange(browser: Browser) -> None:
    async with browser(SignIn()) as page:
        data = {"code": "c", "code_verifier": VERIFIER, "nonce": NONCE}
        statuses = [
            (await page.get("/signin/api/issuer")).status_code,
            (await page.post("/signin/api/token", json=data)).status_code,
        ]
    assert statuses == [404, 404]
