"""Encryption of stored tokens with AES-GCM, bound to the user that they belong to."""

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
    """The stored value was sealed with another key or for another user, or is not a sealed value."""


class Vault:
    """Encrypts and decrypts tokens. The user is authenticated too, so tokens cannot be moved to another user."""

    def __init__(self, key: bytes, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._key = key
        self._random_bytes = random_bytes

    @cached_property
    def _cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - it needs nine megabytes

        return AESGCM(self._key)

    def seal(self, tokens: Tokens, user_id: str) -> bytes:
        """Encrypt a user's tokens for storage."""
        nonce = self._random_bytes(_NONCE)
        plain = msgspec.json.encode((tokens.access_token, tokens.refresh_token, tokens.expires_at))
        return nonce + self._cipher.encrypt(nonce, plain, user_id.encode())

    def open(self, sealed: bytes, user_id: str) -> Tokens:
        """Decrypt a user's tokens.

        Raises:
            SealBroken: they cannot be decrypted with this key for this user.
        """
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as in _cipher

        if len(sealed) < _NONCE + _TAG:  # the cipher raises another error for a value that is too short
            raise SealBroken(f"The stored Strava tokens of {user_id} are not a sealed value.")
        try:
            plain = self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], user_id.encode())
        except InvalidTag as error:
            raise SealBroken(f"The Strava tokens of {user_id} were encrypted with another key.") from error
        return Tokens(*msgspec.json.decode(plain, type=tuple[str, str, int]))
