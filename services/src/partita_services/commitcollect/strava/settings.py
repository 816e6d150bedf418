"""Settings of CommitCollect from the environment; unset secrets are derived from the installation's secret."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from partita.errors import OperationError
from partita.runtime import is_loopback
from partita.service import Installation

STRAVA_URL: Final = "PARTITA_STRAVA_URL"
CLIENT_ID: Final = "PARTITA_STRAVA_CLIENT_ID"
CLIENT_SECRET: Final = "PARTITA_STRAVA_CLIENT_SECRET"  # noqa: S105 - the name of a setting
VERIFY_TOKEN: Final = "PARTITA_STRAVA_VERIFY_TOKEN"  # noqa: S105 - the name of a setting
TOKEN_KEY: Final = "PARTITA_COMMITCOLLECT_KEY"  # noqa: S105 - the name of a setting
PUBLIC_URL: Final = "PARTITA_COMMITCOLLECT_URL"
SIMULATOR: Final = "PARTITA_STRAVA_SIMULATOR"
SENDER: Final = "PARTITA_COMMITCOLLECT_SENDER"

QUEUE_ALONE: Final = "queue"
"""The value of `PARTITA_COMMITCOLLECT_SENDER` if another program reads the queue of notices."""

EVERYONE: Final = "everyone"
"""The value of `PARTITA_STRAVA_SIMULATOR` that serves the simulator beyond this machine."""
KEY_BYTES: Final = 32
WEBHOOK_KEY_LENGTH: Final = 32
"""The number of hexadecimal digits: 128 bits."""
_SERVED_AT: Final = "http://127.0.0.1:8321"
_SIMULATOR: Final = "/strava-simulator"


class Settings(Struct, frozen=True):
    """The addresses of this installation and of Strava, and the credentials of the application."""

    public_url: str
    """The address at which browsers and Strava reach the service."""
    strava_url: str | None
    """The address of Strava; None if it is not set up, so nobody can sign in."""
    client_id: str
    client_secret: str
    verify_token: str
    """The token by which Strava proves its identity when it verifies the webhook."""
    token_key: bytes
    """The key that encrypts the tokens of athletes."""
    is_loopback: bool = False
    """Whether the socket of the service is a loopback socket."""
    has_simulator: bool = False
    """Whether the service uses the simulator that the same server serves."""
    sender: str = ""
    """The sender that announces awards; empty if they are not announced."""

    @property
    def is_local(self) -> bool:
        """Whether the service is for this machine only, according to both its socket and its public address."""
        return self.is_loopback and is_loopback(_host_of(self.public_url))

    @property
    def callback_url(self) -> str:
        """The address to which Strava redirects athletes back."""
        return f"{self.public_url}/commitcollect/auth/callback"

    @property
    def webhook_key(self) -> str:
        """The secret end of the webhook's address, which only Strava is given, because its events are not signed.

        It is derived from the key of the tokens, so all servers and workers of an installation have the same.
        """
        return hmac.digest(self.token_key, b"address of the webhook", hashlib.sha256).hex()[:WEBHOOK_KEY_LENGTH]

    @property
    def webhook_url(self) -> str:
        """The address to which Strava sends events."""
        return f"{self.public_url}/commitcollect/webhooks/strava/{self.webhook_key}"


def read(installation: Installation, environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings of an installation.

    Raises:
        OperationError: the key is not 32 bytes in base 64, or Strava's address is plain http to another machine.
    """

    def setting(name: str, default: str) -> str:
        return environment.get(name) or default

    public_url = setting(PUBLIC_URL, installation.url or _SERVED_AT).rstrip("/")
    has_simulator = not environment.get(STRAVA_URL) and (
        _is_for_everyone(environment) or (installation.is_loopback is not False and is_loopback(_host_of(public_url)))
    )
    return Settings(
        public_url=public_url,
        strava_url=public_url + _SIMULATOR if has_simulator else _strava(environment.get(STRAVA_URL)),
        client_id=setting(CLIENT_ID, "commitcollect"),
        client_secret=setting(CLIENT_SECRET, installation.secret("strava client").hex()),
        verify_token=setting(VERIFY_TOKEN, installation.secret("strava webhook").hex()),
        token_key=_key(environment.get(TOKEN_KEY)) or installation.secret("strava tokens"),
        is_loopback=installation.is_loopback is True,
        has_simulator=has_simulator,
        sender=environment.get(SENDER, ""),
    )


def _is_for_everyone(environment: Mapping[str, str]) -> bool:
    """Whether the simulator may be served beyond this machine."""
    said = environment.get(SIMULATOR)
    if said and said != EVERYONE:
        raise OperationError(f"{SIMULATOR} cannot be {said!r}.", hint=f"Leave it unset, or set it to {EVERYONE!r}.")
    return said == EVERYONE


def _strava(url: str | None) -> str | None:
    """Check the address of Strava, to which tokens and the application's secret are sent."""
    if not url:
        return None
    scheme = url.partition(":")[0].lower()
    if scheme == "https" or (scheme == "http" and is_loopback(_host_of(url))):
        return url.rstrip("/")
    hint = "Set an https:// address, or an address of this machine."
    raise OperationError(f"{STRAVA_URL} cannot be {url!r}: tokens would be sent in plain text.", hint=hint)


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # such as http://[
        return ""


def _key(text: str | None) -> bytes | None:
    if not text:
        return None
    try:
        key = base64.b64decode(text, validate=True)
    except binascii.Error:
        key = b""
    if len(key) != KEY_BYTES:
        hint = f"Generate a key with `openssl rand -base64 {KEY_BYTES}`."
        raise OperationError(f"{TOKEN_KEY} must be {KEY_BYTES} bytes in base 64.", hint=hint)
    return key
