"""The parser for the service's own tokens agrees with PyJWT, and leaves all other tokens to PyJWT."""

from __future__ import annotations

import base64
from typing import Any

import jwt
import pytest

from partita.http import Caller, Identity, TokenKey
from partita.http.identity._own_tokens import own_claims

pytestmark = pytest.mark.req("X03")

KEY = b"k" * 32
CLAIMS = {"jti": "t", "sub": "ann", "role": "user", "iat": 1_800_000_000, "exp": 1_800_000_100}
HEADER = {"kid": TokenKey.of(KEY).key_id}


def test_what_is_written_is_read_without_pyjwt(monkeypatch: pytest.MonkeyPatch) -> None:
    identity = Identity(KEY)
    token = identity.token(Caller("ann"))
    expected = jwt.decode(token, KEY, ["HS256"])

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("PyJWT was asked")

    monkeypatch.setattr(jwt, "decode_complete", refuse)
    assert identity.claims(token) == expected
    assert identity.caller(token) == Caller("ann")


@pytest.mark.parametrize("length", [32, 63, 64, 65, 200])
def test_a_key_of_any_length_signs_as_elsewhere(length: int) -> None:
    token = jwt.encode(CLAIMS, bytes(range(length)), "HS256", {"kid": "k"})
    assert own_claims(token, bytes(range(length))) == CLAIMS
    assert own_claims(token, bytes(range(1, length + 1))) is None


OTHERS: dict[str, str] = {
    "another key": jwt.encode(CLAIMS, b"x" * 32, "HS256", HEADER),
    "another algorithm": jwt.encode(CLAIMS, b"k" * 64, "HS512", HEADER),
    "no algorithm": jwt.encode(CLAIMS, "", "none", HEADER),
    "more in the header": jwt.encode(CLAIMS, KEY, "HS256", {**HEADER, "crit": ["b64"], "b64": True}),
    "a claim too few": jwt.encode({**CLAIMS} | {"role": None}, KEY, "HS256", {}),
    "a claim too many": jwt.encode({**CLAIMS, "nbf": 1_900_000_000}, KEY, "HS256", HEADER),
    "an id that is not text": jwt.encode({**CLAIMS, "jti": "1"} | {"jti": 1}, b"y" * 32, "HS256", HEADER),
    "nothing": "",
    "no dots": "abc",
    "three dots": "a.b.c.d",
    "not base64": "%.%.%",
    "not ASCII": "ä.ö.ü",
    "half of a character": "\ud800.a.b",
}


@pytest.mark.parametrize("token", OTHERS.values(), ids=OTHERS)
def test_any_other_is_left_to_pyjwt(token: str) -> None:
    assert own_claims(token, KEY) is None


def test_no_character_of_a_token_may_be_another() -> None:
    token = jwt.encode(CLAIMS, KEY, "HS256", HEADER)
    assert own_claims(token, KEY) == CLAIMS
    for place, character in enumerate(token):
        other = "A" if character != "A" else "B"
        assert own_claims(token[:place] + other + token[place + 1 :], KEY) is None, place


@pytest.mark.parametrize("payload", [b"[]", b"1", b"{", b'{"sub": "\xff"}', b"\xff"])
def test_what_is_signed_but_is_not_an_object_is_left_to_pyjwt(payload: bytes) -> None:
    token = jwt.api_jws.encode(payload, KEY, "HS256", {**HEADER, "typ": "JWT"})
    assert own_claims(token, KEY) is None


def test_a_signature_in_another_form_is_left_to_pyjwt() -> None:
    token = jwt.encode(CLAIMS, KEY, "HS256", HEADER)
    signed, _, signature = token.rpartition(".")
    padded = base64.urlsafe_b64encode(base64.urlsafe_b64decode(signature + "=")).decode()
    forms: list[Any] = [f"{signed}.{padded}", f"{signed}.{signature} ", f"{signed}. {signature}"]
    assert [own_claims(form, KEY) for form in forms] == [None] * 3
