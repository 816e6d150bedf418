"""This installation as a client of an OpenID Connect issuer: the authorization code flow with PKCE.

The page makes the secrets (state, nonce, code verifier) and keeps them in its tab. It sends the browser to the issuer,
and gives the code that comes back to this server, which exchanges it for a token and proves it. So the server keeps
nothing in between, and no cookie is needed.
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
"""Older addresses are asked for again."""
MAX_WAITING: Final = 8
"""So many exchanges may wait for the issuer at a time: a server has 40 threads, and needs them for its work."""
_DISCOVERY: Final = "/.well-known/openid-configuration"


class Endpoints(Struct, frozen=True):
    """Where an issuer lets people sign in, and where it exchanges codes."""

    authorize: str
    exchange: str


class CodeExchange(Struct, frozen=True):
    """What a page brings back from the issuer, with the secrets that it had made before."""

    code: str
    code_verifier: str
    nonce: str
    redirect_uri: str


class IssuerClient:
    """Exchanges codes of an issuer for tokens that this installation takes."""

    def __init__(
        self, issuer: Issuer, client_id: str, *, secret: str | None = None, scope: str = "openid", clock: Clock
    ) -> None:
        """Be a client of an issuer.

        Args:
            issuer: which, and whose tokens are taken.
            client_id: as which client the issuer knows this installation.
            secret: the client's, where the issuer gave it one. PKCE is used in any case.
            scope: what is asked for.
            clock: the age of the issuer's addresses.
        """
        self.issuer = issuer
        self.client_id = client_id
        self.scope = scope
        self._secret = secret
        self._clock = clock
        self._known: tuple[float, Endpoints] | None = None
        self._waiting = threading.Semaphore(MAX_WAITING)

    def endpoints(self) -> Endpoints:
        """The addresses of the issuer, asked for every five minutes.

        Raises:
            HttpProblem: 503, it cannot be asked.
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
        """The token for a code.

        Raises:
            HttpProblem: 401, the issuer or this installation does not take it; 503, the issuer is away.
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
        """The first that this installation takes: an access token for its audience, or the identity token."""
        problem = HttpProblem(401, "sign_in_failed", "The issuer gave no token that is meant for this service.")
        for token in tokens:
            try:
                self.issuer.caller(token)
            except HttpProblem as refused:
                problem = refused
            else:
                return token
        raise problem

    def _check_nonce(self, token: str, nonce: str) -> None:
        """Refuse an identity token that was made for another sign-in. Its signature is checked where it is used."""
        import jwt  # noqa: PLC0415 - with what it loads, it takes nine megabytes

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
    return HttpProblem(401, "sign_in_failed", "The issuer did not take this sign-in.", hint="Sign in again.")


def _unavailable() -> HttpProblem:
    return HttpProblem(
        503, "issuer_unavailable", "The issuer cannot be asked now.", hint="Try again.", headers={"Retry-After": "5"}
    )
