"""Tokens: who is calling is what the token says, and only if we signed it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import jwt
import pytest

from partita.http import Caller, HttpProblem, Identity, Role
from partita.testing import FakeClock

pytestmark = pytest.mark.req("X03")

FAR = 10**11


def signed(claims: dict[str, Any], key: Any = b"k" * 32, algorithm: str = "HS256") -> str:
    return jwt.encode(claims, key, algorithm)


def test_a_token_names_its_caller(identity: Identity) -> None:
    for caller in (Caller("ann"), Caller("bob", Role.OPERATOR)):
        assert identity.caller(identity.token(caller)) == caller


def test_a_token_without_a_role_is_a_users(identity: Identity) -> None:
    assert identity.caller(signed({"sub": "ann", "exp": FAR})) == Caller("ann", Role.USER)


REFUSED = {
    "another key": signed({"sub": "ann", "exp": FAR}, key=b"x" * 32),
    "another algorithm": signed({"sub": "ann", "exp": FAR}, algorithm="HS512", key=b"k" * 64),
    "no signature": signed({"sub": "ann", "exp": FAR}, key=None, algorithm="none"),
    "no expiry": signed({"sub": "ann"}),
    "no user": signed({"exp": FAR}),
    "an empty user": signed({"sub": "", "exp": FAR}),
    "a long user": signed({"sub": "x" * 129, "exp": FAR}),
    "an unknown role": signed({"sub": "ann", "exp": FAR, "role": "king"}),
    "no token at all": "nonsense",
}


@pytest.mark.parametrize("token", REFUSED.values(), ids=REFUSED)
def test_a_token_is_refused(token: str, identity: Identity) -> None:
    with pytest.raises(HttpProblem) as refused:
        identity.caller(token)
    assert (refused.value.status_code, refused.value.code) == (401, "unauthenticated")


def test_a_token_expires(fake_clock: FakeClock) -> None:
    fake_clock.set(0)
    long_ago = Identity(b"k" * 32, fake_clock)
    with pytest.raises(HttpProblem, match="expired"):
        long_ago.caller(long_ago.token(Caller("ann"), timedelta(hours=1)))


@pytest.mark.parametrize("user_id", ["", "x" * 129])
def test_no_token_is_made_for_an_unusable_user(user_id: str, identity: Identity) -> None:
    with pytest.raises(ValueError, match="1 to 128 characters"):
        identity.token(Caller(user_id))


async def test_a_route_knows_its_caller_and_the_time(client: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    response = await client.get("/toy/api/me")
    assert response.json() == {"user_id": "ann", "role": "user", "now": int(fake_clock())}


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer nonsense", "Basic YW5uOmFubg=="])
async def test_without_a_valid_token_the_response_is_401(header: str, client: httpx.AsyncClient) -> None:
    response = await client.get("/toy/api/me", headers={"Authorization": header})
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert "partita token" in response.json()["hint"]
