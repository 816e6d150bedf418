"""Tokens whose signature was verified already: to verify it again for every request costs more than most requests do.

What can change is looked at each time: whether the token has expired, and whether it was revoked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MAX_TOKENS: Final = 4_096
MAX_LENGTH: Final = 2_048
"""Longer tokens are verified each time, so that nobody fills the memory with them."""


class VerifiedTokens:
    """What tokens say that were verified with the same keys. Safe for any number of threads."""

    def __init__(self, max_tokens: int = MAX_TOKENS) -> None:
        self._max_tokens = max_tokens
        self._known: tuple[object, dict[str, Mapping[str, Any]]] = (None, {})

    def claims(self, token: str, keys: object) -> Mapping[str, Any] | None:
        """What a token says, if it was verified with these very keys; None where it must be verified."""
        verified_with, claims = self._known
        return claims.get(token) if verified_with is keys else None

    def remember(self, token: str, keys: object, claims: Mapping[str, Any]) -> None:
        """Remember a token that was verified. Tokens of other keys are forgotten; all of them, where there are many."""
        if len(token) > MAX_LENGTH:
            return
        known = self._known
        if known[0] is not keys or len(known[1]) >= self._max_tokens:
            known = self._known = (keys, {})  # in one step: other threads see the keys and their tokens together
        known[1][token] = claims
