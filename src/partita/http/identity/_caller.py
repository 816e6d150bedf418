"""The caller that a verified token names, and the problem for a token that cannot be verified."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Protocol

from msgspec import Struct

from partita.http._problems import HttpProblem

MAX_USER_ID: Final = 128
MAX_TOKEN_LENGTH: Final = 16_384
"""Longer tokens are refused without being parsed."""
TOKEN_ERRORS: Final = (ValueError, TypeError, OverflowError, RecursionError)
"""The errors of an invalid token: `TokenRefused`, and those of claims that are not numbers or are nested too deeply."""


class Role(StrEnum):
    """What a caller may do: use the services, or also operate them."""

    USER = "user"
    OPERATOR = "operator"


class Caller(Struct, frozen=True):
    """The user who sent a request."""

    user_id: str
    role: Role = Role.USER


class Verifier(Protocol):
    """Verifies the token of a request and returns its caller."""

    hint: str
    """How a caller gets a token."""

    def known(self, token: str) -> Caller | None:
        """Return the caller that a token names, without blocking; None if `caller` must be called.

        Raises:
            HttpProblem: 401, the token is not valid.
        """
        ...

    def caller(self, token: str) -> Caller:
        """Return the caller that a token names. This may block on a network request, so it is called in a thread.

        Raises:
            HttpProblem: 401, the token is not valid.
        """
        ...


class TokenRefused(ValueError):
    """The token is not valid."""


class TokenExpired(TokenRefused):
    """The token has expired."""


class TokenRevoked(TokenRefused):
    """The token was revoked."""


def caller_of(claims: Mapping[str, Any]) -> Caller:
    """Return the caller that the claims of a token name.

    Raises:
        ValueError: the claims do not name a caller, or name an unknown role.
    """
    check_user_id(claims["sub"])
    return Caller(claims["sub"], Role(claims.get("role", Role.USER)))


def check_user_id(user_id: object) -> None:
    """Refuse a user id that cannot be part of a key.

    Raises:
        ValueError: the id is empty or too long, or contains a lone surrogate.
    """
    if not isinstance(user_id, str) or not 0 < len(user_id) <= MAX_USER_ID:
        raise ValueError(f"A user id must have 1 to {MAX_USER_ID} characters.")
    try:
        user_id.encode()
    except UnicodeEncodeError:  # whose text would contain the id
        raise ValueError("A user id must not contain a lone surrogate, which is half of a character.") from None


def token_problem(error: Exception, hint: str) -> HttpProblem:
    """The problem for a token that raised one of `TOKEN_ERRORS`. It says whether the token expired or was revoked."""
    if isinstance(error, TokenExpired):
        return unauthenticated("The token has expired.", hint)
    if isinstance(error, TokenRevoked):
        return unauthenticated("The token was revoked.", hint)
    return unauthenticated("The token is not valid.", hint)


def unauthenticated(detail: str, hint: str) -> HttpProblem:
    """The problem for a request without a valid token."""
    return HttpProblem(401, "unauthenticated", detail, hint=hint, headers={"WWW-Authenticate": "Bearer"})
