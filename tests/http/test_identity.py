"""Tokens: the caller is whom the token names, and only tokens that this service signed are accepted."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any

import httpx
import jwt
import pytest

from partita.http import Caller, HttpProblem, Identity, Role, TokenKey, TokenPolicy
from partita.http.identity import _identity
from partita.http.identity._own_tokens import own_claims
from partita.http.identity._verified import VerifiedTokens
from partita.testing import FakeClock

pytestmark = pytest.mark.req("X03")

KEY = b"k" * 32
KEY_ID = TokenKey.of(KEY).key_id
NOW = 1_800_000_000
DAY = 86_400


@pytest.fixture
def clock(fake_clock: FakeClock) -> FakeClock:
    fake_clock.set(NOW)
    return fake_clock


@pytest.fixture
def identity(clock: FakeClock) -> Identity:
    return Identity(KEY, clock)


def signed(key: Any = KEY, algorithm: str = "HS256", key_id: Any = KEY_ID, **claims: Any) -> str:
    """Return a token like those of the service, with these values and claims; None omits a claim."""
    whole = {"sub": "ann", "jti": "t", "iat": NOW, "exp": NOW + DAY, **claims}
    given = {name: value for name, value in whole.items() if value is not None}
    return jwt.encode(given, key, algorithm, None if key_id is None else {"kid": key_id})


def text_of(document: str) -> str:
    return base64.urlsafe_b64encode(document.encode()).rstrip(b"=").decode()


def test_a_token_names_its_caller(identity: Identity) -> None:
    for caller in (Caller("ann"), Caller("bob", Role.OPERATOR)):
        assert identity.caller(identity.token(caller)) == caller


def test_a_token_without_a_role_is_a_users(identity: Identity) -> None:
    assert identity.caller(signed()) == Caller("ann", Role.USER)


REFUSED = {
    "another key": signed(key=b"x" * 32),
    "a key of another name": signed(key_id="other"),
    "no name of a key": signed(key_id=None),
    "another algorithm": signed(algorithm="HS512", key=b"k" * 64),
    "no signature": signed(key=None, algorithm="none"),
    "no expiry": signed(exp=None),
    "no time of issue": signed(iat=None),
    "no id": signed(jti=None),
    "issued later": signed(iat=NOW + 2),
    "a century": signed(exp=NOW + 36_500 * DAY),
    "more than a user's longest": signed(exp=NOW + 365 * DAY + 1),
    "more than an operator's longest": signed(role="operator", exp=NOW + 30 * DAY + 1),
    "no number": signed(exp=[]),
    "no end": signed(exp=float("inf")),
    "no user": signed(sub=None),
    "an empty user": signed(sub=""),
    "a long user": signed(sub="x" * 129),
    "half of a character": signed(sub="\ud800"),
    "half of a character in a name": signed(sub="ann\udfff"),
    "an unknown role": signed(role="king"),
    "no token at all": "nonsense",
    "a list for a header": f"{text_of('[]')}.e30.x",
    "a key that is not a name": text_of('{"kid": 1}') + ".e30.x",
    "a bottomless header": f"{text_of('[' * 9_000)}.e30.x",
    "more than anybody needs": signed(more="x" * 20_000),
}


@pytest.mark.parametrize("token", REFUSED.values(), ids=REFUSED)
def test_a_token_is_refused(token: str, identity: Identity) -> None:
    with pytest.raises(HttpProblem) as refused:
        identity.caller(token)
    assert (refused.value.status_code, refused.value.code) == (401, "unauthenticated")
    assert refused.value.detail == "The token is not valid."


def test_a_token_expires(identity: Identity, clock: FakeClock) -> None:
    token = identity.token(Caller("ann"), timedelta(hours=1))
    clock.advance(3_599)
    assert identity.caller(token) == Caller("ann")
    clock.advance(1)
    with pytest.raises(HttpProblem, match="expired"):
        identity.caller(token)


@pytest.mark.parametrize(("user_id", "reason"), [("", "1 to 128"), ("x" * 129, "1 to 128"), ("\ud800", "surrogate")])
def test_no_token_is_made_for_an_unusable_user(user_id: str, reason: str, identity: Identity) -> None:
    with pytest.raises(ValueError, match=reason):
        identity.token(Caller(user_id))


@pytest.mark.parametrize(("role", "default", "longest"), [(Role.USER, 30, 365), (Role.OPERATOR, 1, 30)])
def test_a_token_is_valid_for_a_bounded_time(role: Role, default: int, longest: int, identity: Identity) -> None:
    claims = identity.claims(identity.token(Caller("ann", role)))
    assert claims["exp"] - claims["iat"] == default * DAY
    assert identity.caller(identity.token(Caller("ann", role), timedelta(days=longest))).role is role
    with pytest.raises(ValueError, match=f"at most {longest} days"):
        identity.token(Caller("ann", role), timedelta(days=longest, seconds=1))


def test_every_token_has_an_id_and_the_name_of_its_key(identity: Identity) -> None:
    tokens = [identity.token(Caller("ann")) for _ in range(2)]
    assert {jwt.get_unverified_header(token)["kid"] for token in tokens} == {KEY_ID}
    assert len({identity.claims(token)["jti"] for token in tokens}) == 2


def test_tokens_of_two_keys_are_valid_and_the_first_signs(clock: FakeClock) -> None:
    old, new = TokenKey.of(b"o" * 32), TokenKey.of(b"n" * 32)
    before = Identity(lambda: TokenPolicy((old,)), clock).token(Caller("ann"))
    both = Identity(lambda: TokenPolicy((new, old)), clock)
    assert both.caller(before) == Caller("ann")
    after = both.token(Caller("ann"))
    assert jwt.get_unverified_header(after)["kid"] == new.key_id
    alone = Identity(lambda: TokenPolicy((new,)), clock)
    assert alone.caller(after) == Caller("ann")
    with pytest.raises(HttpProblem, match="not valid"):
        alone.caller(before)


def test_a_revoked_token_is_refused_and_no_other(clock: FakeClock) -> None:
    policy = TokenPolicy((TokenKey.of(KEY),))
    identity = Identity(lambda: policy, clock)
    stolen, other = identity.token(Caller("ann")), identity.token(Caller("ann"))
    policy = TokenPolicy(policy.keys, frozenset({identity.claims(stolen)["jti"]}))
    with pytest.raises(HttpProblem, match="revoked") as refused:
        identity.caller(stolen)
    assert (refused.value.status_code, refused.value.code) == (401, "unauthenticated")
    assert identity.caller(other) == Caller("ann")


def test_all_tokens_of_a_user_are_revoked_and_the_next_one_is_valid(clock: FakeClock) -> None:
    policy = TokenPolicy((TokenKey.of(KEY),))
    identity = Identity(lambda: policy, clock)
    stolen, bobs = identity.token(Caller("ann")), identity.token(Caller("bob"))
    policy = TokenPolicy(policy.keys, revoked_users={"ann": NOW + 1})
    with pytest.raises(HttpProblem, match="revoked"):
        identity.caller(stolen)
    assert identity.caller(bobs) == Caller("bob")
    assert identity.caller(identity.token(Caller("ann"))) == Caller("ann")  # in the second of the revocation


def test_a_signature_is_verified_once(identity: Identity, monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[str] = []

    def counting(token: str, secret: bytes) -> Any:
        verified.append(token)
        return own_claims(token, secret)

    monkeypatch.setattr(_identity, "own_claims", counting)
    tokens = [identity.token(Caller(user)) for user in ("ann", "bob")]
    assert [identity.caller(token).user_id for token in tokens * 3] == ["ann", "bob"] * 3
    assert verified == tokens


def test_a_token_that_was_verified_still_expires(identity: Identity, clock: FakeClock) -> None:
    token = identity.token(Caller("ann"), timedelta(seconds=5))
    assert identity.caller(token) == Caller("ann")
    clock.set(NOW + 5)
    with pytest.raises(HttpProblem, match="expired"):
        identity.caller(token)


def test_a_token_that_was_verified_is_refused_when_its_key_goes(clock: FakeClock) -> None:
    old, new = TokenKey.of(b"o" * 32), TokenKey.of(b"n" * 32)
    policy = TokenPolicy((old,))
    identity = Identity(lambda: policy, clock)
    token = identity.token(Caller("ann"))
    assert identity.caller(token) == Caller("ann")
    policy = TokenPolicy((new, old))
    assert identity.caller(token) == Caller("ann")
    policy = TokenPolicy((new,))
    with pytest.raises(HttpProblem, match="not valid"):
        identity.caller(token)


def test_as_many_tokens_are_remembered_as_fit() -> None:
    tokens, keys = VerifiedTokens(max_tokens=3), object()
    for place in range(10):
        tokens.remember(f"t{place}", keys, {"sub": place})
        assert tokens.claims(f"t{place}", keys) == {"sub": place}
    assert sum(tokens.claims(f"t{place}", keys) is not None for place in range(10)) <= 3
    tokens.remember("x" * 3_000, keys, {})
    assert tokens.claims("x" * 3_000, keys) is None


async def test_half_of_a_character_is_401_for_a_route(client: httpx.AsyncClient) -> None:
    response = await client.get("/toy/api/me", headers={"Authorization": "Bearer " + signed(sub="\ud800")})
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")


async def test_a_route_knows_its_caller_and_the_time(client: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    response = await client.get("/toy/api/me")
    assert response.json() == {"user_id": "ann", "role": "user", "now": int(fake_clock())}


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer nonsense", "Basic YW5uOmFubg=="])
async def test_without_a_valid_token_the_response_is_401(header: str, client: httpx.AsyncClient) -> None:
    response = await client.get("/toy/api/me", headers={"Authorization": header})
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert "partita token" in response.json()["hint"]
