"""PyJWT, loaded with the first token that needs it: with `cryptography`, which it loads, it takes nine megabytes.

Tokens as an installation writes them are read without it. What it refuses is raised as an error of ours, so that nobody
has to load it to catch one.
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
    """A token that says this, signed with a secret."""
    import jwt

    return jwt.encode(dict(claims), secret, algorithm, {"kid": key_id})


def decoded(token: str, key: PyJWK | bytes | str, algorithms: Sequence[str], **checks: Any) -> dict[str, Any]:
    """The parts of a token: `header` and `payload`. What is checked is said as PyJWT has it.

    Raises:
        TokenRefused: a check failed. TokenExpired: it was that of the time.
    """
    import jwt

    with _refusals():
        parts: dict[str, Any] = jwt.decode_complete(token, key, algorithms, **checks)
        return parts


def key_set(document: dict[str, Any]) -> list[PyJWK]:
    """The keys of a document that an issuer publishes.

    Raises:
        TokenRefused: there is none that can be used.
    """
    import jwt

    with _refusals():
        return jwt.PyJWKSet.from_dict(document).keys


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise errors of PyJWT's as ours."""
    import jwt

    try:
        yield
    except jwt.ExpiredSignatureError as error:
        raise TokenExpired from error
    except jwt.PyJWTError as error:
        raise TokenRefused(str(error)) from error
