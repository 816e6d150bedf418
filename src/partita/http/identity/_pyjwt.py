"""PyJWT, imported with the first token that needs it: with `cryptography`, which it imports, it takes nine megabytes.

Tokens in the form that an installation writes are read without it. Its errors are raised as `TokenRefused`, so that no
caller has to import PyJWT to catch them.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from partita.http.identity._caller import TokenExpired, TokenRefused

if TYPE_CHECKING:
    from jwt import PyJWK


def encoded(claims: Mapping[str, Any], secret: bytes, algorithm: str, key_id: str) -> str:
    """Return a token with these claims, signed with a secret."""
    import jwt

    return jwt.encode(dict(claims), secret, algorithm, {"kid": key_id})


def decoded(token: str, key: PyJWK | bytes | str, algorithms: Sequence[str], **checks: Any) -> dict[str, Any]:
    """Return the parts of a token: `header` and `payload`. `checks` are the arguments of PyJWT.

    Raises:
        TokenRefused: a check failed. TokenExpired: the token has expired.
    """
    import jwt

    with _refusals():
        parts: dict[str, Any] = jwt.decode_complete(token, key, algorithms, **checks)
        return parts


def key_set(document: dict[str, Any]) -> list[PyJWK]:
    """Return the keys in a key set document of an issuer.

    Raises:
        TokenRefused: the document has no usable key.
    """
    import jwt

    with _refusals():
        return jwt.PyJWKSet.from_dict(document).keys


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise errors of PyJWT as `TokenRefused`."""
    import jwt

    try:
        yield
    except jwt.ExpiredSignatureError as error:
        raise TokenExpired from error
    except jwt.PyJWTError as error:
        raise TokenRefused(str(error)) from error
