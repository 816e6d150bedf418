"""Tokens of an OpenID Connect issuer, with a small one that runs on this machine."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.http.toy import TOY

from partita import AsyncSession
from partita.app import build_app
from partita.errors import OperationError
from partita.http import AppState, Caller, HttpProblem, Issuer, Role

pytestmark = pytest.mark.req("X03")

RSA = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
EC = ec.generate_private_key(ec.SECP256R1())
STRANGER = ec.generate_private_key(ec.SECP256R1())


class LocalIssuer:
    """An issuer that publishes its keys over HTTP, and signs what it is asked to."""

    def __init__(self) -> None:
        self.published: dict[str, Any] = {"ec": EC}
        self.named: str | None = None
        """The issuer that its configuration names; None for the right one."""
        self.asked: list[str] = []
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                body = json.dumps(issuer.document(self.path)).encode()
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/realm"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def document(self, path: str) -> Any:
        if path == "/realm/.well-known/openid-configuration":
            return {"issuer": self.named or self.url, "jwks_uri": f"{self.url}/keys"}
        return {"keys": [jwk(kid, key) for kid, key in self.published.items()]}

    def token(self, kid: str = "ec", key: Any = EC, algorithm: str = "ES256", **claims: Any) -> str:
        whole = {"iss": self.url, "sub": "ann", "exp": int(time.time()) + 3_600, **claims}
        given = {name: value for name, value in whole.items() if value is not None}
        return jwt.encode(given, key, algorithm, {"kid": kid})

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def jwk(kid: str, key: Any) -> dict[str, Any]:
    kind = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
    return {**kind.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig", "alg": algorithm}


@pytest.fixture
def local() -> Iterator[LocalIssuer]:
    issuer = LocalIssuer()
    yield issuer
    issuer.close()


@pytest.fixture
def issuer(local: LocalIssuer) -> Issuer:
    return Issuer(local.url)


def test_a_token_names_its_caller(local: LocalIssuer, issuer: Issuer) -> None:
    local.published["rsa"] = RSA
    assert issuer.caller(local.token()) == Caller("ann", Role.USER)
    assert issuer.caller(local.token("rsa", RSA, "RS256", sub="bob", role="operator")) == Caller("bob", Role.OPERATOR)


def test_its_keys_are_fetched_once(local: LocalIssuer, issuer: Issuer) -> None:
    for _ in range(3):
        issuer.caller(local.token())
    assert local.asked == ["/realm/.well-known/openid-configuration", "/realm/keys"]


def test_a_stranger_cannot_make_it_fetch_again_and_again(local: LocalIssuer, issuer: Issuer) -> None:
    for kid in ("a", "b", "c"):
        with pytest.raises(HttpProblem):
            issuer.caller(local.token(kid, STRANGER))
    assert local.asked.count("/realm/keys") == 1


def test_a_new_key_is_found_after_a_while(local: LocalIssuer, issuer: Issuer) -> None:
    issuer.caller(local.token())
    local.published = {"new": RSA}
    issuer._published().cooldown_duration = 0
    assert issuer.caller(local.token("new", RSA, "RS256")).user_id == "ann"


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
}


@pytest.mark.parametrize("wrong", REFUSED.values(), ids=REFUSED)
def test_a_token_is_refused(local: LocalIssuer, issuer: Issuer, wrong: dict[str, Any]) -> None:
    with pytest.raises(HttpProblem) as refused:
        issuer.caller(local.token(**wrong))
    assert (refused.value.status_code, refused.value.detail) == (401, "The token is not valid.")
    assert local.url in (refused.value.hint or "")


def test_an_expired_token_is_refused_as_such(local: LocalIssuer, issuer: Issuer) -> None:
    with pytest.raises(HttpProblem, match="expired"):
        issuer.caller(local.token(exp=1_000))


def test_what_is_no_token_is_refused(issuer: Issuer) -> None:
    with pytest.raises(HttpProblem, match="not valid"):
        issuer.caller("nonsense")


def test_an_audience_must_be_named_where_one_is_asked_for(local: LocalIssuer) -> None:
    strict = Issuer(local.url, audience="partita")
    assert strict.caller(local.token(aud=["partita", "other"])).user_id == "ann"
    for claims in ({"aud": "other"}, {}):
        with pytest.raises(HttpProblem, match="not valid"):
            strict.caller(local.token(**claims))


def test_an_issuer_that_does_not_respond_is_no_fault_of_the_token(local: LocalIssuer) -> None:
    token = local.token()
    gone = Issuer("http://127.0.0.1:9/realm")
    with pytest.raises(HttpProblem) as refused:
        gone.caller(token)
    assert (refused.value.status_code, refused.value.code) == (503, "issuer_unavailable")


def test_keys_that_cannot_be_fetched_are_no_fault_of_the_token(local: LocalIssuer, issuer: Issuer) -> None:
    issuer._keys = jwt.PyJWKClient("http://127.0.0.1:9/keys")
    with pytest.raises(HttpProblem) as refused:
        issuer.caller(local.token())
    assert (refused.value.status_code, refused.value.code) == (503, "issuer_unavailable")


def test_a_configuration_of_another_issuer_is_not_trusted(local: LocalIssuer, issuer: Issuer) -> None:
    local.named = "https://elsewhere.example"
    with pytest.raises(HttpProblem) as refused:
        issuer.caller(local.token())
    assert refused.value.status_code == 503


@pytest.mark.parametrize("url", ["http://issuer.example", "ftp://127.0.0.1", "issuer.example", ""])
def test_an_address_that_others_could_read_is_refused(url: str) -> None:
    with pytest.raises(OperationError, match="cannot be trusted"):
        Issuer(url)


@pytest.mark.parametrize("url", ["https://issuer.example/realm", "http://localhost:80", "http://[::1]:80/x"])
def test_https_and_this_machine_are_trusted(url: str) -> None:
    assert Issuer(url).url == url


async def test_routes_take_its_tokens(local: LocalIssuer, session: AsyncSession) -> None:
    transport = httpx.ASGITransport(build_app([TOY], AppState(session, Issuer(local.url))))
    async with httpx.AsyncClient(transport=transport, base_url="http://test/toy/api") as client:
        known = await client.get("/me", headers={"Authorization": f"Bearer {local.token()}"})
        unknown = await client.get("/me")
    assert known.json()["user_id"] == "ann"
    assert (unknown.status_code, local.url in unknown.json()["hint"]) == (401, True)
