"""The tokens of an installation: signed with a key of its own (JWT, HS256), for a bounded time, and revocable."""

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
"""How long a token is valid unless said otherwise."""
MAX_LIFETIME: Final = {Role.USER: timedelta(days=365), Role.OPERATOR: timedelta(days=30)}
"""No token is valid for longer, however it was made."""
_MAX_SECONDS: Final[Mapping[str, float]] = {role.value: most.total_seconds() for role, most in MAX_LIFETIME.items()}


class Identity:
    """Issues and checks the tokens of one installation."""

    hint = "Send `Authorization: Bearer TOKEN`; `partita token --user ID` prints one."

    def __init__(self, key: bytes | Callable[[], TokenPolicy], clock: Clock = system_clock) -> None:
        """Trust the tokens of a key.

        Args:
            key: signs the tokens. Or a function, called for every token, that says which keys are valid and what was
                revoked.
            clock: the time, for expiry.
        """
        self._policy = _always(key) if isinstance(key, bytes) else key
        self._clock = clock
        self._tokens = VerifiedTokens()

    def token(self, caller: Caller, lifetime: timedelta | None = None) -> str:
        """A token that says who the caller is, for a time: by default a day for operators and 30 days for users.

        Raises:
            ValueError: the user id cannot be used, or the time is longer than the role allows.
        """
        check_user_id(caller.user_id)
        lifetime = LIFETIME[caller.role] if lifetime is None else lifetime
        if lifetime > (longest := MAX_LIFETIME[caller.role]):
            raise ValueError(f"A token with the role {caller.role} is valid for at most {longest.days} days.")
        policy = self._policy()
        # A second in which all tokens of the user were revoked is not over yet: then it is issued for the next one.
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
        """The caller that a token names.

        Raises:
            HttpProblem: 401, the token is not ours, was altered or revoked, or has expired.
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
        """The same: nobody has to be asked."""
        return self.caller(token)

    def claims(self, token: str) -> Mapping[str, Any]:
        """What a token says, also one that was revoked: `jti`, `sub`, `role`, `iat`, `exp`.

        Raises:
            HttpProblem: 401, the token is not ours, was altered, or has expired.
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
    """What a token says that one of the keys has signed."""
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
        # What time it is, is for the clock to say.
        options={"require": ["exp", "iat", "jti", "sub"], "verify_exp": False, "verify_iat": False},
    )
    return MappingProxyType(parts["payload"])


def _always(key: bytes) -> Callable[[], TokenPolicy]:
    policy = TokenPolicy((TokenKey.of(key),))
    return lambda: policy


@lru_cache(maxsize=64)  # all tokens of a key have the same header
def _key_id(header: str) -> str:
    """The name of the key in the header of a token, which is not verified yet."""
    found = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    if not isinstance(found, dict) or not isinstance(found.get("kid"), str):
        raise TokenRefused
    key_id: str = found["kid"]
    return key_id


def _check_times(claims: Mapping[str, Any], now: int) -> None:
    """Refuse a token that has expired, is of another time, or is valid for longer than its role allows."""
    issued, expires = claims["iat"], claims["exp"]
    if not (isinstance(issued, int) and isinstance(expires, int)):
        raise TokenRefused
    if expires <= now:
        raise TokenExpired
    if issued > now + 1:  # one may be issued for the next second, see `token`
        raise TokenRefused
    if expires - issued > _MAX_SECONDS.get(claims.get("role", Role.USER.value), 0.0):
        raise TokenRefused
