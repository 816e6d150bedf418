"""Tokens of an OpenID Connect issuer, verified by the keys that it publishes."""

from __future__ import annotations

import json
import threading
import urllib.request
from typing import Any, Final
from urllib.parse import urlsplit

import jwt

from partita.errors import OperationError
from partita.http._identity import Caller, caller_of, invalid_token
from partita.http._problems import RETRY_LATER, HttpProblem
from partita.runtime import is_loopback

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a public key. One with a shared secret could be made by anybody who has the published keys."""
TIMEOUT_SECONDS: Final = 5.0
LEEWAY_SECONDS: Final = 30.0
DISCOVERY: Final = "/.well-known/openid-configuration"


class Issuer:
    """Checks the tokens of one issuer. Its keys are fetched with the first token, and again when they change."""

    waits = True

    def __init__(self, url: str, *, audience: str | None = None) -> None:
        """Trust an issuer.

        Args:
            url: as it stands in the tokens' `iss`.
            audience: what the tokens must be meant for; give it where the issuer has other clients too.

        Raises:
            OperationError: the URL is neither https nor of this machine.
        """
        self.url = _checked(url)
        self.audience = audience
        self.hint = f"Send `Authorization: Bearer TOKEN`, with a token of {url}."
        self._keys: jwt.PyJWKClient | None = None
        self._lock = threading.Lock()

    def caller(self, token: str) -> Caller:
        """The caller that a token names.

        Raises:
            HttpProblem: 401, the token is not the issuer's, was altered, or has expired; 503, the issuer is away.
        """
        try:
            return caller_of(self._claims(token))
        except jwt.PyJWKClientConnectionError as error:
            raise _unavailable() from error
        except (jwt.PyJWTError, ValueError) as error:
            raise invalid_token(error, self.hint) from None

    def _claims(self, token: str) -> dict[str, Any]:
        claims: dict[str, Any] = jwt.decode(
            token,
            self._published().get_signing_key_from_jwt(token),
            ALGORITHMS,
            issuer=self.url,
            audience=self.audience,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "sub"], "verify_aud": self.audience is not None},
        )
        return claims

    def _published(self) -> jwt.PyJWKClient:
        with self._lock:
            if self._keys is None:
                self._keys = jwt.PyJWKClient(self._discovered(), timeout=TIMEOUT_SECONDS)
            return self._keys

    def _discovered(self) -> str:
        """Where the issuer publishes its keys."""
        try:
            with urllib.request.urlopen(self.url.rstrip("/") + DISCOVERY, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310 - checked
                found = json.load(response)
            if found["issuer"] != self.url:
                raise _unavailable()
            return _checked(found["jwks_uri"])
        except (OSError, ValueError, KeyError, TypeError, OperationError) as error:
            raise _unavailable() from error


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        return url
    raise OperationError(f"{url!r} cannot be trusted with tokens.", hint="Give an https:// URL.")


def _unavailable() -> HttpProblem:
    detail = "The issuer of tokens cannot be asked for its keys."
    return HttpProblem(503, "issuer_unavailable", detail, hint="Try again.", headers=RETRY_LATER)
