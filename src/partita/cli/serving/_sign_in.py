"""The ways to sign in to the pages of `partita serve`."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

import click

from partita.service import Installation

if TYPE_CHECKING:
    from partita.app.signin import SignIn
    from partita.http import Verifier

LINKS: Final = "sign-in-links.json"
"""The file in the data folder with the codes of sign-in links."""
SECRET: Final = "PARTITA_CLIENT_SECRET"  # noqa: S105 - its name
"""The environment variable with the secret of the client; an option would be visible in the list of processes."""


def check_demo_sign_in(demo: bool | None, *, has_issuer: bool, is_loopback: bool) -> None:  # noqa: FBT001 - as it was given
    """Refuse `--demo-sign-in` if it is not possible.

    Raises:
        UsageError: other machines can reach the server, or it accepts the tokens of an issuer.
    """
    if demo and not is_loopback:
        raise click.UsageError("--demo-sign-in is only possible on this machine: serve with --host 127.0.0.1.")
    if demo and has_issuer:
        raise click.UsageError("--demo-sign-in cannot be used with --issuer: only the issuer's tokens are accepted.")


def sign_in_of(
    verifier: Verifier,
    client_id: str | None,
    demo: bool | None,  # noqa: FBT001 - as it was given
    installation: Installation,
) -> SignIn:
    """The ways to sign in: the identity provider, or one click or a link if only this machine can connect.

    Raises:
        UsageError: `--demo-sign-in` was given, but other machines can connect, or an issuer is used.
    """
    from partita.app.signin import DemoSignIn, IssuerClient, LinkCodes, SignIn
    from partita.http import Identity, Issuer

    is_loopback = installation.is_loopback is True
    check_demo_sign_in(demo, has_issuer=isinstance(verifier, Issuer), is_loopback=is_loopback)
    if isinstance(verifier, Issuer):
        if client_id is None:
            return SignIn()
        secret = os.environ.get(SECRET) or None
        return SignIn(client=IssuerClient(verifier, client_id, secret=secret, clock=time.monotonic))
    if demo is False or not is_loopback or not isinstance(verifier, Identity):
        return SignIn()
    return SignIn(demo=DemoSignIn(verifier, links=LinkCodes(installation.folder / LINKS)))


def sign_in_link(sign_in: SignIn, base: str | None) -> str | None:
    """A link that signs in as the demo user, once; None if the demo sign-in is off.

    The code is in the fragment of the URL, which browsers never send, so it appears in no log. The page reads it there.
    """
    from partita.http import Role

    links = sign_in.demo and sign_in.demo.links
    return f"{base}/#sign-in={links.issue(Role.USER)}" if links else None
