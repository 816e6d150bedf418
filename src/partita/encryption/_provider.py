"""Key providers, which create data keys and unwrap those that are stored with the values they sealed."""

from __future__ import annotations

from typing import Final, Protocol

from msgspec import Struct

from partita.errors import OperationError, UnknownKey

DATA_KEY_BYTES: Final = 64
"""The size of a data key, for AES-256 in SIV mode: one half authenticates, the other encrypts."""


class DataKey(Struct, frozen=True):
    """A key that seals fields, both plain and wrapped by a key that never leaves its provider."""

    key: bytes
    wrapped: bytes
    """The wrapped key, which is stored with each value that the key sealed."""

    def __repr__(self) -> str:
        return "DataKey(…)"


class KeyProvider(Protocol):
    """Creates and unwraps data keys. Its methods may block; an async session calls them in a thread."""

    def new_key(self) -> DataKey:
        """Create a data key, wrapped by the provider's current key.

        Raises:
            StoreUnavailable: the provider cannot be reached; nothing was sealed.
        """
        ...

    def unwrap(self, wrapped: bytes) -> bytes:
        """Return the data key that `new_key` wrapped, now or long ago.

        Raises:
            UnknownKey: this provider does not have the key that wrapped it.
            StoreUnavailable: the provider cannot be reached.
        """
        ...


class KeyChain:
    """Several providers: the first creates keys, all of them unwrap. For moving from one provider to another."""

    def __init__(self, *providers: KeyProvider) -> None:
        if not providers:
            raise OperationError("A key chain needs at least one provider.")
        self._providers = providers

    def new_key(self) -> DataKey:
        """Create a data key with the first provider."""
        return self._providers[0].new_key()

    def unwrap(self, wrapped: bytes) -> bytes:
        """Return the data key, from the first provider that can unwrap it."""
        for provider in self._providers[:-1]:
            try:
                return provider.unwrap(wrapped)
            except UnknownKey:
                continue
        return self._providers[-1].unwrap(wrapped)
