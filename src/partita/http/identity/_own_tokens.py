"""Tokens as this installation writes them, read without looking at what they could have been instead.

PyJWT allows for every algorithm, every form of claims and every mistake, which takes longer than a request for an item.
A token that has exactly the header and the claims that `Identity.token` writes needs one HMAC. Any other is left to
PyJWT, which says what is wrong with it.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from functools import lru_cache
from typing import Any, Final

import msgspec

_DOTS: Final = 2
_HEADER: Final = {"alg", "typ", "kid"}
_CLAIMS: Final = {"jti", "sub", "role", "iat", "exp"}


def own_claims(token: str, secret: bytes) -> dict[str, Any] | None:
    """What a token says that the secret has signed; None where it is not of the usual form, or not signed with it."""
    signed, _, signature = token.rpartition(".")
    header, _, payload = signed.partition(".")
    if not token.isascii() or token.count(".") != _DOTS or not _is_usual(header):
        return None
    signing = _keyed(secret).copy()
    signing.update(signed.encode())
    expected = base64.urlsafe_b64encode(signing.digest()).rstrip(b"=")
    if not hmac.compare_digest(expected, signature.encode()):
        return None
    claims = _object(payload)
    is_usual = claims.keys() == _CLAIMS and all(isinstance(claims[name], str) for name in ("jti", "sub"))
    return claims if is_usual else None


@lru_cache(maxsize=4)  # an installation has two keys at most
def _keyed(secret: bytes) -> hmac.HMAC:
    """A signature that has its key and no text yet: to begin with the key takes longer than all the rest."""
    return hmac.new(secret, digestmod="sha256")


@lru_cache(maxsize=64)  # all tokens of a key have the same header
def _is_usual(header: str) -> bool:
    found = _object(header)
    return found.keys() == _HEADER and (found["alg"], found["typ"]) == ("HS256", "JWT")


def _object(part: str) -> dict[str, Any]:
    """A part of a token; empty where it is not an object in JSON."""
    try:
        found = msgspec.json.decode(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, msgspec.DecodeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
