"""Tokens of an OpenID Connect issuer, against a small issuer on this machine."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from tests.http.toy import TOY

from partita import AsyncSession
from partita.app import build_app
from partita.errors import OperationError
from partita.http import AppState, Caller, HttpProblem, Issuer, Role
from partita.http.identity import _published_keys
from partita.http.identity._published_keys import (
    COOLDOWN_SECONDS,
    FRESH_SECONDS,
    MAX_BYTES,
    MAX_WAITING,
    RETRY_SECONDS,
    USABLE_SECONDS,
)
from partita.testing import FakeClock

pytestmark = pytest.mark.req("X03")

RSA = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
EC = ec.generate_private_key(ec.SECP256R1())
STRANGER = ec.generate_private_key(ec.SECP256R1())
AUDIENCE = "partita"
CONFIGURATION, KEYS = "/realm/.well-known/openid-configuration", "/realm/keys"


class LocalIssuer:
    """An issuer that publishes its keys over HTTP, and signs any token that a test asks for."""

    def __init__(self) -> None:
        self.published: dict[str, Any] = {"ec": EC}
        self.named: str | None = None
        """The issuer that its configuration names; None for its own address."""
        self.asked: list[str] = []
        self.fails = False
        self.moved = ""
        self.open = threading.Event()
        """While this event is not set, the issuer accepts requests but does not respond."""
        self.open.set()
        self.was_asked = threading.Event()
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                issuer.was_asked.set()
                issuer.open.wait()
                body = json.dumps(issuer.document(self.path)).encode()
                self.send_response(302 if issuer.moved else 500 if issuer.fails else 200)
                self.send_header("Location", issuer.moved or "")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in http.server
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/realm"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def document(self, path: str) -> Any:
        if path == CONFIGURATION:
            return {"issuer": self.named or self.url, "jwks_uri": f"{self.url}/keys"}
        return {"keys": [jwk(kid, key) for kid, key in self.published.items()]}

    def token(self, kid: Any = "ec", key: Any = EC, algorithm: str = "ES256", **claims: Any) -> str:
        whole = {"iss": self.url, "aud": AUDIENCE, "sub": "ann", "exp": int(time.time()) + 3_600, **claims}
        given = {name: value for name, value in whole.items() if value is not None}
        return jwt.encode(given, key, algorithm, None if kid is None else {"kid": kid})

    def close(self) -> None:
        self.open.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def jwk(kid: str, key: Any) -> dict[str, Any]:
    named = {"kid": kid, "use": "sig"}
    if isinstance(key, rsa.RSAPrivateKey):
        return {**RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), **named, "alg": "RS256"}
    return {**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), **named, "alg": "ES256"}


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalIssuer]:
    monkeypatch.setattr(_published_keys, "TIMEOUT_SECONDS", 600)  # a slow machine must not look like a hanging issuer
    issuer = LocalIssuer()
    yield issuer
    issuer.close()


@pytest.fixture
def issuer(local: LocalIssuer, fake_clock: FakeClock) -> Issuer:
    return Issuer(local.url, audience=AUDIENCE, clock=fake_clock)


def test_a_token_names_its_caller(local: LocalIssuer, issuer: Issuer) -> None:
    local.published["rsa"] = RSA
    assert issuer.caller(local.token()) == Caller("ann", Role.USER)
    assert issuer.caller(local.token("rsa", RSA, "RS256", sub="bob", role="operator")) == Caller("bob", Role.OPERATOR)


def test_its_keys_are_fetched_once(local: LocalIssuer, issuer: Issuer) -> None:
    for _ in range(3):
        issuer.caller(local.token())
    assert local.asked == [CONFIGURATION, KEYS]


def test_a_token_that_was_verified_is_known_until_it_expires_or_its_keys_are_old(
    local: LocalIssuer, issuer: Issuer, fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = local.token()
    assert issuer.known(token) is None
    assert issuer.caller(token) == issuer.known(token) == Caller("ann")
    assert issuer.known(local.token(sub="bob")) is None
    now = time.time()
    with monkeypatch.context() as later:
        later.setattr(time, "time", lambda: now + 3_600 + 31)
        assert issuer.known(token) is None
    fake_clock.advance(FRESH_SECONDS)
    assert issuer.known(token) is None


def test_a_token_is_no_longer_known_when_its_key_is_withdrawn(
    local: LocalIssuer, issuer: Issuer, fake_clock: FakeClock
) -> None:
    token = local.token()
    issuer.caller(token)
    local.published = {"rsa": RSA}
    fake_clock.advance(FRESH_SECONDS)
    issuer.caller(local.token("rsa", RSA, "RS256"))
    assert issuer.known(token) is None
    with pytest.raises(HttpProblem, match="not valid"):
        issuer.caller(token)


def test_a_stranger_cannot_make_it_fetch_again_and_again(local: LocalIssuer, issuer: Issuer) -> None:
    for kid in ("a", "b", "c"):
        with pytest.raises(HttpProblem):
            issuer.caller(local.token(kid, STRANGER))
    assert local.asked.count(KEYS) == 1


def test_a_new_key_is_found_after_a_while(local: LocalIssuer, issuer: Issuer, fake_clock: FakeClock) -> None:
    issuer.caller(local.token())
    local.published = {"new": RSA}
    with pytest.raises(HttpProblem, match="not valid"):
        issuer.caller(local.token("new", RSA, "RS256"))
    fake_clock.advance(COOLDOWN_SECONDS)
    assert issuer.caller(local.token("new", RSA, "RS256")).user_id == "ann"
    assert local.asked == [CONFIGURATION, KEYS, KEYS]


def test_a_key_that_is_no_longer_published_ends(local: LocalIssuer, issuer: Issuer, fake_clock: FakeClock) -> None:
    issuer.caller(local.token())
    local.published = {"new": RSA}
    fake_clock.advance(FRESH_SECONDS)
    with pytest.raises(HttpProblem, match="not valid"):
        issuer.caller(local.token())


SECRET_FROM_PUBLIC_KEY = EC.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

REFUSED: dict[str, dict[str, Any]] = {
    "another key": {"key": STRANGER},
    "an unknown key": {"kid": "other"},
    "no signature": {"key": None, "algorithm": "none"},
    "a secret made of the public key": {"key": SECRET_FROM_PUBLIC_KEY, "algorithm": "HS256"},
    "another issuer": {"iss": "https://elsewhere.example"},
    "no issuer": {"iss": None},
    "no expiry": {"exp": None},
    "no user": {"sub": None},
    "a long user": {"sub": "x" * 129},
    "an unknown role": {"role": "king"},
    "not yet": {"nbf": 10**11},
    "half of a character": {"sub": "\ud800"},
}
WITHOUT_A_FETCH: dict[str, dict[str, Any]] = {
    **{name: wrong for name, wrong in REFUSED.items() if name not in ("another key", "an unknown key")},
    "another audience": {"aud": "other"},
    "no audience": {"aud": None},
    "no name of a key": {"kid": None},
    "a user that is not a text": {"sub": 7},
    "an expiry that is not a number": {"exp": []},
    "an endless expiry": {"exp": float("inf")},
    "more than anybody needs": {"more": "x" * 20_000},
}


@pytest.mark.parametrize("wrong", REFUSED.values(), ids=REFUSED)
def test_a_token_is_refused(local: LocalIssuer, issuer: Issuer, wrong: dict[str, Any]) -> None:
    with pytest.raises(HttpProblem) as problem:
        issuer.caller(local.token(**wrong))
    assert (problem.value.status_code, problem.value.detail) == (401, "The token is not valid.")
    assert local.url in (problem.value.hint or "")


def test_an_expired_token_is_refused_as_such(local: LocalIssuer, issuer: Issuer) -> None:
    with pytest.raises(HttpProblem, match="expired"):
        issuer.caller(local.token(exp=1_000))


@pytest.mark.parametrize("text", ["nonsense", "a.b.c", "", ".".join(["W1tb" * 3_000] * 3)])
def test_what_is_no_token_is_refused(text: str, local: LocalIssuer, issuer: Issuer) -> None:
    with pytest.raises(HttpProblem, match="not valid"):
        issuer.caller(text)
    assert local.asked == []


@pytest.mark.parametrize("wrong", WITHOUT_A_FETCH.values(), ids=WITHOUT_A_FETCH)
def test_the_issuer_is_not_asked_about_what_cannot_be_valid(
    local: LocalIssuer, issuer: Issuer, wrong: dict[str, Any]
) -> None:
    with pytest.raises(HttpProblem, match="not valid"):
        issuer.caller(local.token(**wrong))
    with pytest.raises(HttpProblem, match="expired"):
        issuer.caller(local.token(exp=1_000))
    assert local.asked == []


def test_a_token_for_another_client_is_taken_only_where_that_was_said(local: LocalIssuer) -> None:
    for_all = Issuer(local.url, any_audience=True)
    assert for_all.caller(local.token(aud=["other"])).user_id == "ann"
    assert for_all.caller(local.token(aud=None)).user_id == "ann"


def test_one_of_several_audiences_will_do(local: LocalIssuer, issuer: Issuer) -> None:
    assert issuer.caller(local.token(aud=["other", AUDIENCE])).user_id == "ann"


@pytest.mark.parametrize("said", [{}, {"audience": ""}, {"audience": AUDIENCE, "any_audience": True}])
def test_it_must_be_said_whom_tokens_are_for(said: dict[str, Any]) -> None:
    with pytest.raises(OperationError, match="which are for this one"):
        Issuer("https://issuer.example", **said)


def refused(issuer: Issuer, token: str) -> tuple[int, str]:
    with pytest.raises(HttpProblem) as problem:
        issuer.caller(token)
    return problem.value.status_code, problem.value.code


@contextmanager
def a_thread_that_waits_for(local: LocalIssuer, issuer: Issuer, token: str) -> Iterator[Future[Caller]]:
    """Yield a call in a thread that fetches keys; the issuer does not respond until the block ends."""
    local.was_asked.clear()
    local.open.clear()
    with ThreadPoolExecutor(1) as pool:
        try:
            call = pool.submit(issuer.caller, token)
            assert local.was_asked.wait(60)
            yield call
        finally:
            local.open.set()


def test_while_the_issuer_hangs_what_is_no_token_is_refused_at_once(local: LocalIssuer, issuer: Issuer) -> None:
    with a_thread_that_waits_for(local, issuer, local.token()) as call:
        assert [refused(issuer, "nonsense") for _ in range(45)] == [(401, "unauthenticated")] * 45
        assert refused(issuer, local.token(iss="https://elsewhere.example")) == (401, "unauthenticated")
        assert not call.done()
    assert call.result().user_id == "ann"


def test_while_old_keys_are_fetched_again_they_are_used(
    local: LocalIssuer, issuer: Issuer, fake_clock: FakeClock
) -> None:
    issuer.caller(local.token())
    fake_clock.advance(FRESH_SECONDS)
    with a_thread_that_waits_for(local, issuer, local.token()) as call:
        assert issuer.caller(local.token(sub="bob")).user_id == "bob"
        assert not call.done()
    assert local.asked == [CONFIGURATION, KEYS, KEYS]


def test_only_a_few_wait_for_the_fetch_of_another(local: LocalIssuer, issuer: Issuer) -> None:
    with a_thread_that_waits_for(local, issuer, local.token()):
        for _ in range(MAX_WAITING):
            assert issuer._keys._waiting.acquire(blocking=False)
        assert refused(issuer, local.token()) == (503, "issuer_unavailable")


def test_who_waits_has_the_keys_of_the_one_fetch(local: LocalIssuer, issuer: Issuer) -> None:
    with ThreadPoolExecutor(MAX_WAITING) as others:
        with a_thread_that_waits_for(local, issuer, local.token()) as first:
            calls = [others.submit(issuer.caller, local.token()) for _ in range(MAX_WAITING)]
        assert {call.result().user_id for call in (first, *calls)} == {"ann"}
    assert local.asked == [CONFIGURATION, KEYS]


def test_an_issuer_that_does_not_respond_is_no_fault_of_the_token(local: LocalIssuer) -> None:
    gone = Issuer("http://127.0.0.1:9/realm", audience=AUDIENCE)
    assert refused(gone, local.token(iss=gone.url)) == (503, "issuer_unavailable")


def test_after_a_failure_the_issuer_is_left_alone_for_a_while(
    local: LocalIssuer, issuer: Issuer, fake_clock: FakeClock
) -> None:
    local.fails = True
    assert [refused(issuer, local.token()) for _ in range(3)] == [(503, "issuer_unavailable")] * 3
    assert local.asked == [CONFIGURATION]
    local.fails = False
    fake_clock.advance(RETRY_SECONDS)
    assert issuer.caller(local.token()).user_id == "ann"


def test_known_keys_are_used_for_a_while_when_the_issuer_is_away(
    local: LocalIssuer, issuer: Issuer, fake_clock: FakeClock
) -> None:
    issuer.caller(local.token())
    local.fails = True
    fake_clock.advance(FRESH_SECONDS)
    assert issuer.caller(local.token()).user_id == "ann"
    assert refused(issuer, local.token("unknown")) == (503, "issuer_unavailable")
    fake_clock.advance(USABLE_SECONDS - FRESH_SECONDS)
    assert refused(issuer, local.token()) == (503, "issuer_unavailable")


DOCUMENTS: dict[str, Any] = {
    "nothing": None,
    "a list": [],
    "no keys": {"keys": []},
    "no key to sign with": {"keys": [{"kty": "RSA"}]},
    "too much": {"keys": [], "more": "x" * MAX_BYTES},
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_keys_that_cannot_be_read_are_no_fault_of_the_token(
    local: LocalIssuer, issuer: Issuer, document: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = local.document(CONFIGURATION)
    monkeypatch.setattr(local, "document", lambda path: found if path == CONFIGURATION else document)
    assert refused(issuer, local.token()) == (503, "issuer_unavailable")


def test_a_configuration_of_another_issuer_is_not_trusted(local: LocalIssuer, issuer: Issuer) -> None:
    local.named = "https://elsewhere.example"
    assert refused(issuer, local.token()) == (503, "issuer_unavailable")


def test_a_redirect_is_not_followed(local: LocalIssuer, issuer: Issuer) -> None:
    local.moved = f"{local.url}/keys"
    assert refused(issuer, local.token()) == (503, "issuer_unavailable")
    assert local.asked == [CONFIGURATION]


@pytest.mark.parametrize("url", ["http://issuer.example", "ftp://127.0.0.1", "issuer.example", ""])
def test_an_address_that_others_could_read_is_refused(url: str) -> None:
    with pytest.raises(OperationError, match="cannot be trusted"):
        Issuer(url, audience=AUDIENCE)


@pytest.mark.parametrize("url", ["https://issuer.example/realm", "http://localhost:80", "http://[::1]:80/x"])
def test_https_and_this_machine_are_trusted(url: str) -> None:
    assert Issuer(url, audience=AUDIENCE).url == url


async def test_routes_take_its_tokens(local: LocalIssuer, session: AsyncSession) -> None:
    transport = httpx.ASGITransport(build_app([TOY], AppState(session, Issuer(local.url, audience=AUDIENCE))))
    async with httpx.AsyncClient(transport=transport, base_url="http://test/toy/api") as client:
        known = await client.get("/me", headers={"Authorization": f"Bearer {local.token()}"})
        unknown = await client.get("/me")
    assert known.json()["user_id"] == "ann"
    assert (unknown.status_code, local.url in unknown.json()["hint"]) == (401, True)
