"""A cache of tokens whose signature was verified: verifying it for every request would cost more than most requests.

The conditions that can change are still checked each time: whether the token has expired, and whether it was revoked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MAX_TOKENS: Final = 4_096
MAX_LENGTH: Final = 2_048
"""Longer tokens are not cached, so that nobody can fill the memory with them."""


class VerifiedTokens:
    """The claims of tokens that were verified with the same keys. Thread-safe."""

    def __init__(self, max_tokens: int = MAX_TOKENS) -> None:
        self._max_tokens = max_tokens
        self._known: tuple[object, dict[str, Mapping[str, Any]]] = (None, {})

    def claims(self, token: str, keys: object) -> Mapping[str, Any] | None:
        """Return the claims of a token that was verified with this same `keys` object; None if it must be verified."""
        verified_with, claims = self._known
        return claims.get(token) if verified_with is keys else None

    def remember(self, token: str, keys: object, claims: Mapping[str, Any]) -> None:
        """Cache a verified token. The cache is emptied first if it is full or belongs to other keys."""
        if len(token) > MAX_LENGTH:
            return
        known = self._known
        if known[0] is not keys or len(known[1]) >= self._max_tokens:
            known = self._known = (keys, {})  # one assignment, atomic for other threads
        known[1][token] = claims
