"""Settings of CommitCollect, from the environment; what is not set is made from the installation's secret."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from partita.service import Installation

STRAVA_URL: Final = "PARTITA_STRAVA_URL"
CLIENT_ID: Final = "PARTITA_STRAVA_CLIENT_ID"
CLIENT_SECRET: Final = "PARTITA_STRAVA_CLIENT_SECRET"  # noqa: S105 - the name of a setting
VERIFY_TOKEN: Final = "PARTITA_STRAVA_VERIFY_TOKEN"  # noqa: S105 - the name of a setting
TOKEN_KEY: Final = "PARTITA_COMMITCOLLECT_KEY"  # noqa: S105 - the name of a setting
PUBLIC_URL: Final = "PARTITA_COMMITCOLLECT_URL"

KEY_BYTES: Final = 32
_SERVED_AT: Final = "http://127.0.0.1:8321"
_SIMULATOR: Final = "/strava-simulator"


class Settings(Struct, frozen=True):
    """How this installation is known, to the outside and to Strava."""

    public_url: str
    """Where browsers and Strava find it."""
    strava_url: str
    client_id: str
    client_secret: str
    verify_token: str
    """What Strava proves itself with when it verifies the webhook."""
    token_key: bytes
    """Encrypts the tokens of athletes."""

    @property
    def callback_url(self) -> str:
        """Where Strava sends athletes back to."""
        return f"{self.public_url}/commitcollect/auth/callback"

    @property
    def webhook_url(self) -> str:
        """Where Strava sends events to."""
        return f"{self.public_url}/commitcollect/webhooks/strava"


def read(installation: Installation, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of an installation.

    Raises:
        ValueError: the key is not the base 64 of 32 bytes.
    """

    def setting(name: str, default: str) -> str:
        return environment.get(name) or default

    public_url = setting(PUBLIC_URL, installation.url or _SERVED_AT).rstrip("/")
    return Settings(
        public_url=public_url,
        strava_url=setting(STRAVA_URL, public_url + _SIMULATOR).rstrip("/"),
        client_id=setting(CLIENT_ID, "commitcollect"),
        client_secret=setting(CLIENT_SECRET, installation.secret("strava client").hex()),
        verify_token=setting(VERIFY_TOKEN, installation.secret("strava webhook").hex()),
        token_key=_key(environment.get(TOKEN_KEY)) or installation.secret("strava tokens"),
    )


def uses_simulator(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether no other Strava was named."""
    return not environment.get(STRAVA_URL)


def _key(text: str | None) -> bytes | None:
    if not text:
        return None
    try:
        key = base64.b64decode(text, validate=True)
    except binascii.Error:
        key = b""
    if len(key) != KEY_BYTES:
        raise ValueError(f"{TOKEN_KEY} must be {KEY_BYTES} bytes in base 64: `openssl rand -base64 {KEY_BYTES}`.")
    return key
