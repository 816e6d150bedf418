"""This installation as a client of an OpenID Connect issuer: the authorization code flow with PKCE.

The page generates the secrets (state, nonce, code verifier) and keeps them in its tab. It sends the browser to the
issuer, and sends the code that comes back to this server, which exchanges it for a token and verifies the token. So the
server stores nothing in between, and no cookie is needed.
"""

from __future__ import annotations

import base64
import threading
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct

from partita.errors import OperationError
from partita.http import FETCH_ERRORS, HttpProblem, Issuer, checked_address, fetch_document
from partita.runtime import Clock

FRESH_SECONDS: Final = 300.0
"""Older endpoint addresses are fetched again."""
MAX_WAITING: Final = 8
"""How many exchanges may wait for the issuer at a time: a server has 40 threads, and needs them for its work."""
_DISCOVERY: Final = "/.well-known/openid-configuration"


class Endpoints(Struct, frozen=True):
    """The addresses at which an issuer lets people sign in, and exchanges codes."""

    authorize: str
    exchange: str


class CodeExchange(Struct, frozen=True):
    """The code that a page got from the issuer, with the secrets that it generated before."""

    code: str
    code_verifier: str
    nonce: str
    redirect_uri: str


class IssuerClient:
    """Exchanges codes of an issuer for tokens that this installation accepts."""

    def __init__(
        self, issuer: Issuer, client_id: str, *, secret: str | None = None, scope: str = "openid", clock: Clock
    ) -> None:
        """Set up a client, which the issuer must know already; nothing is requested yet.

        Args:
            issuer: the issuer, whose tokens are accepted.
            client_id: the client id of this installation at the issuer.
            secret: the client secret, if the issuer gave one. PKCE is used in any case.
            scope: the scope to request.
            clock: a clock that measures the age of the issuer's addresses.
        """
        self.issuer = issuer
        self.client_id = client_id
        self.scope = scope
        self._secret = secret
        self._clock = clock
        self._known: tuple[float, Endpoints] | None = None
        self._waiting = threading.Semaphore(MAX_WAITING)

    def endpoints(self) -> Endpoints:
        """Return the addresses of the issuer, which are fetched every five minutes.

        Raises:
            HttpProblem: 503, the issuer cannot be reached.
        """
        known = self._known
        if known is not None and self._clock() - known[0] < FRESH_SECONDS:
            return known[1]
        found = self._ask(self.issuer.url.rstrip("/") + _DISCOVERY)
        try:
            if found["issuer"] != self.issuer.url:
                raise _unavailable()
            asked = Endpoints(
                checked_address(found["authorization_endpoint"]), checked_address(found["token_endpoint"])
            )
        except (KeyError, TypeError, ValueError, OperationError) as error:
            raise _unavailable() from error
        self._known = (self._clock(), asked)
        return asked

    def token(self, exchange: CodeExchange) -> str:
        """Exchange a code for a token.

        Raises:
            HttpProblem: 401, the issuer refused the code or this installation its tokens; 503, the issuer cannot be
                reached.
        """
        form = {
            "grant_type": "authorization_code",
            "code": exchange.code,
            "redirect_uri": exchange.redirect_uri,
            "client_id": self.client_id,
            "code_verifier": exchange.code_verifier,
        }
        given = self._ask(self.endpoints().exchange, form)
        identity, access = given.get("id_token"), given.get("access_token")
        if isinstance(identity, str):
            self._check_nonce(identity, exchange.nonce)
        return self._taken([token for token in (access, identity) if isinstance(token, str)])

    def _taken(self, tokens: list[str]) -> str:
        """Return the first token that this installation accepts: an access token for its audience, or the id token."""
        problem = HttpProblem(401, "sign_in_failed", "The issuer returned no token for this service.")
        for token in tokens:
            try:
                self.issuer.caller(token)
            except HttpProblem as refused:
                problem = refused
            else:
                return token
        raise problem

    def _check_nonce(self, token: str, nonce: str) -> None:
        """Refuse an id token that was issued for another sign-in. Its signature is verified later, in `_taken`."""
        import jwt  # noqa: PLC0415 - with its own imports, it takes nine megabytes

        try:
            claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise _failed() from error
        if claims.get("nonce") != nonce:
            raise _failed()

    def _ask(self, url: str, form: dict[str, str] | None = None) -> dict[str, Any]:
        if not self._waiting.acquire(blocking=False):
            raise _unavailable()
        try:
            return fetch_document(url, form=form, headers=self._authorization() if form else {})
        except FETCH_ERRORS as error:
            refused = form is not None and getattr(error, "code", None) in (400, 401, 403)
            raise _failed() if refused else _unavailable() from error
        finally:
            self._waiting.release()

    def _authorization(self) -> dict[str, str]:
        if self._secret is None:
            return {}
        pair = f"{quote(self.client_id, safe='')}:{quote(self._secret, safe='')}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _failed() -> HttpProblem:
    return HttpProblem(401, "sign_in_failed", "The issuer refused this sign-in.", hint="Sign in again.")


def _unavailable() -> HttpProblem:
    return HttpProblem(
        503, "issuer_unavailable", "The issuer cannot be reached now.", hint="Try again.", headers={"Retry-After": "5"}
    )
