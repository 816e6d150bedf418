"""Settings of CommitCollect, from the environment; what is not set is made from the installation's secret."""

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
"""The value of `PARTITA_COMMITCOLLECT_SENDER` where somebody else reads the queue of notices."""

EVERYONE: Final = "everyone"
"""The value of `PARTITA_STRAVA_SIMULATOR` that serves the simulator beyond this machine."""
KEY_BYTES: Final = 32
WEBHOOK_KEY_LENGTH: Final = 32
"""In hexadecimal digits: 128 bits."""
_SERVED_AT: Final = "http://127.0.0.1:8321"
_SIMULATOR: Final = "/strava-simulator"


class Settings(Struct, frozen=True):
    """How this installation is known, to the outside and to Strava."""

    public_url: str
    """Where browsers and Strava find it."""
    strava_url: str | None
    """None: there is no Strava to log in with."""
    client_id: str
    client_secret: str
    verify_token: str
    """What Strava proves itself with when it verifies the webhook."""
    token_key: bytes
    """Encrypts the tokens of athletes."""
    is_loopback: bool = False
    """Whether the socket that it is served at is of this machine alone."""
    has_simulator: bool = False
    """Whether its Strava is the simulator that is served beside it."""
    sender: str = ""
    """Who announces awards; empty where nobody does."""

    @property
    def is_local(self) -> bool:
        """Whether it is for this machine alone: by its socket, and by the address that it gives to browsers."""
        return self.is_loopback and is_loopback(_host_of(self.public_url))

    @property
    def callback_url(self) -> str:
        """Where Strava sends athletes back to."""
        return f"{self.public_url}/commitcollect/auth/callback"

    @property
    def webhook_key(self) -> str:
        """The end of the webhook's address, which Strava alone is told: its events are not signed.

        Derived from the key of the tokens, so that all servers and workers of an installation have the same.
        """
        return hmac.digest(self.token_key, b"address of the webhook", hashlib.sha256).hex()[:WEBHOOK_KEY_LENGTH]

    @property
    def webhook_url(self) -> str:
        """Where Strava sends events to."""
        return f"{self.public_url}/commitcollect/webhooks/strava/{self.webhook_key}"


def read(installation: Installation, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of an installation.

    Raises:
        OperationError: the key is not the base 64 of 32 bytes, or Strava's address is plain http elsewhere.
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
        raise OperationError(f"{SIMULATOR} cannot be {said!r}.", hint=f"Leave it unset, or say {EVERYONE!r}.")
    return said == EVERYONE


def _strava(url: str | None) -> str | None:
    """The address of a Strava: what goes there has tokens and the application's secret."""
    if not url:
        return None
    scheme = url.partition(":")[0].lower()
    if scheme == "https" or (scheme == "http" and is_loopback(_host_of(url))):
        return url.rstrip("/")
    hint = "Give an https:// address, or one of this machine."
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
        hint = f"Make one: `openssl rand -base64 {KEY_BYTES}`."
        raise OperationError(f"{TOKEN_KEY} must be {KEY_BYTES} bytes in base 64.", hint=hint)
    return key
