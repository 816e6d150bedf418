"""Who is calling: bearer tokens, signed with the key of this installation (JWT, HS256)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final, Protocol

import jwt
from msgspec import Struct

from partita.http._problems import HttpProblem
from partita.runtime import Clock, system_clock

ALGORITHM: Final = "HS256"
LIFETIME: Final = timedelta(days=30)
MAX_USER_ID: Final = 128


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
    waits: bool
    """Whether it may wait for a response from elsewhere, and so must not run in the event loop."""

    def caller(self, token: str) -> Caller:
        """The caller that a token names.

        Raises:
            HttpProblem: 401, the token is not valid.
        """
        ...


class Identity:
    """Issues and checks tokens with one secret key."""

    hint = "Send `Authorization: Bearer TOKEN`; `partita token --user ID` prints one."
    waits = False

    def __init__(self, key: bytes, clock: Clock = system_clock) -> None:
        self._key = key
        self._clock = clock

    def token(self, caller: Caller, lifetime: timedelta = LIFETIME) -> str:
        """A token that says who the caller is, for a time.

        Raises:
            ValueError: the user id is empty or too long.
        """
        if not _usable(caller.user_id):
            raise ValueError(f"A user id has 1 to {MAX_USER_ID} characters.")
        now = int(self._clock())
        expires = now + int(lifetime.total_seconds())
        claims = {"sub": caller.user_id, "role": caller.role.value, "iat": now, "exp": expires}
        return jwt.encode(claims, self._key, ALGORITHM)

    def caller(self, token: str) -> Caller:
        """The caller that a token names.

        Raises:
            HttpProblem: 401, the token is not ours, was altered, or has expired.
        """
        try:
            return caller_of(jwt.decode(token, self._key, [ALGORITHM], options={"require": ["exp", "sub"]}))
        except (jwt.InvalidTokenError, ValueError) as error:
            raise invalid_token(error, self.hint) from None


def caller_of(claims: Mapping[str, Any]) -> Caller:
    """The caller that the claims of a token name.

    Raises:
        ValueError: they do not name one, or name an unknown role.
    """
    caller = Caller(claims["sub"], Role(claims.get("role", Role.USER)))
    if not _usable(caller.user_id):
        raise ValueError(f"A user id has 1 to {MAX_USER_ID} characters.")
    return caller


def invalid_token(error: Exception, hint: str) -> HttpProblem:
    """The problem of a token that could not be verified. It says no more than whether the token has expired."""
    expired = isinstance(error, jwt.ExpiredSignatureError)
    return unauthenticated("The token has expired." if expired else "The token is not valid.", hint)


def unauthenticated(detail: str, hint: str) -> HttpProblem:
    """The problem of a request that does not say who is calling."""
    return HttpProblem(401, "unauthenticated", detail, hint=hint, headers={"WWW-Authenticate": "Bearer"})


def _usable(user_id: str) -> bool:
    return 0 < len(user_id) <= MAX_USER_ID
