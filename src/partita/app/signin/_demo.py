"""Sign-in as a demo user or operator, by one click or by the link in the terminal, only on this machine.

A token is issued only if all of these conditions hold:

- the server listens on a loopback address, and the connection is from one;
- the request's `Host` is a name of this machine, whatever other names the server accepts;
- the request was sent by a page of this server (`Origin`), as JSON, which a form of another site cannot send;
- no proxy has forwarded the request, because anybody could be behind a proxy;
- the browser runs as the server's account or as root, if the machine can tell.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from partita.app.signin._link_codes import LinkCodes
from partita.app.signin._peer_account import Address, account_of, can_know_accounts
from partita.app.signin._same_origin import own_origin
from partita.http import Caller, HttpProblem, Identity, Role
from partita.runtime import is_loopback

logger: Final = logging.getLogger("partita.signin")

LIFETIME: Final = timedelta(hours=12)
DEMO: Final = {Role.USER: Caller("demo"), Role.OPERATOR: Caller("demo-operator", Role.OPERATOR)}
"""The callers that one can sign in as: the user who has the sample data, and an operator."""
FORWARDED: Final = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP")
"""The headers that a proxy adds."""
_ROOT: Final = 0


def _own_account() -> int | None:
    return os.geteuid() if hasattr(os, "geteuid") and can_know_accounts() else None


class DemoSignIn:
    """Issues tokens to pages on this machine. Create one only for a server that listens on a loopback address."""

    def __init__(
        self,
        identity: Identity,
        *,
        own_account: Callable[[], int | None] = _own_account,
        account_of: Callable[[Address, Address], int | None] = account_of,
        links: LinkCodes | None = None,
    ) -> None:
        """Issue tokens of an identity.

        Args:
            identity: signs the tokens.
            own_account: returns the account of this process; None if the machine cannot tell accounts apart.
            account_of: returns the account of the program at the other end of a connection.
            links: the codes of sign-in links; None if there are none.
        """
        self.links = links
        self._identity = identity
        self._own_account = own_account
        self._account_of = account_of

    def token(self, request: Request, role: Role) -> str:
        """Return a token for the person at this machine. It may block to read the machine's list of connections.

        Raises:
            HttpProblem: 403, one of the conditions does not hold.
        """
        self._check(request)
        logger.info("Signed in by one click on this machine: %s.", DEMO[role].user_id)
        return self._identity.token(DEMO[role], LIFETIME)

    def token_of_link(self, request: Request, code: str) -> str:
        """Return a token for the person who opened the link in the terminal, and use up its code. It may block, too.

        Raises:
            HttpProblem: 403, one of the conditions does not hold, or the code is not valid; 404, there are no links.
        """
        if self.links is None:
            raise HttpProblem(404, "not_found", "There are no sign-in links here.")
        self._check(request)  # first, so that a request from elsewhere cannot use up a code
        role = self.links.take(code)
        logger.info("Signed in by the link of the terminal: %s.", DEMO[role].user_id)
        return self._identity.token(DEMO[role], LIFETIME)

    def _check(self, request: Request) -> None:
        origin = own_origin(request)
        if not is_loopback(urlsplit(origin).hostname or "") or not _is_direct(request):
            raise _refused("This way to sign in works only on the server's own machine.")
        if not self._is_own_account(request):
            raise _refused("The browser runs under another account of this machine.")

    def _is_own_account(self, request: Request) -> bool:
        own = self._own_account()
        if own is None:
            return True
        client, server = request.scope["client"], request.scope["server"]
        return self._account_of(tuple(client[:2]), tuple(server[:2])) in (own, _ROOT)


def _is_direct(request: Request) -> bool:
    """Whether both ends of the connection are on this machine, and no header shows that a proxy is in between."""
    ends = [request.scope.get("client"), request.scope.get("server")]
    on_this_machine = all(end is not None and is_loopback(end[0]) for end in ends)
    return on_this_machine and not any(name in request.headers for name in FORWARDED)


def _refused(detail: str) -> HttpProblem:
    hint = "Run `partita token --user ID` under the server's account to get a token."
    return HttpProblem(403, "demo_sign_in_refused", detail, hint=hint)
