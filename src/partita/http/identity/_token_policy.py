"""Which tokens of an installation are valid: the keys that sign them, and the revocations."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

KEY_ID_LENGTH: Final = 16


class TokenKey(Struct, frozen=True):
    """A secret that signs tokens, and its id, which the tokens contain (`kid`)."""

    secret: bytes
    key_id: str

    @classmethod
    def of(cls, secret: bytes) -> TokenKey:
        """Return the key with an id that is derived from the secret and does not reveal it."""
        return cls(secret, hashlib.sha256(b"partita: name of a key\0" + secret).hexdigest()[:KEY_ID_LENGTH])


class TokenPolicy(Struct, frozen=True):
    """The valid keys, and the revoked tokens."""

    keys: tuple[TokenKey, ...]
    """The first key signs new tokens; tokens of the other keys are valid too."""
    revoked_tokens: frozenset[str] = frozenset()
    """The ids (`jti`) of tokens that were revoked."""
    revoked_users: Mapping[str, int] = {}
    """By user id, the second from which on tokens are valid; tokens that were issued before it are revoked."""

    def secret_of(self, key_id: str) -> bytes | None:
        """Return the secret of the key with this id; None if the key is not valid, or no longer valid."""
        return next((key.secret for key in self.keys if key.key_id == key_id), None)

    def is_revoked(self, token_id: str, user_id: str, issued_at: int) -> bool:
        """Whether a token was revoked, by its id or together with all tokens of its user."""
        return token_id in self.revoked_tokens or issued_at < self.revoked_users.get(user_id, 0)
