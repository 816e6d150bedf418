"""Tokens at rest: sealed with AES-GCM, each for the user that it belongs to."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec

from partita_services.commitcollect.strava.interface import Tokens

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE: Final = 12
_TAG: Final = 16


class SealBroken(Exception):
    """What is stored was sealed with another key, or for another user, or is not a seal."""


class Vault:
    """Seals tokens, and opens what it has sealed. The user is part of the seal: tokens cannot change hands."""

    def __init__(self, key: bytes, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._key = key
        self._random_bytes = random_bytes

    @cached_property
    def _cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - it takes nine megabytes

        return AESGCM(self._key)

    def seal(self, tokens: Tokens, user_id: str) -> bytes:
        """What may be stored of a user's tokens."""
        nonce = self._random_bytes(_NONCE)
        plain = msgspec.json.encode((tokens.access_token, tokens.refresh_token, tokens.expires_at))
        return nonce + self._cipher.encrypt(nonce, plain, user_id.encode())

    def open(self, sealed: bytes, user_id: str) -> Tokens:
        """The user's tokens.

        Raises:
            SealBroken: they cannot be opened with this key for this user.
        """
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as in _cipher

        if len(sealed) < _NONCE + _TAG:  # the cipher has other errors for what is too short
            raise SealBroken(f"What is stored as the Strava tokens of {user_id} is not a seal.")
        try:
            plain = self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], user_id.encode())
        except InvalidTag as error:
            raise SealBroken(f"The Strava tokens of {user_id} were sealed with another key.") from error
        return Tokens(*msgspec.json.decode(plain, type=tuple[str, str, int]))
