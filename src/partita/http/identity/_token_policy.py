"""Which tokens of an installation are valid: the keys that sign them, and what was revoked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

KEY_ID_LENGTH: Final = 16


class TokenKey(Struct, frozen=True):
    """A secret that signs tokens, and the name for it that the tokens carry (`kid`)."""

    secret: bytes
    key_id: str

    @classmethod
    def of(cls, secret: bytes) -> TokenKey:
        """The key with a name that follows from its secret, and tells nothing about it."""
        return cls(secret, hashlib.sha256(b"partita: name of a key\0" + secret).hexdigest()[:KEY_ID_LENGTH])


class TokenPolicy(Struct, frozen=True):
    """What makes a token valid."""

    keys: tuple[TokenKey, ...]
    """The first signs; tokens of the others are valid too."""
    revoked_tokens: frozenset[str] = frozenset()
    """The ids (`jti`) of tokens that were revoked."""
    revoked_users: Mapping[str, int] = {}
    """From which second on the tokens of a user are valid; those that were issued before are revoked."""

    def secret_of(self, key_id: str) -> bytes | None:
        """The secret of the key with a name; None where it is no longer valid, or never was."""
        return next((key.secret for key in self.keys if key.key_id == key_id), None)

    def is_revoked(self, token_id: str, user_id: str, issued_at: int) -> bool:
        """Whether a token was revoked, by its id or with all others of its user."""
        return token_id in self.revoked_tokens or issued_at < self.revoked_users.get(user_id, 0)
