"""Who is calling, as a verified token says it, and the problem of a token that cannot be verified."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Protocol

from msgspec import Struct

from partita.http._problems import HttpProblem

MAX_USER_ID: Final = 128
MAX_TOKEN_LENGTH: Final = 16_384
"""What is longer is not read."""
TOKEN_ERRORS: Final = (ValueError, TypeError, OverflowError, RecursionError)
"""What can be wrong with a token: besides `TokenRefused`, numbers that are none, and brackets nested too deeply."""


class Role(StrEnum):
    """What a caller may do: use the services, or operate them too."""

    USER = "user"
    OPERATOR = "operator"


class Caller(Struct, frozen=True):
    """Who sent a request."""

    user_id: str
    role: Role = Role.USER


class Verifier(Protocol):
    """Knows who is calling by the token of a request."""

    hint: str
    """Where a caller gets a token."""

    def known(self, token: str) -> Caller | None:
        """The caller that a token names, found without waiting; None where `caller` must be asked.

        Raises:
            HttpProblem: 401, the token is not valid.
        """
        ...

    def caller(self, token: str) -> Caller:
        """The caller that a token names. It may wait for a response from elsewhere, so it is called in a thread.

        Raises:
            HttpProblem: 401, the token is not valid.
        """
        ...


class TokenRefused(ValueError):
    """The token is not valid."""


class TokenExpired(TokenRefused):
    """The token was valid for a time that is over."""


class TokenRevoked(TokenRefused):
    """The token was valid until it was revoked."""


def caller_of(claims: Mapping[str, Any]) -> Caller:
    """The caller that the claims of a token name.

    Raises:
        ValueError: they do not name one, or name an unknown role.
    """
    check_user_id(claims["sub"])
    return Caller(claims["sub"], Role(claims.get("role", Role.USER)))


def check_user_id(user_id: object) -> None:
    """Refuse an id that cannot be part of a key.

    Raises:
        ValueError: it is empty or too long, or has half of a character.
    """
    if not isinstance(user_id, str) or not 0 < len(user_id) <= MAX_USER_ID:
        raise ValueError(f"A user id has 1 to {MAX_USER_ID} characters.")
    try:
        user_id.encode()
    except UnicodeEncodeError:  # which says what the id is
        raise ValueError("A user id has whole characters: a lone surrogate is half of one.") from None


def token_problem(error: Exception, hint: str) -> HttpProblem:
    """The problem of a token for which one of `TOKEN_ERRORS` was raised. It says whether it expired or was revoked."""
    if isinstance(error, TokenExpired):
        return unauthenticated("The token has expired.", hint)
    if isinstance(error, TokenRevoked):
        return unauthenticated("The token was revoked.", hint)
    return unauthenticated("The token is not valid.", hint)


def unauthenticated(detail: str, hint: str) -> HttpProblem:
    """The problem of a request that does not say who is calling."""
    return HttpProblem(401, "unauthenticated", detail, hint=hint, headers={"WWW-Authenticate": "Bearer"})
