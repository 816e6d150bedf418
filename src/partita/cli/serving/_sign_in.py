"""How people sign in at the pages of `partita serve`."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

import click

from partita.runtime import is_loopback

if TYPE_CHECKING:
    from partita.app.signin import SignIn
    from partita.http import Verifier

SECRET: Final = "PARTITA_CLIENT_SECRET"  # noqa: S105 - its name
"""The environment variable with the secret of the client; an option would show it in the list of processes."""


def check_demo_sign_in(demo: bool | None, *, has_issuer: bool, host: str) -> None:  # noqa: FBT001 - as it was given
    """Refuse one click where it cannot be had.

    Raises:
        UsageError: other machines can reach the server, or it takes the tokens of an issuer.
    """
    if demo and not is_loopback(host):
        raise click.UsageError("--demo-sign-in is for this machine alone: serve with --host 127.0.0.1.")
    if demo and has_issuer:
        raise click.UsageError("--demo-sign-in cannot be used with --issuer, whose tokens alone are taken.")


def sign_in_of(verifier: Verifier, client_id: str | None, demo: bool | None, *, on_loopback: bool) -> SignIn:  # noqa: FBT001 - as it was given
    """The ways to sign in: the identity provider, or on this machine alone one click."""
    from partita.app.signin import DemoSignIn, IssuerClient, SignIn
    from partita.http import Identity, Issuer

    if isinstance(verifier, Issuer):
        if client_id is None:
            return SignIn()
        secret = os.environ.get(SECRET) or None
        return SignIn(client=IssuerClient(verifier, client_id, secret=secret, clock=time.monotonic))
    if demo is False or not on_loopback or not isinstance(verifier, Identity):
        return SignIn()
    return SignIn(demo=DemoSignIn(verifier))
