"""The tokens of an installation: signed with its own key (JWT, HS256), with a bounded lifetime, and revocable."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from partita.http.identity._caller import (
    MAX_TOKEN_LENGTH,
    TOKEN_ERRORS,
    Caller,
    Role,
    TokenExpired,
    TokenRefused,
    TokenRevoked,
    caller_of,
    check_user_id,
    token_problem,
)
from partita.http.identity._own_tokens import own_claims
from partita.http.identity._pyjwt import decoded, encoded
from partita.http.identity._token_policy import TokenKey, TokenPolicy
from partita.http.identity._verified import VerifiedTokens
from partita.runtime import Clock, system_clock

ALGORITHM: Final = "HS256"
LIFETIME: Final = {Role.USER: timedelta(days=30), Role.OPERATOR: timedelta(days=1)}
"""The default lifetime of a token."""
MAX_LIFETIME: Final = {Role.USER: timedelta(days=365), Role.OPERATOR: timedelta(days=30)}
"""The maximum lifetime of a token; a token that claims a longer one is refused."""
_MAX_SECONDS: Final[Mapping[str, float]] = {role.value: most.total_seconds() for role, most in MAX_LIFETIME.items()}


class Identity:
    """Issues and checks the tokens of one installation."""

    hint = "Send `Authorization: Bearer TOKEN`; `partita token --user ID` prints one."

    def __init__(self, key: bytes | Callable[[], TokenPolicy], clock: Clock = system_clock) -> None:
        """Accept tokens that are signed with a key.

        Args:
            key: the key that signs the tokens; or a function that returns the valid keys and what was revoked, and
                is called for every token.
            clock: returns the time, for expiry.
        """
        self._policy = _always(key) if isinstance(key, bytes) else key
        self._clock = clock
        self._tokens = VerifiedTokens()

    def token(self, caller: Caller, lifetime: timedelta | None = None) -> str:
        """Issue a token that names the caller. The default lifetime is one day for operators and 30 days for users.

        Raises:
            ValueError: the user id cannot be used, or the lifetime is longer than the role allows.
        """
        check_user_id(caller.user_id)
        lifetime = LIFETIME[caller.role] if lifetime is None else lifetime
        if lifetime > (longest := MAX_LIFETIME[caller.role]):
            raise ValueError(f"A token with the role {caller.role} is valid for at most {longest.days} days.")
        policy = self._policy()
        # If all tokens of the user were revoked during this second, the token is issued for the next second.
        issued = max(int(self._clock()), policy.revoked_users.get(caller.user_id, 0))
        claims = {
            "jti": secrets.token_hex(16),
            "sub": caller.user_id,
            "role": caller.role.value,
            "iat": issued,
            "exp": issued + int(lifetime.total_seconds()),
        }
        signing = policy.keys[0]
        return encoded(claims, signing.secret, ALGORITHM, signing.key_id)

    def caller(self, token: str) -> Caller:
        """Return the caller that a token names.

        Raises:
            HttpProblem: 401, the token was not issued here, was altered or revoked, or has expired.
        """
        try:
            policy = self._policy()
            claims = self._verified(token, policy)
            if policy.is_revoked(claims["jti"], claims["sub"], claims["iat"]):
                raise TokenRevoked
            return caller_of(claims)
        except TOKEN_ERRORS as error:
            raise token_problem(error, self.hint) from None

    def known(self, token: str) -> Caller:
        """The same as `caller`, which never blocks here."""
        return self.caller(token)

    def claims(self, token: str) -> Mapping[str, Any]:
        """Return the claims of a token, even of a revoked one: `jti`, `sub`, `role`, `iat`, `exp`.

        Raises:
            HttpProblem: 401, the token was not issued here, was altered, or has expired.
        """
        try:
            return self._verified(token, self._policy())
        except TOKEN_ERRORS as error:
            raise token_problem(error, self.hint) from None

    def _verified(self, token: str, policy: TokenPolicy) -> Mapping[str, Any]:
        claims = self._tokens.claims(token, policy)
        if claims is None:
            claims = _signed(token, policy)
            self._tokens.remember(token, policy, claims)
        _check_times(claims, int(self._clock()))
        return claims


def _signed(token: str, policy: TokenPolicy) -> Mapping[str, Any]:
    """Return the claims of a token that is signed with one of the keys."""
    if len(token) > MAX_TOKEN_LENGTH:
        raise TokenRefused
    secret = policy.secret_of(_key_id(token.partition(".")[0]))
    if secret is None:
        raise TokenRefused
    if (usual := own_claims(token, secret)) is not None:
        return MappingProxyType(usual)
    parts = decoded(
        token,
        secret,
        [ALGORITHM],
        # `_check_times` checks the times, with the clock of this `Identity`.
        options={"require": ["exp", "iat", "jti", "sub"], "verify_exp": False, "verify_iat": False},
    )
    return MappingProxyType(parts["payload"])


def _always(key: bytes) -> Callable[[], TokenPolicy]:
    policy = TokenPolicy((TokenKey.of(key),))
    return lambda: policy


@lru_cache(maxsize=64)  # all tokens of a key have the same header
def _key_id(header: str) -> str:
    """Return the key id in the header of a token. The header is not verified yet."""
    found = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    if not isinstance(found, dict) or not isinstance(found.get("kid"), str):
        raise TokenRefused
    key_id: str = found["kid"]
    return key_id


def _check_times(claims: Mapping[str, Any], now: int) -> None:
    """Refuse a token that has expired, was issued in the future, or is valid for longer than its role allows."""
    issued, expires = claims["iat"], claims["exp"]
    if not (isinstance(issued, int) and isinstance(expires, int)):
        raise TokenRefused
    if expires <= now:
        raise TokenExpired
    if issued > now + 1:  # one may be issued for the next second, see `token`
        raise TokenRefused
    if expires - issued > _MAX_SECONDS.get(claims.get("role", Role.USER.value), 0.0):
        raise TokenRefused
