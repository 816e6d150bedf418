"""Tokens of an OpenID Connect issuer, verified with the keys that it publishes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from partita.errors import OperationError
from partita.http.identity._caller import (
    MAX_TOKEN_LENGTH,
    TOKEN_ERRORS,
    Caller,
    TokenRefused,
    caller_of,
    token_problem,
)
from partita.http.identity._published_keys import PublishedKeys, checked_address
from partita.http.identity._pyjwt import decoded
from partita.http.identity._verified import VerifiedTokens
from partita.runtime import Clock

if TYPE_CHECKING:
    from jwt import PyJWK

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Only signatures with asymmetric keys: with HMAC, anybody could sign with a published key as the secret."""
LEEWAY_SECONDS: Final = 30.0


class Issuer:
    """Verifies the tokens of one issuer. Its keys are fetched with the first token, and again when they change."""

    def __init__(
        self, url: str, *, audience: str | None = None, any_audience: bool = False, clock: Clock = time.monotonic
    ) -> None:
        """Accept tokens of an issuer.

        Args:
            url: the URL of the issuer, exactly as in the `iss` claim of its tokens.
            audience: the audience that the tokens must have (`aud`).
            any_audience: accept tokens for any client of the issuer. Use this only if the issuer has no other clients.
            clock: a clock that measures the age of the keys.

        Raises:
            OperationError: the URL is neither https nor of this machine, or not exactly one of `audience` and
                `any_audience` was given.
        """
        if bool(audience) == any_audience:
            hint = "Give `audience`; or `any_audience`, if the issuer has no other clients."
            raise OperationError("An issuer issues tokens for all of its clients: which are for this one?", hint=hint)
        self.url = checked_address(url)
        self.audience = audience or None
        self.hint = f"Send `Authorization: Bearer TOKEN`, with a token of {url}."
        self._keys = PublishedKeys(url, clock)
        self._tokens = VerifiedTokens()

    def known(self, token: str) -> Caller | None:
        """Return the caller of a token that was verified with keys that are still fresh; None for any other token."""
        keys = self._keys.fresh()
        claims = None if keys is None else self._tokens.claims(token, keys)
        if claims is None or int(claims["exp"]) + LEEWAY_SECONDS <= time.time():
            return None
        return caller_of(claims)

    def caller(self, token: str) -> Caller:
        """Return the caller that a token names.

        Raises:
            HttpProblem: 401, the token is not from this issuer, was altered, or has expired; 503, the issuer cannot
                be reached.
        """
        try:
            return self._verified(token)
        except TOKEN_ERRORS as error:
            raise token_problem(error, self.hint) from None

    def _verified(self, token: str) -> Caller:
        key_id = self._key_id(token)
        key = self._keys.key(key_id)
        claims = self._decoded(token, key, verify_signature=True)["payload"]
        keys = self._keys.fresh()
        if keys is not None and keys.keys.get(key_id) is key:
            self._tokens.remember(token, keys, claims)
        return caller_of(claims)

    def _key_id(self, token: str) -> str:
        """Return the id of the key that must have signed a token whose claims are valid.

        The signature is not verified yet. But a token that could not be valid with any signature is refused here,
        before a request is sent to the issuer.
        """
        if len(token) > MAX_TOKEN_LENGTH:
            raise TokenRefused
        unverified = self._decoded(token, "", verify_signature=False)
        caller_of(unverified["payload"])
        algorithm, key_id = (unverified["header"].get(name) for name in ("alg", "kid"))
        if algorithm not in ALGORITHMS or not isinstance(key_id, str):
            raise TokenRefused
        return key_id

    def _decoded(self, token: str, key: PyJWK | str, *, verify_signature: bool) -> dict[str, Any]:
        return decoded(
            token,
            key,
            ALGORITHMS,
            issuer=self.url,
            audience=self.audience,
            leeway=LEEWAY_SECONDS,
            options={
                "verify_signature": verify_signature,
                "require": ["exp", "iss", "sub"],
                "verify_aud": self.audience is not None,
                # PyJWT's defaults; but without verification of the signature, it would check nothing.
                "verify_exp": True,
                "verify_iat": True,
                "verify_iss": True,
                "verify_nbf": True,
                "verify_sub": True,
            },
        )
